# SPDX-License-Identifier: BSD-3-Clause
"""What watch=SECONDS costs a process: its import of torch, and how long its init_process_group is held up."""
import os
import statistics
import subprocess
import sys
from pathlib import Path

from tools import Missing, need, output_of

HERE = Path(__file__).resolve().parent
TOKEN = "0123456789abcdef" * 2
IMPORTS = 9
CALLS = 15
IDENTITY = {"ROLLCALL_IDENTITY": "rank=0 size=1000 node=0 nodes=2 task=0 tasks=1000",
            "SLURM_LAUNCH_NODE_IPADDR": "127.0.0.1"}
IMPORT = "import torch, time; print(time.process_time())"
# the watch's part alone: what torch does between the two is the same without it
CALL = """import rollcall_watch, socket, threading, time
server = rollcall_watch.Server({"task": 0, "tasks": 1000})
start = time.perf_counter()
leave = server.enter()
leave()
print(time.perf_counter() - start)"""


class Watch:
    def watch(self):
        if not self.prefix:
            raise Missing("set ROLLCALL_PREFIX to an installed tree")
        self.watch_import()
        self.watch_calls()

    def watched(self, code, told):
        python = need(os.environ.get("PYTHON", "python3"))
        return float(output_of([python, "-c", code], env={"PATH": os.environ["PATH"], **told}))

    def watch_import(self):
        """Processor time: the wall's depends on who else is there."""
        told = {"PYTHONPATH": str(self.prefix / "share/rollcall/watch"), **IDENTITY}
        pairs = [(self.watched(IMPORT, {}), self.watched(IMPORT, told)) for _ in range(IMPORTS)]
        base, value = map(statistics.median, zip(*pairs))
        ratio = statistics.median(watched / bare for bare, watched in pairs)
        self.row("watch: processor time of an import of torch", f"{base * 1e3:.0f}", "ms (without)",
                 f"{value * 1e3:.0f}", "ms", f"{ratio:.3f} x", "<= 1.02 x", ratio <= 1.02)

    def watch_calls(self):
        exchange = self.prefix / "libexec/rollcall/rollcall-exchange"
        with subprocess.Popen([sys.executable, HERE / "server.py", exchange, TOKEN], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, text=True) as server:
            told = {"PYTHONPATH": str(self.prefix / "share/rollcall/watch"), **IDENTITY,
                    "SLURM_ROLLCALL_SERVER": f"{TOKEN} {server.stdout.readline().strip()} 42.0"}
            value = statistics.median(self.watched(CALL, told) for _ in range(CALLS))
            server.stdin.close()
        self.row("watch: init_process_group is held up", "0", "ms (without)", f"{value * 1e3:.2f}",
                 "ms for both texts", f"+ {value * 1e3:.2f} ms", "<= + 5 ms", value <= 0.005)
