# SPDX-License-Identifier: BSD-3-Clause
"""The host is built here; the plugin is the one of ROLLCALL_BUILD, and once more with sanitizers."""

import glob
import os
import re
import shlex
import shutil
import subprocess

import pytest

from fake import Host

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
BUILD = os.environ.get("ROLLCALL_BUILD", os.path.join(TOP, "build", "release"))
CC = shlex.split(os.environ.get("CC", "cc"))
# -isystem: Slurm's headers are not written for these warnings
SLURM = shlex.split(os.environ.get("SLURM_CPPFLAGS", ""))
# The folders of lib/ that the plugin is linked with.
ROOMS = ("base", "launcher", "resolve", "system", "effects", "roll", "rendezvous")

SANITIZE = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-g", "-O1"]


def compile_to(output, sources, *flags):
    subprocess.run([*CC, "-std=gnu11", "-D_GNU_SOURCE", "-Wall", "-Wextra", *SLURM, *flags, *sources, "-ldl",
                    "-o", output], check=True, cwd=TOP)
    return str(output)


def sources(*patterns):
    return sorted(path for pattern in patterns for path in glob.glob(os.path.join(TOP, pattern)))


@pytest.fixture(scope="session")
def lookups(tmp_path_factory):
    """Where spawn.c finds the real rollcall-exchange, and the resolver that it gets."""
    resolver = tmp_path_factory.mktemp("child") / "resolver.so"
    return {**os.environ, "FAKE_EXCHANGE": os.path.join(BUILD, "libexec", "exchange", "rollcall-exchange"),
            "FAKE_RESOLVER": compile_to(resolver, sources("tests/fake-spank/child/*.c"), "-shared", "-fPIC")}


@pytest.fixture(scope="session")
def built(tmp_path_factory, lookups):
    """The plugin as it is installed."""
    plugin = os.environ.get("ROLLCALL_PLUGIN", os.path.join(BUILD, "spank", ".libs", "rollcall.so"))
    program = tmp_path_factory.mktemp("built") / "fake-spank"
    return Host(compile_to(program, sources("tests/fake-spank/*.c"), "-rdynamic"), plugin, lookups)


@pytest.fixture(scope="session")
def sanitized(tmp_path_factory, lookups):
    """The same sources under the address and undefined behaviour sanitizers."""
    folder = tmp_path_factory.mktemp("sanitized")
    plugin = compile_to(folder / "rollcall.so",
                        sources("spank/*.c", *(f"lib/{room}/*.c" for room in ROOMS)),
                        "-shared", "-fPIC", "-fvisibility=hidden", "-Ilib", "-I.", f"-I{BUILD}/lib", *SANITIZE,
                        "-Wl,--version-script=spank/rollcall.map")
    # the tasks are forked and end without exit(): what they leave is no leak
    environment = {**lookups, "ASAN_OPTIONS": "detect_leaks=0:abort_on_error=1"}
    program = compile_to(folder / "fake-spank", sources("tests/fake-spank/*.c"), "-rdynamic", *SANITIZE)
    return Host(program, plugin, environment)


@pytest.fixture(params=["built", "sanitized"])
def host(request):
    return request.getfixturevalue(request.param)


def copy_plugin(host, tmp_path):
    """The plugin in a tree of its own."""
    plugins = tmp_path / "a" / "b" / "c"
    plugins.mkdir(parents=True)
    return shutil.copy(host.plugin, plugins / "rollcall.so")


def make_beside(plugin, tmp_path, way):
    """The folder where config.h's `way` leads from it."""
    with open(os.path.join(BUILD, "lib", "config.h"), encoding="ascii") as file:
        leads = re.search(f'{way} "(.*)"', file.read()).group(1)
    folder = os.path.normpath(plugin.parent.resolve() / leads)
    if not folder.startswith(str(tmp_path.resolve())):
        pytest.skip("configured to lie further away than this test can follow")
    os.makedirs(folder, exist_ok=True)
    return folder
