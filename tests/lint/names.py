# SPDX-License-Identifier: BSD-3-Clause
"""names.py TOP DOCUMENT FILE... - whether what a document calls by name exists: files, functions, types, variables.

A name is what is between backticks: `lib/base` or `plan.c` must be a file or a folder, `rc_resolve` or
`struct rc_facts` a word of some source, `tests/run --list` a file with arguments. NAME and other words in capitals
without an underscore stand for something that the reader puts there. Prints one line for each name that is not there.
"""
import os
import re
import sys


def main(top, document, names):
    with open(f"{top}/{document}", encoding="utf-8") as file:
        text = re.sub(r"^```.*?^```", "", file.read(), flags=re.S | re.M)
    known, paths = set(), set()
    for name in names:
        paths.add(name)
        while name:
            name = os.path.dirname(name)
            paths.add(name)
    bases = {os.path.basename(path) for path in paths}
    for name in names:
        if re.search(r"\.(c|h|def|py|am|m4|bash|bats|map)$|tests/run$|configure.ac$", name) and name != document:
            with open(f"{top}/{name}", encoding="utf-8") as file:
                known.update(re.findall(r"[A-Za-z_][A-Za-z0-9_]*", file.read()))
    for quoted in sorted(set(re.findall(r"`([^`\n]+)`", text))):
        word = quoted.removeprefix("struct ").removeprefix("enum ").split()[0].removeprefix("./").rstrip("/")
        if re.search(r"\bNAME\b|^-|^\.[a-z]+$|[*=<>']|^#", quoted) or "NAME" in word:
            continue
        if "/" in word or re.search(r"\.[a-z]{1,4}$", word):
            if word not in paths and word not in bases:
                print(f"{document}: there is no file {word}")
        elif re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*(\(\))?", word) and word.removesuffix("()") not in known | paths:
            print(f"{document}: nothing is called {word}")


main(sys.argv[1], sys.argv[2], sys.argv[3:])
