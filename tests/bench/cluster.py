# SPDX-License-Identifier: BSD-3-Clause
"""A Slurm of virtual nodes for the benches, with this rollcall's plugin, and what its processes use."""
import contextlib
import os
import subprocess
import time
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent.parent
# where control groups of each version are, and which file of one counts its processor
GROUPS = ((Path("/sys/fs/cgroup/cpuacct"), "cpuacct.usage"), (Path("/sys/fs/cgroup"), "cpu.stat"))


@contextlib.contextmanager
def cluster(prefix, folder, nodes, *options, group=None):
    """The words before a command that runs it on the login node; all that is started there is in `group`. Neither the
    prefix nor the folder may be below /tmp, of which each node has its own."""
    plugin = next(iter(prefix.glob("lib*/slurm/rollcall.so")), None)
    if not plugin:
        raise OSError(f"{prefix} has no plugin")
    (folder / "plugstack.conf").write_text(f"required {plugin}\n")
    enter = ["sh", "-c", f'echo $$ > "{group}/cgroup.procs" && exec "$@"', "sh"] if group else []

    def control(word, *more):
        return [*enter, str(TOP / "contrib/minicluster/minicluster"), word, "--name", f"bench{os.getpid()}", *more]

    try:
        subprocess.run(control("up", "--nodes", str(nodes), *options, "--plugstack", str(folder / "plugstack.conf")),
                       check=True, stdout=subprocess.DEVNULL)
        yield control("run", "login")
    finally:
        subprocess.run(control("down"), check=True, stdout=subprocess.DEVNULL)


@contextlib.contextmanager
def control_group():
    """Its folder, and the file in it that counts the processor of all that is started in it."""
    top, file = next(((top, file) for top, file in GROUPS if (top / file).exists()), (None, None))
    if not top:
        raise OSError("no control group counts processor time")
    folder = top / f"rollcall-bench.{os.getpid()}"
    folder.mkdir()
    try:
        yield folder, folder / file
    finally:
        for _ in range(50):  # its last processes may be about to end
            with contextlib.suppress(OSError):
                folder.rmdir()
                break
            time.sleep(0.1)
