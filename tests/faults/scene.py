# SPDX-License-Identifier: BSD-3-Clause
"""scene.py - one launch on the virtual cluster, what happens to it at which moment, and what must come of it.

A launch is a line as a user types it, or the lines of a batch script; TASK in it is a program that says who it is,
LIBRARY the preload library.
"""
import contextlib
import dataclasses
import os
import re
import shlex
import signal
import subprocess
import time
from typing import Callable

from cluster import NODES, PATIENCE, wait_for

WORLD = 3

# Says who it is, and of which step where there are several; stays until the row lets it go.
TASK = """#!/bin/sh
echo "task ${{SLURM_RESTART_COUNT:-0}}.${{1:-0}} $RANK $WORLD_SIZE $MASTER_ADDR $MASTER_PORT"
until [ -e {now}/go ]; do sleep 0.1; done
"""
HOLD = "#!/bin/sh\n: > {now}/at.{node}; until [ -e {now}/open ]; do sleep 0.05; done\n"

# Moments: which nodes are held before they call the server.
BEFORE = NODES  # no node has called it
MEETING = ("n2",)  # n1 and n3 wait for n2
RUNNING = ()  # all have their answer; tasks are there


@dataclasses.dataclass(frozen=True)
class Expected:
    """What comes of a launch. Whatever comes, those tasks that start have right ranks, one address and one port."""
    status: bool | None = None  # it succeeds, it fails, or either
    tasks: int | None = None  # how many must start; any number
    says: tuple | None = ()  # ids of messages that must be there, and no others where it succeeds; any
    alone: bool = False  # what is done ends it: nobody lets its nodes and tasks go

    def judge(self, status, text):
        wrong = []
        ids = set(re.findall(r"\bRC\d{3}\b", text))
        if self.status is not None and (status == 0) != self.status:
            wrong.append(f"the launch ends with status {status}")
        if self.says is not None and (set(self.says) - ids or (self.status and ids != set(self.says))):
            wrong.append(f"said is {sorted(ids)} instead of {sorted(self.says)}")
        return wrong + judge_tasks(text, self.tasks)


def judge_tasks(text, count):
    """Every step for itself: no rank twice, and everybody has the same address and port."""
    wrong, steps = [], {}
    for step, *values in re.findall(r"\btask (\d+\.\S+) (\S*) (\S*) (\S*) (\S*)$", text, re.M):
        steps.setdefault(step, []).append(values)
    for step, tasks in steps.items():
        ranks = [rank for rank, *_ in tasks]
        if len(set(ranks)) != len(ranks) or not set(ranks) <= {str(rank) for rank in range(WORLD)}:
            wrong.append(f"step {step} has ranks {ranks}")
        worlds = {" ".join(rest) for _, *rest in tasks}
        if len(worlds) != 1 or not re.fullmatch(rf"{WORLD} \S+ \d+", worlds.pop()):
            wrong.append(f"step {step} has not one world: {tasks}")
    started = sum(map(len, steps.values()))
    if count is not None and started != count:
        wrong.append(f"{started} tasks start instead of {count}")
    return wrong


@dataclasses.dataclass(frozen=True)
class Row:
    """What is done to `launch` at `moment`, or around it, and what is expected within `seconds` from then on."""
    what: str
    launch: str
    expected: Expected
    moment: tuple | None = None
    do: Callable | None = None
    around: Callable | None = None
    seconds: int = 10
    variables: dict = dataclasses.field(default_factory=dict)


class Scene:
    def __init__(self, cluster, row):
        self.cluster = cluster
        self.row = row
        self.process = None

    def play(self):
        """What is wrong."""
        self.set_up()
        with (self.row.around or contextlib.nullcontext)(self.cluster), contextlib.ExitStack() as ends:
            ends.callback(self.end)
            with open(self.cluster.now / "out", "wb") as out:
                self.process = self.cluster.start("login", self.command(), self.row.variables, stdout=out, stderr=out)
            if self.row.moment is not None and not wait_for(self.has_come, 20 * PATIENCE):
                return [f"its moment does not come: {self.text()!r}"]
            began = time.monotonic()
            if self.row.do:
                self.row.do(self)
            if not self.row.expected.alone:
                self.release()
            try:
                status = self.process.wait(max(0.1, began + self.row.seconds * PATIENCE - time.monotonic()))
            except subprocess.TimeoutExpired:
                return [f"it has not ended after {time.monotonic() - began:.1f} s: {self.text()!r}"]
            wrong = self.row.expected.judge(status, self.text())
            return wrong and [*wrong, f"after {time.monotonic() - began:.1f} s, of {self.text()!r}"]

    def set_up(self):
        self.cluster.clear()
        now = self.cluster.now
        self.write("task", TASK.format(now=now))
        for node in self.row.moment or ():
            self.write(f"fault.{node}", HOLD.format(now=now, node=node))
        if self.row.moment is None:
            self.release()

    def write(self, name, text):
        path = self.cluster.now / name
        path.write_text(text)
        path.chmod(0o755)
        return str(path)

    def touch(self, name):
        (self.cluster.now / name).touch()

    def command(self):
        line = self.row.launch.replace("TASK", str(self.cluster.now / "task"))
        line = line.replace("LIBRARY", str(self.cluster.prefix / "lib/librollcall-preload.so"))
        if not line.startswith("#SBATCH"):
            return shlex.split(line)
        script = self.write("batch", f"#!/bin/sh\n{line}\n")
        return ["sbatch", "--wait", "--open-mode=append", "-o", str(self.cluster.now / "batch.out"), script]

    def text(self):
        files = [self.cluster.now / name for name in ("out", "batch.out")]
        return "".join(file.read_text(errors="replace") for file in files if file.exists())

    def has_come(self):
        held = self.row.moment
        if not held:
            return len(re.findall(r"\btask \S+ \d+ ", self.text())) >= WORLD
        return all((self.cluster.now / f"at.{node}").exists() for node in held) and \
            self.cluster.callers() >= set(NODES) - set(held)

    def release(self):
        self.touch("open")
        self.touch("go")

    def end(self):
        self.release()
        if self.process and self.process.poll() is None:
            self.cluster.run("login", "scancel", "--user=root")
            self.process.terminate()
            try:
                self.process.wait(5)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()


# Whom a signal is for: its process ids on this machine.

def srun(cluster):
    """Not the processes that it has of its own."""
    every = [process for process in cluster.processes() if process.comm == "srun"]
    return [process.pid for process in every if process.parent not in [other.pid for other in every]]


def server(cluster):
    return [process.pid for process in cluster.processes() if process.is_server()]


def task(node):
    """slurmstepd's child, which waits or is the program."""
    def find(cluster):
        here = [process for process in cluster.processes() if process.node == node]
        steps = {process.pid for process in here if re.match(r"slurmstepd: \[\d+\.\d+\]", " ".join(process.args))}
        parents = {process.pid for process in here if process.pid in steps and process.parent not in steps}
        return [process.pid for process in here if process.parent in parents]
    return find


# What may be done to a scene.

def send(number, whom):
    def do(scene):
        pids = whom(scene.cluster)
        assert pids, f"nobody is there for signal {number}"
        for pid in pids:
            os.kill(pid, number)
    return do


def stop(whom, seconds=1):
    def do(scene):
        pids = whom(scene.cluster)
        send(signal.SIGSTOP, whom)(scene)
        scene.release()
        time.sleep(seconds)
        for pid in pids:
            os.kill(pid, signal.SIGCONT)
    return do


def end_daemon(number, node, seconds=1):
    """slurmd, or slurmctld on login; another one comes."""
    def do(scene):
        send(number, lambda cluster: cluster.daemon(node))(scene)
        scene.release()
        time.sleep(seconds)
        scene.cluster.restart_daemon(node)
    return do


def cut_off(node, seconds):
    """No task ends meanwhile: srun would wait for ever for the word of that."""
    def do(scene):
        scene.cluster.run(node, "ip", "link", "set", "eth0", "down", spaces=["net"])
        scene.touch("open")
        time.sleep(seconds)
        scene.cluster.run(node, "ip", "link", "set", "eth0", "up", spaces=["net"])
    return do


def tell_slurm(*argv):
    """scancel, scontrol: JOB in it is the job's number."""
    def do(scene):
        job = scene.cluster.run("login", "squeue", "-h", "-o", "%A").split()[0]
        scene.cluster.run("login", *(arg.replace("JOB", job) for arg in argv))
        return job
    return do


def suspend(seconds):
    def do(scene):
        tell_slurm("scontrol", "suspend", "JOB")(scene)
        scene.release()
        time.sleep(seconds)
        tell_slurm("scontrol", "resume", "JOB")(scene)
    return do


def requeue(scene):
    """Slurm lets the job wait for two minutes, for its nodes to be clean. No task ends before that by itself. A node
    refuses a credential of the second in which the job was ended ("Killing non-startable batch job")."""
    tell_slurm("scontrol", "requeue", "JOB")(scene)
    wait_for(lambda: not srun(scene.cluster), 20 * PATIENCE)
    time.sleep(2)
    scene.touch("open")

    def again():
        scene.cluster.run("login", "sh", "-c", "scontrol update JobId=$(squeue -h -o %A) StartTime=now; true")
        return re.search(r"^task 1\.0 ", scene.text(), re.M)
    wait_for(again, 30 * PATIENCE, 0.5)


# What may be around a scene.

def at_helpers(line, node):
    """The line, of a shell, before what is started there: on login srun's server."""
    @contextlib.contextmanager
    def around(cluster):
        gate = cluster.now / f"gate.{node}"
        gate.write_text(f"{line}\n")
        yield
        gate.unlink()
    return around


# argv: where
FILL = 'mount -t tmpfs -o size=16k,mode=1777 none "$0" && ! cat /dev/zero 2> /dev/null > "$0/full"'


def full(*places):
    """Of n2: a tmpfs of some pages in their place, with nothing free."""
    @contextlib.contextmanager
    def around(cluster):
        for place in places:
            cluster.run("n2", "sh", "-c", FILL, place)
        try:
            yield
        finally:
            for place in places:
                cluster.run("n2", "umount", "-l", place)
    return around


@contextlib.contextmanager
def slow(cluster):
    """What n2 sends: 200 kbit a second. Delays are not in every kernel (sch_netem), this is."""
    cluster.run("n2", *"tc qdisc add dev eth0 root tbf rate 200kbit burst 4kb latency 4s".split(), spaces=["net"])
    try:
        yield
    finally:
        cluster.run("n2", *"tc qdisc del dev eth0 root".split(), spaces=["net"])
