"""The host is built here; the plugin is the one of ROLLCALL_BUILD, and once more with sanitizers."""

import glob
import os
import shlex
import subprocess

import pytest

from fake import Host

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
BUILD = os.environ.get("ROLLCALL_BUILD", os.path.join(TOP, "build", "release"))
CC = shlex.split(os.environ.get("CC", "cc"))
# -isystem: Slurm's headers are not written for these warnings
SLURM = shlex.split(os.environ.get("SLURM_CPPFLAGS", ""))
SANITIZE = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-g", "-O1"]


def compile_to(output, sources, *flags):
    subprocess.run([*CC, "-std=gnu11", "-D_GNU_SOURCE", "-Wall", "-Wextra", *SLURM, *flags, *sources, "-ldl",
                    "-o", output], check=True, cwd=TOP)
    return str(output)


def sources(*patterns):
    return sorted(path for pattern in patterns for path in glob.glob(os.path.join(TOP, pattern))
                  if not path.endswith("lib/rollcall.c"))


@pytest.fixture(scope="session")
def built(tmp_path_factory):
    """The plugin as it is installed."""
    plugin = os.environ.get("ROLLCALL_PLUGIN", os.path.join(BUILD, "spank", ".libs", "rollcall.so"))
    program = tmp_path_factory.mktemp("built") / "fake-spank"
    return Host(compile_to(program, sources("tests/fake-spank/*.c"), "-rdynamic"), plugin)


@pytest.fixture(scope="session")
def sanitized(tmp_path_factory):
    """The same sources under the address and undefined behaviour sanitizers."""
    folder = tmp_path_factory.mktemp("sanitized")
    plugin = compile_to(folder / "rollcall.so",
                        sources("spank/*.c", "lib/*.c", "lib/launcher/*.c", "lib/exchange/*.c",
                                "lib/system/*.c"),
                        "-shared", "-fPIC", "-fvisibility=hidden", "-Ilib", "-I.", f"-I{BUILD}/lib", *SANITIZE,
                        "-Wl,--version-script=spank/rollcall.map")
    # the tasks are forked and end without exit(): what they leave is no leak
    environment = {**os.environ, "ASAN_OPTIONS": "detect_leaks=0:abort_on_error=1"}
    program = compile_to(folder / "fake-spank", sources("tests/fake-spank/*.c"), "-rdynamic", *SANITIZE)
    return Host(program, plugin, environment)


@pytest.fixture(params=["built", "sanitized"])
def host(request):
    return request.getfixturevalue(request.param)
