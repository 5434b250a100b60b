# SPDX-License-Identifier: BSD-3-Clause
"""makewheel - makes rollcall's wheels with nothing but Python's own modules: the backend (PEP 517) of pyproject.toml.

    python3 makewheel.py [FOLDER]
        the module alone, FOLDER/rollcall_ddp-VERSION-py3-none-any.whl; prints its name
    python3 makewheel.py FOLDER TREE PLATFORM
        with all that `make install` has put into TREE, the files of that platform (manylinux2014_x86_64)

The same bytes wherever it is made of the same files. pip puts TREE's files below the folder of the environment: bin,
lib, libexec, include and share lie there as `make install` lays them, so that each finds the others. A wheel has
no links: librollcall.so is a line for the linker that names librollcall.so.0.
"""

import base64
import hashlib
import os
import re
import sys
import zipfile
from typing import Any, Dict, List, NamedTuple, Optional

HERE = os.path.dirname(os.path.abspath(__file__))

# On PyPI the name rollcall belongs to somebody else.
NAME = "rollcall-ddp"
FILE_NAME = NAME.replace("-", "_")

METADATA = """\
Metadata-Version: 2.1
Name: {name}
Version: {version}
Summary: One consistent rank, world size and master address for every process of a distributed PyTorch job
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
Root-Is-Purelib: {pure}
{tags}"""

WITH_COMMAND = """\
rollcall gives every process of a distributed PyTorch job one consistent RANK, WORLD_SIZE, LOCAL_RANK, MASTER_ADDR and
MASTER_PORT, under srun, mpirun, torchrun and others, without root and without a change to the script:

    pip install rollcall_ddp-*_$(uname -m).whl
    srun -K rollcall exec -- python train.py
    mpirun -np 8 rollcall exec -- python train.py
    rollcall doctor train.py

This wheel has the command rollcall with its manual pages, the libraries for LD_PRELOAD
(lib/librollcall-preload.so in the environment's folder), librollcall for C and C++ (include, lib, lib/pkgconfig), and
the Python module rollcall. It runs on Linux with glibc 2.17 or later.

It does not have `rollcall map`, binding to cores (bind=), asking a launcher's PMIx server (uneven jobs of Open MPI 5,
prterun) and the Slurm plugin (srun --ddp): a build from the source has those.

The Python module:

"""

# From the module's folder, lib*/python3.N/site-packages/rollcall, to the library, in each of pip's layouts.
LIBRARY_FROM_MODULE = "../../../../lib"
# What TREE has that is no use in an environment, or is there in another form.
LEFT_OUT = re.compile(r"share/(doc|man/man8|rollcall/python)/|lib/librollcall\.so(\.0)?$|.*/__pycache__/")


class _File(NamedTuple):
    name: str
    content: bytes
    mode: int = 0o644


def _read(*path: str) -> bytes:
    with open(os.path.join(HERE, *path), "rb") as file:
        return file.read()


def _version() -> str:
    return _read("VERSION").decode().strip()


def _tag(platform: Optional[str]) -> str:
    """The wheel's tag, py3-none-any without a platform. An older pip knows manylinux2014 by that name alone."""
    if platform is None:
        return "py3-none-any"
    return f"py3-none-{platform.replace('manylinux2014', 'manylinux_2_17')}.{platform}"


def _info(version: str, tag: str) -> List[_File]:
    folder = f"{FILE_NAME}-{version}.dist-info"
    # the module's own head, as plain text
    description = _read("rollcall", "__init__.py").decode().split('"""')[1].lstrip()
    pure = tag.endswith("-any")
    if not pure:
        description = WITH_COMMAND + description
    tags = "".join(f"Tag: py3-none-{one}\n" for one in tag[len("py3-none-") :].split("."))
    # pip before 21.3 builds in a copy of this folder alone
    has_license = os.path.exists(os.path.join(HERE, os.pardir, "LICENSE"))
    license_file = [_File(f"{folder}/LICENSE", _read(os.pardir, "LICENSE"))] if has_license else []
    return license_file + [
        _File(f"{folder}/METADATA", METADATA.format(name=NAME, version=version, description=description).encode()),
        _File(f"{folder}/WHEEL", WHEEL.format(pure=str(pure).lower(), tags=tags).encode()),
    ]


def _module() -> List[_File]:
    names = sorted(name for name in os.listdir(os.path.join(HERE, "rollcall")) if name.endswith((".py", ".typed")))
    version = _version().encode()
    return [_File(f"rollcall/{name}", _read("rollcall", name).replace(b"@VERSION@", version)) for name in names]


def _module_beside_library() -> List[_File]:
    way = LIBRARY_FROM_MODULE.encode()
    return [one._replace(content=one.content.replace(b"@library_from_python@", way)) for one in _module()]


def _in_environment(name: str, content: bytes, mode: int) -> _File:
    """A file of TREE, as it is in the wheel."""
    if name.startswith("lib/librollcall.so."):
        name = "lib/librollcall.so.0"
    folder = "scripts" if name.startswith("bin/") else f"data/{os.path.dirname(name)}"
    return _File(f"{folder}/{os.path.basename(name)}", content, mode)


def _installed(tree: str, version: str) -> List[_File]:
    """What TREE has, in the folders from which pip puts it into bin and into the environment's own folder."""
    found = [_File("data/lib/librollcall.so", b"INPUT(librollcall.so.0)\n")]
    for folder, _, names in os.walk(tree):
        for path in (os.path.join(folder, name) for name in names):
            name = os.path.relpath(path, tree)
            if not LEFT_OUT.match(name):
                with open(path, "rb") as file:
                    mode = 0o755 if os.fstat(file.fileno()).st_mode & 0o100 else 0o644
                    found.append(_in_environment(name, file.read(), mode))
    return sorted(one._replace(name=f"{FILE_NAME}-{version}.data/{one.name}") for one in found)


def _digest(content: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()


def _write(path: str, files: List[_File]) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        for one in files:
            entry = zipfile.ZipInfo(one.name, (1980, 1, 1, 0, 0, 0))
            entry.external_attr = (0o100000 | one.mode) << 16
            entry.create_system = 3
            archive.writestr(entry, one.content, zipfile.ZIP_DEFLATED)


def make(folder: str, tree: Optional[str] = None, platform: Optional[str] = None) -> str:
    """Makes a wheel in that folder and returns its file name: of the module alone, or of TREE's files as well."""
    version = _version()
    tag = _tag(platform)
    files = _module() if tree is None else _module_beside_library() + _installed(tree, version)
    files += _info(version, tag)
    record = f"{FILE_NAME}-{version}.dist-info/RECORD"
    rows = [f"{one.name},sha256={_digest(one.content)},{len(one.content)}\n" for one in files] + [f"{record},,\n"]
    target = f"{FILE_NAME}-{version}-{tag}.whl"
    _write(os.path.join(folder, target), files + [_File(record, "".join(rows).encode())])
    return target


def build_wheel(
    wheel_directory: str,
    config_settings: Optional[Dict[str, Any]] = None,
    metadata_directory: Optional[str] = None,
) -> str:
    """What pip calls: the module alone."""
    return make(wheel_directory)


if __name__ == "__main__":
    if len(sys.argv) not in (1, 2, 4) or sys.argv[1:2] == ["--help"]:
        sys.exit(__doc__)
    print(make(*(sys.argv[1:] or ["."])))
