# SPDX-License-Identifier: BSD-3-Clause
"""What the exchange between nodes costs: steps of a real Slurm, sessions with its PMIx server, the server alone."""
import math
import os
import subprocess
from pathlib import Path

from cluster import cluster, group
from tools import Missing, need, output_of, without_lookups

HERE = Path(__file__).resolve().parent
TOP = HERE.parent.parent
SRUN_ROUNDS = 61
SRUN_WAYS = {"off": 1.02, "srun": 1.1, "pmix": 1.1}
MANY_NODES = 32
MANY_ROUNDS = 15
MANY_WAYS = {"--ddp=bind=none,same=off": "the nodes meet", "--ddp=bind=none": "and say what they have",
             "--ddp=same=off": "they meet, and bind", "--ddp": "all of it"}
SESSION_ROUNDS = 101
MEETING_ROUNDS = 31
MEETINGS = [4, 16, 64]
SCALE_ROUNDS = 9
INVENTORY_ROUNDS = 200
COMPARISON_ROUNDS = 9
COMPARISON_NODES = 16384
SCALE_RANKS = [1000, 10000, 100000]
TASKS_A_NODE = 8
STORE_RANKS = 64
SERVICE_RANKS = 16384
SERVICE_DESCRIPTORS = 4096  # a usual hard limit of login hosts
SERVICES = {"id": "an NCCL id", "broadcast": "a broadcast", "watch": "watch=SECONDS"}
BARE_SESSION = """#include <pmix.h>
int main(void)
{
    pmix_proc_t self;

    return PMIx_Init(&self, 0, 0) != PMIX_SUCCESS || PMIx_Finalize(0, 0) != PMIX_SUCCESS;
}
"""


def exponent(counts, times):
    """By which power of the count the time grows, from the first to the last."""
    return math.log(times[-1] / times[0]) / math.log(counts[-1] / counts[0])


class Exchange:
    def srun_time(self):
        with cluster(self.prefix, 2, "--mpi", "pmix") as made:
            self.steps(made.login, ["python3", made.shared / "pairs.py", SRUN_ROUNDS])
            self.sessions(made.login, made.shared)

    def srun_processor(self):
        """What a step takes of the processor on all nodes together: of a busy machine the wall says little."""
        with group() as (folder, usage), cluster(self.prefix, MANY_NODES, "--cpus", "2", group=folder) as made:
            in_turns = ["python3", made.shared / "pairs.py", "--processor", usage, MANY_ROUNDS]
            step = [f"-N{MANY_NODES}", "--ntasks-per-node=2", "/bin/true"]
            for keys, what in MANY_WAYS.items():
                base, value, ratio = made.login(*in_turns, "srun", *step, "--", "srun", keys, *step).split()
                self.row(f"srun {keys}: processor of a step, {MANY_NODES} nodes, 2 tasks each ({what})",
                         f"{float(base) * 1e3:.0f}", "ms (srun)", f"{float(value) * 1e3:.0f}",
                         f"ms, {(float(value) - float(base)) * 1e3 / MANY_NODES:.1f} more a node",
                         f"{float(ratio):.3f} x", "<= 1.1 x", float(ratio) <= 1.1)

    def steps(self, login, in_turns):
        """Whole steps, the one over srun and the one over PMIx beside the same step without."""
        step = ["-N2", "-n4", "/bin/true"]
        seen = login("srun", "--ddp", "-N2", "-n4", "printenv", "RANK")
        if sorted(seen.split()) != ["0", "1", "2", "3"]:
            raise Missing(f"srun --ddp gives the ranks {seen.split()}")
        for way, goal in SRUN_WAYS.items():
            base, value, ratio = login(*in_turns, "srun", *step, "--", "srun", f"--ddp=exchange={way}", *step).split()
            self.row(f"srun --ddp=exchange={way}: wall time of a step, 2 nodes, 4 tasks", f"{float(base) * 1e3:.0f}",
                     "ms (srun --mpi=pmix)", f"{float(value) * 1e3:.0f}", "ms", f"{float(ratio):.3f} x",
                     f"<= {goal} x", float(ratio) <= goal)
        base, value, ratio = login(*in_turns, "srun", "--ddp=bind=none", *step, "--", "srun", "--ddp", *step).split()
        self.row("srun --ddp=bind=auto: wall time of that step", f"{float(base) * 1e3:.0f}", "ms (bind=none)",
                 f"{float(value) * 1e3:.0f}", "ms", f"{float(ratio):.3f} x", "reported", None)

    def sessions(self, login, shared):
        """rollcall-pmix, and a program that was linked with libpmix and does nothing but begin and end a session."""
        source = shared / "bare.c"
        source.write_text(BARE_SESSION)
        flags = output_of([need("pkg-config"), "--cflags", "--libs", "pmix"]).split()
        output_of([need("gcc"), "-O2", "-o", shared / "bare", source, *flags])
        helper = next((shared / "prefix").glob("libexec/rollcall/rollcall-pmix"), None)
        if not helper:
            raise Missing("rollcall-pmix is not installed")
        (shared / "put").write_text(f"#!/bin/sh\necho {'x' * 128} | exec {helper} put\n")
        (shared / "bare.sh").write_text(f"#!/bin/sh\necho {'x' * 128} | exec {shared}/bare\n")
        for script in ("put", "bare.sh"):
            (shared / script).chmod(0o755)
        base, value, ratio = login("env", "PMIX_MCA_gds=hash", "srun", "-N1", "-n1", "--mpi=pmix", "python3",
                                   shared / "pairs.py", SESSION_ROUNDS, shared / "bare.sh", "--", shared / "put").split()
        self.row("a session of rollcall-pmix that puts a meeting point", f"{float(base) * 1e3:.1f}",
                 "ms (PMIx_Init, PMIx_Finalize)", f"{float(value) * 1e3:.1f}", "ms", f"{float(ratio):.3f} x", "<= 1.15 x",
                 float(ratio) <= 1.15)

    def server_program(self, name, *sources):
        """One of these programs, with the exchange as it was built."""
        libraries = [self.build / "lib/.libs" / f"librollcall-{part}.a" for part in ("rendezvous", "system", "core")]
        if not libraries[0].exists():
            raise Missing(f"{libraries[0]} is not there: make it first, and set ROLLCALL_BUILD")
        return self.built(name, "-pthread", "-I", TOP, "-I", TOP / "lib", "-I", self.build / "lib",
                          HERE / f"{name}.c", *sources, *libraries)

    def meeting(self):
        """The server alone, without Slurm: what it takes until the last of N ranks has the answer."""
        python = need(os.environ.get("PYTHON", "python3"))
        if subprocess.run([python, "-c", "import torch"], stderr=subprocess.DEVNULL).returncode:
            raise Missing(f"{python} has no torch: set PYTHON")
        meet = self.server_program("meet", TOP / "spank/node.c")
        theirs = [float(word) for word in output_of(
            without_lookups(self.folder, [python, HERE / "store.py", MEETING_ROUNDS, *MEETINGS])).split()]
        self.store_asks(python, theirs[-1])
        for tasks, what in ((1, "each on a node of its own"), (TASKS_A_NODE, f"{TASKS_A_NODE} a node")):
            ours = [float(word) for word in output_of([meet, MEETING_ROUNDS, tasks, *MEETINGS]).split()]
            for n, mine, store in zip(MEETINGS, ours, theirs):
                self.row(f"server: {n} ranks have the answer, {what}", f"{store:.0f}", "us (torch's TCPStore)",
                         f"{mine:.0f}", "us", f"{mine / store:.3f} x", "<= 1 x", mine <= store)
            growth = exponent(MEETINGS, ours)
            self.row(f"server: growth from {MEETINGS[0]} to {MEETINGS[-1]} ranks, {what}",
                     f"{exponent(MEETINGS, theirs):.2f}", "(torch's TCPStore)", f"{growth:.2f}", "",
                     f"n^{growth:.2f}", "<= n^0.5", growth <= 0.5)

    def store_asks(self, python, without):
        """What the comparisons leave out. Once: a name server that does not answer takes seconds."""
        ranks = MEETINGS[-1]
        value = float(output_of([python, HERE / "store.py", 1, ranks]))
        self.row(f"torch's TCPStore: {ranks} ranks, with this machine's reverse look-ups", f"{without:.0f}",
                 "us (without)", f"{value:.0f}", "us", f"{value / without:.1f} x", "reported", None)

    def scale(self):
        """As many nodes as there are machines of that size: real messages and a real server, on loopback. The clients
        share the machine with it, so only the server's own processor counts, which is to be the same for each node."""
        scale = self.server_program("scale", HERE / "entries.c", TOP / "libexec/exchange/verdict.c")
        for items, what in ((0, ""), (1, ", each says what it has")):
            figures = [line.split() for line in
                       output_of([scale, SCALE_ROUNDS, TASKS_A_NODE, items, *SCALE_RANKS]).splitlines()]
            first = float(figures[0][1])
            for ranks, (took, processor, size) in zip(SCALE_RANKS, figures):
                self.row(f"server: {ranks // TASKS_A_NODE} nodes ({ranks} ranks), their roll called and checked{what}",
                         f"{first:.1f}", f"us of processor a node ({SCALE_RANKS[0]} ranks)", f"{float(processor):.1f}",
                         f"us a node, entries of {size} bytes, {float(took):.0f} ms in all",
                         f"{float(processor) / first:.2f} x", "<= 2 x", float(processor) / first <= 2)

    def inventory(self):
        """What a node has, before it sends its entry."""
        program = self.server_program("inventory", TOP / "tests/unit/inventorytree.c",
                                      *sorted((TOP / "lib/inventory").glob("*.c")))
        size, taken, processor = output_of([program, INVENTORY_ROUNDS]).split()
        self.row(f"node: what it has, with 8 GPUs and 8 cards, {size} bytes", "0", "us (nothing)", taken,
                 f"us, {processor} us of processor", f"+ {int(taken) / 1e3:.1f} ms", "<= + 5 ms", int(taken) <= 5000)

    def comparison(self):
        """What the nodes have, compared at srun's server, while all of them wait for it."""
        program = self.server_program("comparison", HERE / "entries.c")
        without, *others = (float(word) for word in
                            output_of([program, COMPARISON_ROUNDS, COMPARISON_NODES, TASKS_A_NODE]).split())
        for value, what in zip(others, ("all alike", "no two alike")):
            self.row(f"server: the roll of {COMPARISON_NODES} nodes read and checked with what they have, {what}",
                     f"{without:.0f}", "ms of processor (without)", f"{value:.0f}", "ms",
                     f"+ {value - without:.0f} ms", "<= + 1 s", value - without <= 1000)

    def services(self):
        """What each rank asks srun's server while the job starts, all ranks at once, rank 0 last."""
        python = need(os.environ.get("PYTHON", "python3"))
        if subprocess.run([python, "-c", "import torch"], stderr=subprocess.DEVNULL).returncode:
            raise Missing(f"{python} has no torch: set PYTHON")
        program = self.server_program("services")
        store = float(output_of(
            without_lookups(self.folder, [python, HERE / "store.py", "processor", STORE_RANKS])))
        for limit, where in ((0, ""), (SERVICE_DESCRIPTORS, f", {SERVICE_DESCRIPTORS} descriptors")):
            for line in output_of([program, SERVICE_RANKS, limit]).splitlines():
                name, took, processor = line.split()
                self.row(f"server: {SERVICE_RANKS} ranks have {SERVICES[name]}{where}", f"{store:.0f}",
                         f"us of processor a rank (torch's TCPStore, {STORE_RANKS} ranks)", f"{float(processor):.0f}",
                         f"us a rank, {int(took) / 1e3:.1f} s in all", f"{float(processor) / store:.2f} x", "reported", None)
