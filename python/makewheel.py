# SPDX-License-Identifier: BSD-3-Clause
"""makewheel - makes rollcall's wheel with nothing but Python's own modules: the backend (PEP 517) of pyproject.toml.

    python3 makewheel.py [FOLDER]     FOLDER/rollcall-VERSION-py3-none-any.whl, and prints its name

The same bytes wherever it is made. The wheel holds the Python module alone: the C library, librollcall.so.0, comes
with rollcall itself.
"""

import base64
import hashlib
import os
import sys
import zipfile
from typing import Any, Dict, List, Optional, Tuple

HERE = os.path.dirname(os.path.abspath(__file__))

METADATA = """\
Metadata-Version: 2.1
Name: rollcall
Version: {version}
Summary: who this process is in its distributed job, and NCCL unique ids without MPI
License: BSD-3-Clause
Requires-Python: >=3.8
Classifier: License :: OSI Approved :: BSD License
Classifier: Operating System :: POSIX :: Linux
Classifier: Programming Language :: Python :: 3
Classifier: Typing :: Typed

{description}"""

WHEEL = """\
Wheel-Version: 1.0
Generator: rollcall
Root-Is-Purelib: true
Tag: py3-none-any
"""


def _read(*path: str) -> bytes:
    with open(os.path.join(HERE, *path), "rb") as file:
        return file.read()


def _version() -> str:
    return _read(os.pardir, "VERSION").decode().strip()


def _info(version: str) -> List[Tuple[str, bytes]]:
    folder = f"rollcall-{version}.dist-info"
    # the module's own head, as plain text
    description = _read("rollcall", "__init__.py").decode().split('"""')[1].lstrip()
    return [
        (f"{folder}/LICENSE", _read(os.pardir, "LICENSE")),
        (f"{folder}/METADATA", METADATA.format(version=version, description=description).encode()),
        (f"{folder}/WHEEL", WHEEL.encode()),
    ]


def _module() -> List[Tuple[str, bytes]]:
    names = sorted(name for name in os.listdir(os.path.join(HERE, "rollcall")) if name.endswith((".py", ".typed")))
    return [(f"rollcall/{name}", _read("rollcall", name)) for name in names]


def _digest(content: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()


def build_wheel(
    wheel_directory: str,
    config_settings: Optional[Dict[str, Any]] = None,
    metadata_directory: Optional[str] = None,
) -> str:
    """Makes the wheel in that folder and returns its file name."""
    version = _version()
    files = _module() + _info(version)
    record = f"rollcall-{version}.dist-info/RECORD"
    rows = [f"{name},sha256={_digest(content)},{len(content)}\n" for name, content in files] + [f"{record},,\n"]
    files.append((record, "".join(rows).encode()))
    target = f"rollcall-{version}-py3-none-any.whl"
    with zipfile.ZipFile(os.path.join(wheel_directory, target), "w") as archive:
        for name, content in files:
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.external_attr = 0o100644 << 16
            entry.create_system = 3
            archive.writestr(entry, content, zipfile.ZIP_DEFLATED)
    return target


if __name__ == "__main__":
    if len(sys.argv) > 2 or sys.argv[1:2] == ["--help"]:
        sys.exit(__doc__)
    print(build_wheel(sys.argv[1] if len(sys.argv) == 2 else "."))
