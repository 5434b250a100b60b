# SPDX-License-Identifier: BSD-3-Clause
"""A Slurm of virtual nodes for the benches, with this rollcall's plugin, and what its processes use."""
import contextlib
import os
import shutil
import tempfile
import time
from pathlib import Path

from tools import Missing, output_of

HERE = Path(__file__).resolve().parent
TOP = HERE.parent.parent
# where control groups of each version are, and which file of one counts its processor
GROUPS = ((Path("/sys/fs/cgroup/cpuacct"), "cpuacct.usage"), (Path("/sys/fs/cgroup"), "cpu.stat"))


class Cluster:
    def __init__(self, name, shared, before=()):
        self.name, self.shared, self.before = name, shared, before

    def control(self, *words):
        return output_of([*self.before, TOP / "contrib/minicluster/minicluster", words[0], "--name", self.name,
                          *words[1:]])

    def login(self, *command):
        return self.control("run", "login", *command)


@contextlib.contextmanager
def cluster(prefix, nodes, *options, group=None):
    """A cluster whose nodes have the plugin; all that is started in it is in `group`."""
    if not prefix:
        raise Missing("ROLLCALL_PREFIX is not set: the plugin must be installed")
    plugin = next(iter(prefix.glob("lib*/slurm/rollcall.so")), None)
    if not plugin:
        raise Missing(f"{prefix} has no plugin")
    enter = ["sh", "-c", f'echo $$ > "{group}/cgroup.procs" && exec "$@"', "sh"] if group else []
    shared = Path(tempfile.mkdtemp(prefix="rollcall-bench.", dir="/var/tmp"))
    made = Cluster(f"bench{os.getpid()}", shared, enter)
    try:
        shutil.copy(HERE / "pairs.py", shared)
        shutil.copytree(prefix, shared / "prefix", symlinks=True)
        (shared / "plugstack.conf").write_text(f"required {shared}/prefix/{plugin.relative_to(prefix)}\n")
        made.control("up", "--nodes", nodes, *options, "--plugstack", shared / "plugstack.conf")
        try:
            yield made
        finally:
            made.control("down")
    finally:
        shutil.rmtree(shared)


@contextlib.contextmanager
def group():
    """A control group: its folder, and the file in it that counts the processor of all that is started in it."""
    for top, file in GROUPS:
        folder = top / f"rollcall-bench.{os.getpid()}"
        if not (top / file).exists():
            continue
        try:
            folder.mkdir()
        except OSError as error:
            raise Missing(f"no control group: {error}") from error
        try:
            yield folder, folder / file
        finally:
            remove(folder)
        return
    raise Missing("no control group counts processor time")


def remove(folder):
    """Its last processes may be about to end."""
    for _ in range(50):
        try:
            folder.rmdir()
            return
        except OSError:
            time.sleep(0.1)
