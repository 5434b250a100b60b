# SPDX-License-Identifier: BSD-3-Clause
"""The live matrix: what may happen to a launch on a real Slurm, row by row, and what must come of it.

After each row every node is idle, Slurm's daemons are the same processes, nothing of the launch is left (processes,
files, sockets, descriptors of the daemons), and a step without a fault works. Some rows by default, all with --all.
"""
import os
import shutil
import signal

import pytest

from cluster import Cluster
from scene import (BEFORE, MEETING, RUNNING, Expected, Row, Scene, at_helpers, cut_off, end_daemon, full, requeue, send,
                   server, slow, srun, stop, suspend, task, tell_slurm)

ALL = os.environ.get("ROLLCALL_ALL") == "yes"

SRUN = "srun --ddp -N3 -n3 TASK"
HASTY = "srun --ddp=deadline=3 -N3 -n3 TASK"
PMIX = "srun --ddp=exchange=pmix -N3 -n3 TASK"
EXEC = "srun -N3 -n3 rollcall exec -- TASK"
SBATCH = "#SBATCH --ddp -N3 -n3\nsrun TASK"
MPIRUN = "salloc -N3 --ntasks-per-node=1 mpirun -np 3 --map-by ppr:1:node rollcall exec -- TASK"
PRELOAD = "env LD_PRELOAD=LIBRARY srun -N3 -n3 TASK"
LAUNCHES = {"srun": SRUN, "srun over PMIx": PMIX, "rollcall exec": EXEC, "sbatch": SBATCH, "mpirun": MPIRUN,
            "the preload": PRELOAD}

WHOLE = Expected(True, 3)
ENDED = Expected(False, alone=True)
FAILED = Expected(False)


def whole(*says):
    return Expected(True, 3, says)


def refused(*says):
    return Expected(False, None, says)


def limited(limits):
    return f"srun -N3 -n3 prlimit {limits} rollcall exec -- TASK"


def as_another(launch):
    return f"setpriv --reuid=65534 --regid=65534 --clear-groups {launch}"


TERM, INT, KILL = signal.SIGTERM, signal.SIGINT, signal.SIGKILL
MOMENTS = {"before any entry": BEFORE, "while nodes meet": MEETING, "while tasks run": RUNNING}
# whom, in which launch; and for a moment what comes of TERM, INT and KILL
SIGNALS = [
    # proctrack/linuxproc sends no signal to a task before rollcall's part
    ("srun", srun, SRUN, {
        "before any entry": (Expected(alone=True), WHOLE, ENDED),
        "while nodes meet": (ENDED, WHOLE, ENDED),
        "while tasks run": (ENDED, WHOLE, ENDED)}),
    ("the server", server, SRUN, {
        "before any entry": (whole("RC611"),) * 3,
        "while nodes meet": (refused("RC613"),) * 3,
        "while tasks run": (WHOLE,) * 3}),
    ("the server over PMIx", server, PMIX, {
        "while nodes meet": (refused("RC613"),) * 3,
        "while tasks run": (WHOLE,) * 3}),
    # the others wait until the deadline
    ("the task of n1, which waits", task("n1"), HASTY, {"while nodes meet": (FAILED,) * 3}),
    ("the task of n2, which has not called", task("n2"), HASTY, {"while nodes meet": (FAILED,) * 3}),
    ("the task of n2", task("n2"), SRUN, {"while tasks run": (FAILED,) * 3}),
]
HOSTILE = {
    "ROLLCALL_SCOPE": "slurm:1.0/0/worker/29500 slurm:2.0", "ROLLCALL_SERVER": "\n", "ROLLCALL_TOKEN": "x" * 4096,
    "ROLLCALL_IDENTITY": "@", "ROLLCALL_RANK": "-1", "OF_LINES": "first\nRANK=9\nMASTER_PORT=1\n",
    "OF_BYTES": "".join(map(chr, range(1, 10))) + "\udc80\udcff" * 1000, "LARGE": "x" * 100_000, "EMPTY": "",
}
OTHERS = {"PMI_RANK": "z", "OMPI_COMM_WORLD_RANK": "q", "FLUX_TASK_RANK": "x", "PALS_RANKID": "9" * 20,
          "LSF_PM_TASKID": "", "PMIX_RANK": "\udcff\udcfe"}
CROWD = [(f"ONE_OF_MANY_{number}", str(number)) for number in range(5000)]
AT_ONCE = """#SBATCH -N3 --ntasks-per-node=12
for i in $(seq 12); do srun --overlap --ddp -N3 -n3 TASK $i & pids="$pids $!"; done
for pid in $pids; do wait $pid || exit; done"""
IN_A_ROW = """#SBATCH -N3
for i in $(seq 30); do srun --ddp -N3 -n3 TASK $i || exit; done"""
INNER = """#SBATCH -N3 --ntasks-per-node=4
srun --overlap --ddp -N3 -n3 sh -c '
    [ $SLURM_PROCID -eq 0 ] || exit 0
    srun --overlap --ddp -N3 -n3 TASK 1 & srun --overlap --ddp -N3 -n3 TASK 2 && wait $!'"""
AHEAD = 'exec unshare --time --monotonic=3600 --boottime=3600 --fork --kill-child $real "$@"'


def signals():
    for whom, find, launch, moments in SIGNALS:
        for moment, outcomes in moments.items():
            for number, expected in zip((TERM, INT, KILL), outcomes):
                yield Row(f"{number.name} to {whom} {moment}", launch, expected, MOMENTS[moment], send(number, find))
            yield Row(f"SIGSTOP to {whom} {moment}, for a second", PMIX if launch == PMIX else SRUN, WHOLE,
                      MOMENTS[moment], stop(find))


def each(what, expected, *at, but=(), **more):
    """A row for each launch."""
    for name, launch in LAUNCHES.items():
        if name not in but:
            yield Row(what.format(name), launch, expected, *at, **more)


ROWS = [
    *signals(),
    # srun's end in the other launches, and Slurm's own
    *each("SIGKILL to srun while tasks of {} run", ENDED, RUNNING, send(KILL, srun), but=["srun"]),
    *each("scancel while tasks of {} run", ENDED, RUNNING, tell_slurm("scancel", "JOB")),
    *each("scancel while nodes of {} meet", ENDED, MEETING, tell_slurm("scancel", "JOB"),
          but=["mpirun", "the preload"]),
    # the network
    Row("n3 is cut off for a second while it waits", SRUN, WHOLE, MEETING, cut_off("n3", 1)),
    # six times the deadline, and a moment
    Row("n3 is cut off for longer than it waits", HASTY, refused("RC613"), MEETING, cut_off("n3", 21), seconds=30),
    Row("n2 is cut off before it has called", HASTY, whole("RC601", "RC611", "RC621"), MEETING, cut_off("n2", 5),
        seconds=15),
    Row("n2 is cut off for two seconds while tasks run", SRUN, WHOLE, RUNNING, cut_off("n2", 2)),
    Row("n2 has a slow network", SRUN, WHOLE, around=slow, seconds=20),
    # daemons
    Row("SIGKILL to slurmd of n2 while nodes meet", SRUN, WHOLE, MEETING, end_daemon(KILL, "n2"), seconds=15),
    Row("SIGTERM to slurmd of n2 while nodes meet", SRUN, WHOLE, MEETING, end_daemon(TERM, "n2"), seconds=15),
    Row("SIGKILL to slurmd of n1 while tasks run", SBATCH, WHOLE, RUNNING, end_daemon(KILL, "n1"), seconds=15),
    Row("SIGTERM to slurmctld while nodes meet", SRUN, WHOLE, MEETING, end_daemon(TERM, "login"), seconds=15),
    # what n2 has no more of
    # slurmd's own folder is left out: Slurm drains a node where it is full
    # small ones, which is a difference
    *each("/tmp and /dev/shm of n2 are full: {}", whole("RC622"), around=full("/tmp", "/dev/shm"),
          but=["mpirun", "the preload"]),
    Row("/tmp and /dev/shm of n2 are full: the preload", PRELOAD, WHOLE, around=full("/tmp", "/dev/shm")),
    Row("14 descriptors for rollcall exec", limited("--nofile=14"), WHOLE),
    Row("14 descriptors for the preload", "srun -N3 -n3 prlimit --nofile=14 env LD_PRELOAD=LIBRARY TASK", WHOLE),
    Row("14 descriptors for helpers of n2", SRUN, whole("RC622"), around=at_helpers("ulimit -n 14", "n2")),
    Row("14 descriptors for the server", SRUN, WHOLE, around=at_helpers("ulimit -n 14", "login")),
    Row("one process for another user's rollcall exec", as_another(limited("--nproc=1")), whole("RC611")),
    Row("30 MB for rollcall exec", limited("--as=30000000"), WHOLE),
    Row("2 MB for helpers of n2", SRUN, WHOLE, around=at_helpers("ulimit -v 2000", "n2")),
    Row("2 MB for the server", SRUN, whole("RC611"), around=at_helpers("ulimit -v 2000", "login")),
    # environments
    *each("a hostile environment: {}", WHOLE, variables=HOSTILE),
    *each("other launchers' variables: {}", WHOLE, variables=OTHERS, but=["mpirun"]),
    Row("a hostile environment: srun's server of another step", f"env SLURM_ROLLCALL_SERVER='x 1 y' {SRUN}", WHOLE),
    *each("5,000 variables: {}", WHOLE, variables=dict(CROWD), seconds=20, but=["the preload"]),
    # it changes nothing from some 4,090 on (shim/shim.h)
    Row("4,000 variables: the preload", PRELOAD, WHOLE, variables=dict(CROWD[:4000]), seconds=20),
    # Slurm's own doing
    Row("suspended for two seconds while nodes meet", SRUN, WHOLE, MEETING, suspend(2)),
    Row("suspended for two seconds while tasks run", SBATCH, WHOLE, RUNNING, suspend(2)),
    Row("requeued while nodes meet", SBATCH, Expected(True, 3, None), MEETING, requeue, seconds=60),
    Row("requeued while tasks run", SBATCH, Expected(True, 6), RUNNING, requeue, seconds=60),
    Row("its time is over", "srun --ddp -N3 -n3 -t 1 TASK", ENDED, RUNNING, seconds=150),
    # many
    Row("twelve steps at once", AT_ONCE, Expected(True, 36), seconds=40),
    Row("thirty steps in a row", IN_A_ROW, Expected(True, 90), seconds=60),
    Row("two steps inside a task of a third", INNER, Expected(True, 6), seconds=20),
    Row("the server's clock is an hour ahead", SRUN, WHOLE, around=at_helpers(AHEAD, "login")),
]

# what the default run has of them
SHORT = {
    "SIGTERM to srun while nodes meet", "SIGKILL to the server while nodes meet",
    "SIGKILL to the task of n2 while tasks run", "scancel while tasks of mpirun run",
    "scancel while nodes of sbatch meet", "n3 is cut off for a second while it waits",
    "SIGKILL to slurmd of n2 while nodes meet", "/tmp and /dev/shm of n2 are full: srun",
    "14 descriptors for rollcall exec", "2 MB for helpers of n2", "a hostile environment: srun",
}
assert SHORT <= {row.what for row in ROWS}


@pytest.fixture(scope="module")
def cluster():
    if os.geteuid() != 0 or not shutil.which("slurmctld"):
        pytest.skip("needs root and Slurm")
    one = Cluster()
    try:
        one.up()
        yield one
    finally:
        one.down()


@pytest.mark.parametrize("row", [row for row in ROWS if ALL or row.what in SHORT], ids=lambda row: row.what)
def test_fault(row, cluster):
    wrong = Scene(cluster, row).play()
    wrong += cluster.left()
    assert not wrong, "\n".join(wrong)
