# SPDX-License-Identifier: BSD-3-Clause
"""What is measured: each part yields its rows, and what it starts runs for as long as they are measured."""
import os
import shutil
import sys
from pathlib import Path
from typing import NamedTuple

from cluster import cluster, control_group

HERE = Path(__file__).resolve().parent
TOP = HERE.parent.parent
MANY_NODES = 32
STEP = "srun {} -N2 -n4 /bin/true"
MANY_STEP = f"srun {{}} -N{MANY_NODES} --ntasks-per-node=2 /bin/true"
# a script's own arithmetic where rollcall sets nothing
FIRST_NODES, FIRST_TASKS = 16, 4
FIRST = ("export STARTED=$(date +%s%N); [ $RANK ] || export RANK=$SLURM_PROCID WORLD_SIZE=$SLURM_NTASKS MASTER_ADDR=n1 "
         "MASTER_PORT=29500; exec {} {}")
MESSAGE = "x" * 128
LOOKUP_CLIENTS = 256
# torch's own TORCH_NCCL_RANKS_PER_ROOT, and how many roots rollcall's makes of any number of ranks
RANKS_PER_ROOT, ROOTS = 128, 13
PLACES = {"outside": ("outside of tasks", "1.2", 5000), "task": ("task's first process", "2.0", 40000),
          "child": ("its children (stamped)", "2.0", 10000), "rank0": ("RANK 0's first process", None, None)}
RANK0 = {"SLURM_PROCID": "0", "SLURM_LOCALID": "0", "SLURM_NODEID": "0", "SLURM_GTIDS": "0,1,2,3",
         "SLURMD_NODENAME": "gpu1"}
# nodes that are called by their addresses need no resolver, and are looked up alike on every machine
TASK = ("env -i SLURM_JOB_ID=42 SLURM_STEP_ID=7 SLURM_STEP_NUM_TASKS=4 SLURM_NTASKS=4 SLURM_STEP_NUM_NODES=2 "
        "SLURM_NNODES=2 'SLURM_STEP_TASKS_PER_NODE=2(x2)' SLURM_PROCID=3 'SLURM_STEP_NODELIST=192.0.2.[1-2]' "
        "SLURM_DISTRIBUTION=block SLURM_LOCALID=1 SLURM_NODEID=1 SLURM_GTIDS=2,3 SLURM_CPUS_ON_NODE=8192")
BARE_SESSION = """#include <pmix.h>
int main(void)
{
    pmix_proc_t self;

    return PMIx_Init(&self, 0, 0) != PMIX_SUCCESS || PMIx_Finalize(0, 0) != PMIX_SUCCESS;
}
"""
# the watch's part alone: what torch does between the two is the same without it
WATCHED_CALL = """import rollcall_watch, socket, threading, time
server = rollcall_watch.Server({"task": 0, "tasks": 1000, "arrivals": 1})
start = time.perf_counter()
server.enter()
assert server.told
print((time.perf_counter() - start) * 1e6)"""


class Row(NamedTuple):
    what: str
    base: object  # commands: a text as for a shell, or a list of words
    command: object
    goal: str  # "<= 1.1 x" the baseline, "<= + 5 ms" more than it, "<= 50 ms" at all; without a unit: a count
    clock: str = "prints"  # see pairs.py
    rounds: int = 1
    where: object = ""  # a command that runs the pairs somewhere
    per: int = 1  # nodes that share what was measured


def srun(at):
    """whole steps on two nodes of a real Slurm, over srun and over PMIx"""
    with cluster(at.prefix, at.folder, 2, "--mpi", "pmix") as login:
        seen = at.output([*login, *"srun --ddp -N2 -n4 printenv RANK".split()]).split()
        if sorted(seen) != ["0", "1", "2", "3"]:
            raise OSError(f"srun --ddp gives the ranks {seen}")
        for base, keys, goal in (("", "--ddp=exchange=off", "<= 1.02 x"), ("", "--ddp=exchange=srun", "<= 1.1 x"),
                                 ("", "--ddp=exchange=pmix", "<= 1.1 x"), ("", "--ddp", "<= 1.2 x"),
                                 ("--ddp=bind=off", "--ddp", "reported")):
            yield Row(f"srun {keys} to {base or 'without'}: a step, 2 nodes, 4 tasks", STEP.format(base),
                      STEP.format(keys), goal, "wall", 61, login)
        source = at.write("bare.c", BARE_SESSION)
        bare = at.compiled("bare", source, *at.output(["pkg-config", "--cflags", "--libs", "pmix"]).split())
        helper = at.installed("libexec/rollcall/rollcall-pmix")
        yield Row("a session of rollcall-pmix that puts a meeting point, to PMIx_Init and PMIx_Finalize",
                  f"sh -c 'echo {MESSAGE} | {bare}'", f"sh -c 'echo {MESSAGE} | {helper} put'", "<= 1.15 x",
                  "wall", 101, [*login, *"env PMIX_MCA_gds=hash srun -N1 -n1 --mpi=pmix".split()])


def srun_processor(at):
    """what a step takes of the processor on 32 nodes together: of a busy machine the wall says little"""
    with control_group() as (folder, usage), \
            cluster(at.prefix, at.folder, MANY_NODES, "--cpus", "2", group=folder) as login:
        for keys, what in (("--ddp=bind=off,same=off", "the nodes meet"),
                           ("--ddp=bind=off", "and say what they have"),
                           ("--ddp=same=off", "they meet, and bind"), ("--ddp", "all of it")):
            yield Row(f"srun {keys}: processor a node of {MANY_NODES}, 2 tasks each ({what})", MANY_STEP.format(""),
                      MANY_STEP.format(keys), "<= 1.1 x", str(usage), 15, login, MANY_NODES)


def first(at):
    """from srun to the end of the first all_reduce (gloo), and what each part took of it"""
    def step(options):
        task = FIRST.format(at.python, HERE / "first.py")
        return ["sh", "-c", f"OMP_NUM_THREADS=1 BEGUN=$(date +%s%N) exec srun {options} -N{FIRST_NODES} "
                f"--ntasks-per-node={FIRST_TASKS} sh -c '{task}'"]

    with cluster(at.prefix, at.folder, FIRST_NODES, "--cpus", str(FIRST_TASKS)) as login:
        # two cores import torch for a minute, and what else they do shifts that more than rollcall does: plain shows it
        for options in ("", "--ddp", "--ddp=lookup=numeric"):
            yield Row(f"srun {options or 'plain'} to plain: the first all_reduce of {FIRST_NODES * FIRST_TASKS} ranks "
                      f"on {FIRST_NODES} nodes", step(""), step(options), "reported", rounds=1, where=login)


def preload(at):
    """the preload library in /bin/true, to an empty one: time, instructions, system calls (to none)"""
    envexec = at.compiled("envexec", TOP / "tests/preload/programs/envexec.c")
    ours = at.installed("lib/librollcall-preload.so", "shim/.libs/librollcall-preload.so")
    empty = at.compiled("libempty-preload.so", "-shared", "-fPIC", "-nostdlib", "-Wl,-z,now,-z,relro,-z,noexecstack",
                        at.write("empty.c", "static const int nothing __attribute__((used)) = 0;\n"))
    # valgrind itself is a dynamic program: it must not be the one that the shim meets first
    loader = next(word.rstrip("]") for word in at.output(["readelf", "-lW", "/bin/true"]).split() if "/ld" in word)

    def on_node(place):
        """The recorded environments are of nodes gpu1 and gpu2: a task is on the one that SLURMD_NODENAME names."""
        return ["unshare", "--map-root-user", "--uts", "sh", "-c",
                f'hostname gpu{1 if place == "rank0" else 2} && exec "$@"', "sh"]

    def entries(place):
        if place == "child":
            seen = at.output([*on_node(place), envexec, block("task", ours), "/usr/bin/env", "-0"])
            kept = [entry for entry in seen.split("\0") if entry and not entry.startswith("LD_PRELOAD=")]
            if not any(entry.startswith("ROLLCALL_SCOPE=") for entry in kept):
                raise OSError("the shim sets nothing in the recorded task")
            return kept
        # a login shell's, of which rollcall knows none
        shell = [f"{chr(ord('A') + i % 26)}_VARIABLE_{i}={'x' * 20}" for i in range(62)]
        if place == "outside":
            return shell
        # the first process of a task is the one that SLURM_TASK_PID names; a child inherits another's
        mine = {"SLURM_TASK_PID": "@pid"} | (RANK0 if place == "rank0" else {})
        found = [entry.partition("=") for entry in (HERE / "task.env").read_text().splitlines()]
        return shell[:27] + [f"{name}={mine.get(name, value)}" for name, _, value in found]

    def block(place, library=None):
        more = [f"LD_PRELOAD={library}"] if library else []
        return at.write(f"{place}.{Path(library or 'none').stem}", "".join(f"{e}\0" for e in [*entries(place), *more]))

    def instructions(place, library):
        return ["sh", "-c", '"$@" 2>&1 | sed -n "s/.*Collected : //p"', "sh", envexec, block(place),
                shutil.which("valgrind") or "valgrind", "--tool=callgrind",
                f"--callgrind-out-file={at.folder}/callgrind.out", loader, "--preload", library, "/bin/true"]

    def calls(place, library):
        """What envexec does before is not counted."""
        return ["sh", "-c", 'trace=$1; shift; strace -o "$trace" "$@" && '
                'awk \'/^execve/ { n = 0 } /^[a-z]/ { n++ } END { print n - 1 }\' "$trace"', "sh",
                at.folder / "strace.out", envexec, block(place, library), "/bin/true"]

    for place, (what, ratio, more) in PLACES.items():
        if ratio:
            yield Row(f"preload: /bin/true, {what}", [envexec, "--time", block(place, empty), "/bin/true"],
                      [envexec, "--time", block(place, ours), "/bin/true"], f"<= {ratio} x", rounds=1000,
                      where=on_node(place))
            yield Row(f"preload: instructions of /bin/true, {what}", instructions(place, empty),
                      instructions(place, ours), f"<= + {more}", where=on_node(place))
        # RANK 0 makes six more to hold the port
        yield Row(f"preload: system calls of /bin/true, {what}", calls(place, None), calls(place, ours),
                  "<= + 12" if ratio else "<= + 18", where=on_node(place))


def command(at):
    """rollcall exec of a task, and the program that binds its node's tasks"""
    execute = f"{at.installed('bin/rollcall')} exec"
    yield Row("rollcall exec to env: /bin/true, a task", f"{TASK} env /bin/true",
              f"{TASK} {execute} --ddp=exchange=off /bin/true", "reported", "wall", 300)
    yield Row("rollcall exec of a task, this machine, to bind=off", f"{TASK} {execute} --ddp=bind=off -- /bin/true",
              f"{TASK} {execute} --ddp -- /bin/true", "reported", "wall", 50)
    asked = at.write("request", "tasks=8\ngpus=0,1,2,3,4,5,6,7\n")
    yield Row("rollcall-map to a shell: 8 tasks on 2 x 128 cores, 8 GPUs", "sh -c :",
              f"sh -c '{at.installed('libexec/rollcall/rollcall-map')} pins {at.machine('bench')} < {asked}'",
              "<= + 50 ms", "wall", 20)
    yield Row("rollcall-exchange inventory to true: what this machine has", "true",
              f"{at.installed('libexec/rollcall/rollcall-exchange')} inventory", "reported", "wall", 50)


def scale(at):
    """processor of srun's server for a node, by nodes of 8 ranks: real messages, on loopback"""
    program = at.program("server", TOP / "libexec/exchange/verdict.c")
    for kind, what in (("roll", ""), ("alike", ", each says what it has")):
        for nodes in (1250, 12500):
            yield Row(f"server: processor a node, {nodes} nodes to 125, their roll called and checked{what}",
                      f"{program} {kind} 125", f"{program} {kind} {nodes}", "<= 2 x", rounds=9)
    for kind, what in (("alike", "all alike"), ("different", "no two alike")):
        yield Row(f"server: processor a node of 16384 with what they have, {what}, to without",
                  f"{program} roll 16384", f"{program} {kind} 16384", "<= + 61 us", rounds=3)
    yield Row("server: processor a node of 16384, to that of torch's TCPStore a rank of 64", at.store("processor 64"),
              f"{program} roll 16384", "<= 1 x", rounds=3, where=at.name_server("none"))


def lookups(at):
    """torch's store where each client is looked up backwards, and with lookup=numeric, to a machine that asks nobody"""
    library = at.installed("lib/librollcall-lookup.so", "shim/.libs/librollcall-lookup.so")
    for back_end, option in (("libuv", ""), ("legacy", "--legacy ")):
        for delay in (1, 20):
            what = f"store ({back_end}): {LOOKUP_CLIENTS} clients, name server {delay} ms"
            base = f"{at.name_server('none')} {at.store(f'{option}9 {LOOKUP_CLIENTS}')}"
            slow = at.name_server(delay)
            yield Row(f"{what}, plain", base, f"{slow} {at.store(f'{option}3 {LOOKUP_CLIENTS}')}", "reported")
            yield Row(f"{what}, lookup=numeric", base,
                      f"{slow} env LD_PRELOAD={library} {at.store(f'{option}9 {LOOKUP_CLIENTS}')}", "<= 1.2 x",
                      rounds=3)


def ids(at):
    """torch's store where every rank gets the NCCL ids of 128 ranks each, and of rollcall's 13 roots"""
    for ranks, goal in ((4096, "reported"), (16000, "reported"), (32000, "<= 2 s"), (100000, "<= 6 s")):
        base, measured = (at.store(f"ids {LOOKUP_CLIENTS} {ranks} {number}")
                          for number in (-(-ranks // RANKS_PER_ROOT), ROOTS))
        yield Row(f"store: processor for the NCCL ids of {ranks} ranks", base, measured, goal, rounds=3,
                  where=at.name_server("none"))


def watch(at):
    """what watch=SECONDS costs a process: its import of torch, and how long init_process_group is held up"""
    bare = f"env -i PATH={os.environ['PATH']}"
    watched = (f"{bare} PYTHONPATH={at.installed('share/rollcall/watch')} SLURM_LAUNCH_NODE_IPADDR=127.0.0.1 "
               "'ROLLCALL_IDENTITY=rank=0 size=1000 node=0 nodes=2 task=0 tasks=1000 arrivals=1'")
    yield Row("watch: processor of an import of torch, to without", f"{bare} {at.python} -c 'import torch'",
              f"{watched} {at.python} -c 'import torch'", "<= 1.02 x", "own", 9)
    code = at.write("call.py", WATCHED_CALL)
    yield Row("watch: init_process_group is held up", "echo 0",
              ["sh", "-c", f'exec {watched} SLURM_ROLLCALL_SERVER="$SLURM_ROLLCALL_SERVER" {at.python} {code}'],
              "<= + 5 ms", rounds=15,
              where=[sys.executable, HERE / "server.py", at.installed("libexec/rollcall/rollcall-exchange")])


PARTS = (srun, srun_processor, first, preload, command, scale, lookups, ids, watch)
