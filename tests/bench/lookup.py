# SPDX-License-Identifier: BSD-3-Clause
"""What reverse look-ups cost torch's store: clients that come at once, with a name server that takes its time, with
lookup=numeric, and on a machine that asks nobody."""
import os
import subprocess
import sys
from pathlib import Path

from tools import Missing, need, output_of

HERE = Path(__file__).resolve().parent
CLIENTS = 256
BACK_ENDS = {"libuv": [], "legacy": ["--legacy"]}
DELAYS = (1, 20)  # milliseconds
FAST, SLOW = 31, 3  # rounds without and with look-ups: a round takes 40 ms, or a look-up's time for each client
GOAL = 1.2


class Lookup:
    def lookups(self):
        python = os.environ.get("PYTHON", sys.executable)
        if os.geteuid() != 0:
            raise Missing("the name server needs root, for namespaces of its own")
        if subprocess.run([python, "-c", "import torch"], stderr=subprocess.DEVNULL).returncode:
            raise Missing(f"{python} has no torch: set PYTHON")
        library = self.installed("lib/librollcall-lookup.so", "shim/.libs/librollcall-lookup.so")
        for name, option in BACK_ENDS.items():
            without = self.meeting_takes(python, "none", "", FAST, option)
            for delay in DELAYS:
                plain = self.meeting_takes(python, delay, "", SLOW, option)
                value = self.meeting_takes(python, delay, library, FAST, option)
                what = f"store ({name}): {CLIENTS} clients of torch's, name server {delay} ms"
                self.row(f"{what}, plain", f"{without:.0f}", "ms (no look-ups)", f"{plain:.0f}", "ms",
                         f"{plain / without:.1f} x", "reported", None)
                self.row(f"{what}, lookup=numeric", f"{without:.0f}", "ms (no look-ups)", f"{value:.0f}", "ms",
                         f"{value / without:.2f} x", f"<= {GOAL} x", value <= GOAL * without)

    def meeting_takes(self, python, delay, preloaded, rounds, option):
        """Milliseconds until all clients have a value, the median of some rounds."""
        on_machine = [need("unshare"), "-mn", sys.executable, HERE.parent / "nameserver.py", delay, self.folder / "asked"]
        return float(output_of([*on_machine, "env", f"LD_PRELOAD={preloaded}", python, HERE / "store.py", *option,
                                rounds, CLIENTS])) / 1e3
