# SPDX-License-Identifier: BSD-3-Clause
"""What guard=nccl costs: a process that it is loaded into, and processes that join a communicator at one server."""
import os
import re
import statistics
import subprocess
import sys
from pathlib import Path

from tools import Missing, output_of

HERE = Path(__file__).resolve().parent
PROGRAMS = HERE.parent / "preload/programs"
START_ROUNDS = 2000
PROCESSES = [2, 8, 64]
COMMUNICATORS = 8
TOKEN = "0123456789abcdef" * 2


class Guard:
    def installed(self, name, built):
        path = self.prefix / name if self.prefix else self.build / built
        if not path.exists():
            raise Missing(f"{path} is not there: make it first")
        return path

    def guard_time(self):
        guard = self.installed("lib/librollcall-nccl.so", "shim/nccl/.libs/librollcall-nccl.so")
        spawn = self.built("spawn", HERE / "spawn.c")
        base, value, ratio = output_of([spawn, START_ROUNDS, self.block("task", self.empty()), self.block("task", guard),
                                        "/bin/true"]).split()
        self.row("guard: wall time of /bin/true", f"{float(base) / 1e3:.0f}", "us (empty preload)",
                 f"{float(value) / 1e3:.0f}", "us", f"{float(ratio):.3f} x", "reported", None)

    def guard_joins(self):
        guard = self.installed("lib/librollcall-nccl.so", "shim/nccl/.libs/librollcall-nccl.so")
        exchange = self.installed("libexec/rollcall/rollcall-exchange", "libexec/exchange/rollcall-exchange")
        self.built("libnccl.so.2", "-shared", "-fPIC", "-Wl,-soname,libnccl.so.2", PROGRAMS / "fakenccl.c")
        self.built("framework.so", "-shared", "-fPIC", PROGRAMS / "framework.c", "-L", self.folder, "-l:libnccl.so.2")
        self.built("join", PROGRAMS / "join.c")
        with subprocess.Popen([sys.executable, PROGRAMS / "server.py", exchange, TOKEN], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, text=True) as server:
            server_is = f"{TOKEN} {server.stdout.readline().strip()} 1.0"
            for n in PROCESSES:
                bare = self.joins(n, {})
                value = self.joins(n, {"LD_PRELOAD": str(guard), "SLURM_LAUNCH_NODE_IPADDR": "127.0.0.1",
                                       "SLURM_ROLLCALL_SERVER": server_is})
                self.row(f"guard: {n} processes join a communicator", f"{bare:.3f}", "ms (NCCL's stand-in)",
                         f"{value:.3f}", "ms", f"+ {value - bare:.3f} ms", "reported", None)
            server.stdin.close()

    def joins(self, n, env):
        """Median time of a call. They come one by one for the first communicator, which is left out."""
        ids = [self.folder / f"id.{n}.{i}.{len(env)}" for i in range(COMMUNICATORS)]
        for name in ids:
            name.write_bytes(os.urandom(128))
        started = []
        for rank in range(n):
            words = [word for name in ids for word in ("config", str(n), str(rank), str(name))]
            told = {"LD_LIBRARY_PATH": str(self.folder), "ROLLCALL_GUARD": f"rank={rank} size={n} node=0 nodes=1 deadline=60"}
            started.append(subprocess.Popen([self.folder / "join", self.folder / "framework.so", *words],
                                            env={**told, **env}, stdout=subprocess.PIPE, text=True))
        times = []
        for process in started:
            seen = re.findall(r"^join: 0 in ([0-9.]+) ms", process.communicate()[0], re.M)
            if len(seen) != COMMUNICATORS:
                raise Missing(f"one of {n} processes joined {len(seen)} communicators of {COMMUNICATORS}")
            times += [float(text) for text in seen[1:]]
        return statistics.median(times)
