#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""symptoms.py FILE - whether what a page says that torch and Lightning print is in the torch and Lightning that are here.

Texts are the headlines of the page's sections "torch" and "Lightning", and of its harmless lines. Numbers, n1 and RANK
stand for any word. Prints those that are not found, and exits with 1.
"""

import importlib.util
import mmap
import re
import sys
from pathlib import Path


def folder_of(package):
    return Path(importlib.util.find_spec(package).origin).parent


def texts(page, section):
    inside = False
    for line in page.splitlines():
        if line.startswith("## "):
            inside = line == f"## {section}"
        elif inside and line.startswith("### "):
            yield line[4:].removesuffix(", twice")


def pattern(text):
    parts = re.split(r"-?\d+ms|-?\d+|\bn1\b|\bRANK\b|\[.*\]", text)
    return rb"[^\n]{0,60}?".join(re.escape(part).encode() for part in parts)


def python_text(folders):
    """All of their sources, with the pieces of a string as one."""
    sources = b"\n".join(file.read_bytes() for folder in folders for file in sorted(folder.rglob("*.py")))
    return re.sub(rb"\"\s*\n\s*f?\"", b"", sources)


def main():
    page = Path(sys.argv[1]).read_text(encoding="utf-8")
    torch, lightning = folder_of("torch"), folder_of("lightning")
    missing, count = [], 0
    with open(torch / "lib/libtorch_cpu.so", "rb") as file, \
            mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as library:
        of_torch = [python_text([torch / "distributed"]), library]
        of_lightning = [python_text([lightning / "fabric", lightning / "pytorch"])]
        places = {"torch": of_torch, "Lightning": of_lightning, "Lines that are often harmless": of_torch + of_lightning}
        for section, where in places.items():
            for text in texts(page, section):
                count += 1
                if not any(re.search(pattern(text), place) for place in where):
                    missing.append(f"{section}: {text}")
    print("\n".join(missing) or f"{count} texts found")
    sys.exit(1 if missing or count < 15 else 0)


if __name__ == "__main__":
    main()
