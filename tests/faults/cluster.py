# SPDX-License-Identifier: BSD-3-Clause
"""cluster.py - a virtual cluster (contrib/minicluster) with a copy of rollcall, looked at from outside.

Processes, files, sockets and descriptors of its nodes are read from this machine's /proc, and processes are signalled
by this machine's process ids: no program has to be started on a node for that.
"""
import contextlib
import dataclasses
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import tempfile
import time

TOP = pathlib.Path(__file__).resolve().parents[2]
os.environ.setdefault("ROLLCALL_PREFIX", str(TOP / "build/prefix"))
MINICLUSTER = str(TOP / "contrib/minicluster/minicluster")
STATE = pathlib.Path(os.environ.get("MINICLUSTER_STATE", "/var/lib/minicluster"))
NODES = ("n1", "n2", "n3")
PATIENCE = 3  # times: other layers run on the same cores, and a limit is there for what hangs
SETTLES = 15  # seconds until what ends has ended
FRESH = 10  # for a step without a fault; the nodes' own deadline is as long
DAEMONS = ("slurmd", "slurmctld")
PLACES = ("tmp", "dev/shm")  # a node has its own
# Slurm's PMIx plugin and Open MPI keep theirs where they are killed, with rollcall or without.
NOT_OURS = re.compile(r"/(spmix_appdir|pmix|ompi\.|prte\.|openmpi-|vader_segment)")

# What every helper runs through: a row writes into now/gate.NODE what comes first.
GATE = """#!/bin/sh
read -r node < /proc/sys/kernel/hostname
real={real}/rollcall-exchange
[ ! -e {now}/gate.$node ] || . {now}/gate.$node
exec $real "$@"
"""


@dataclasses.dataclass(frozen=True)
class Process:
    pid: int
    parent: int
    node: str
    comm: str
    state: str
    args: tuple

    def __str__(self):
        return f"{self.node}: process {self.comm} {self.pid}{' (zombie)' if self.state == 'Z' else ''}"

    def is_server(self):
        """Also the gate in front of it."""
        return any(arg.endswith("rollcall-exchange") for arg in self.args) and "server" in self.args


def read(path):
    """Nothing, where it has gone."""
    try:
        return pathlib.Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def arguments(pid):
    return tuple(read(f"/proc/{pid}/cmdline").split("\0")[:-1])


def all_pids():
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def open_files(pid):
    """What its descriptors are."""
    found = []
    with contextlib.suppress(OSError):
        for fd in os.listdir(f"/proc/{pid}/fd"):
            with contextlib.suppress(OSError):
                found.append(os.readlink(f"/proc/{pid}/fd/{fd}"))
    return found


def space(pid):
    with contextlib.suppress(OSError):
        return os.readlink(f"/proc/{pid}/ns/net")
    return None


def tcp_sockets(pid, state):
    """The words of each line of that state, such as 0A (listening) or 01 (connected), in the process's network."""
    for kind in ("tcp", "tcp6"):
        for line in read(f"/proc/{pid}/net/{kind}").splitlines()[1:]:
            words = line.split()
            if words[3] == state:
                yield words


def wait_for(condition, seconds, step=0.05):
    """What the condition says once it says something, or at the end."""
    until = time.monotonic() + seconds
    while not (found := condition()) and time.monotonic() < until:
        time.sleep(step)
    return found


class Cluster:
    """Of three nodes, and `login`. `now` is a folder that all of them see, made anew for each row."""

    def __init__(self):
        self.name = f"rollcall-{os.getpid()}"
        self.state = STATE / self.name
        # not below /tmp: each node has its own
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="rollcall-matrix.", dir="/var/tmp"))
        self.folder.chmod(0o755)
        self.now = self.folder / "now"
        self.prefix = self.folder / "prefix"
        self.first = {}  # node: its first process
        self.spaces = {}  # network namespace: node
        self.before = {}
        self.environment = {
            "PATH": f"{self.prefix}/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "LANG": "C.UTF-8",
            "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "MINICLUSTER_STATE": str(STATE),
        }

    def up(self):
        self.install()
        self.clear()
        stack, fault = self.folder / "plugstack.conf", self.folder / "fault.so"
        subprocess.run([*shlex.split(os.environ.get("CC", "cc")), *shlex.split(os.environ.get("SLURM_CPPFLAGS", "")),
                        "-shared", "-fPIC", "-o", fault, TOP / "tests/cluster/programs/fault.c"], check=True)
        stack.write_text(f"optional {fault}\noptional {self.prefix}/lib/slurm/rollcall.so\n")
        self.manage("up", "--nodes", str(len(NODES)), "--cpus", "32", "--mpi", "pmix", "--conf", "JobRequeue=1",
                    "--plugstack", str(stack))
        self.find_nodes()
        assert not self.fresh_step()
        self.settle()

    def down(self):
        self.manage("down")
        shutil.rmtree(self.folder)

    def manage(self, verb, *argv):
        done = subprocess.run([MINICLUSTER, verb, "--name", self.name, *argv], env=self.environment, check=False,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr

    def install(self):
        """A copy whose helpers run through a gate."""
        shutil.copytree(os.environ["ROLLCALL_PREFIX"], self.prefix, symlinks=True)
        helpers = self.prefix / "libexec/rollcall"
        shutil.copytree(helpers, helpers / "real")
        gate = helpers / "rollcall-exchange"
        gate.unlink()
        gate.write_text(GATE.format(now=self.now, real=helpers / "real"))
        gate.chmod(0o755)

    def clear(self):
        shutil.rmtree(self.now, ignore_errors=True)
        self.now.mkdir()
        self.now.chmod(0o1777)

    def find_nodes(self):
        marks = {f"minicluster:{self.state}:{node}": node for node in ("login", *NODES)}
        for pid in all_pids():
            named = re.search(r"^NSpid:\t.*\t1$", read(f"/proc/{pid}/status"), re.M)
            for node in {marks[arg] for arg in arguments(pid) if named and arg in marks}:
                self.first[node] = pid
                self.spaces[space(pid)] = node

    def start(self, node, argv, more=None, **streams):
        """A process of this machine whose child is the command on that node. First tasks run now/fault.NODE."""
        return subprocess.Popen([MINICLUSTER, "run", "--name", self.name, "-e", f"MINICLUSTER_SHARED={self.now}", node,
                                 *argv], cwd=self.folder, env={**self.environment, **(more or {})},
                                stdin=subprocess.DEVNULL, **streams)

    def run(self, node, *argv, spaces=("mount", "uts", "ipc", "net", "pid")):
        """What it says there, in the node's namespaces of these kinds; it must not fail."""
        enter = ["nsenter", "--target", str(self.first[node]), *(f"--{kind}" for kind in spaces), *argv]
        environment = {**self.environment, "SLURM_CONF": str(self.state / "slurm.conf")}
        done = subprocess.run(enter, env=environment, cwd="/", stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=60 * PATIENCE, check=False)
        assert done.returncode == 0, f"{node}: {argv}: {done.stderr}"
        return done.stdout

    def processes(self):
        found, orphans = {}, []
        for pid in all_pids():
            there = space(pid)
            if there is not None and there not in self.spaces:
                continue
            parts = re.match(r"\d+ \((.*)\) (\S) (\d+) ", read(f"/proc/{pid}/stat"), re.S)
            if not parts:
                continue
            comm, state, parent = parts[1], parts[2], int(parts[3])
            if there:
                found[pid] = Process(pid, parent, self.spaces[there], comm, state, arguments(pid))
            elif state == "Z":
                orphans.append(Process(pid, parent, "", comm, state, ()))
        # a zombie has no namespaces any more: it is where its parent is
        for process in orphans:
            if process.parent in found:
                found[process.pid] = dataclasses.replace(process, node=found[process.parent].node)
        return [process for process in found.values() if process.pid not in self.first.values()]

    def files(self):
        for node, pid in self.first.items():
            root = f"/proc/{pid}/root"
            for place in PLACES:
                for folder, folders, names in os.walk(f"{root}/{place}"):
                    paths = [os.path.join(folder, name).removeprefix(root) for name in folders + names]
                    yield from (f"{node}: file {path}" for path in paths if not NOT_OURS.search(path))

    def sockets(self):
        for node, pid in self.first.items():
            for line in read(f"/proc/{pid}/net/unix").splitlines()[1:]:
                words = line.split(None, 7)
                if len(words) > 7 and not NOT_OURS.search(words[7]):
                    yield f"{node}: socket {words[7]}"
            for words in tcp_sockets(pid, "0A"):
                yield f"{node}: listening port {int(words[1].rsplit(':', 1)[1], 16)}"

    def look(self):
        processes = self.processes()
        return {"processes": {str(process) for process in processes}, "files": set(self.files()),
                "sockets": set(self.sockets()),
                "descriptors": {f"{process.node}: {process.comm}": len(open_files(process.pid))
                                for process in processes if process.comm in DAEMONS}}

    def callers(self):
        """The nodes that have a connection to a server, which may be on this very node."""
        servers = {process.pid: open_files(process.pid) for process in self.processes() if process.is_server()}
        ports = {words[1][-4:] for pid, files in servers.items() for words in tcp_sockets(pid, "0A")
                 if f"socket:[{words[9]}]" in files}
        return {node for node, pid in self.first.items()
                if any(words[2][-4:] in ports for words in tcp_sockets(pid, "01"))
                or re.search(r" 03 +\d+ @rollcall/", read(f"/proc/{pid}/net/unix"))}

    def settle(self):
        """What there is from now on is as it must be: twice the same, with no step that still ends."""
        wait_for(lambda: not self.busy(), SETTLES * PATIENCE, 0.2)
        self.before = self.look()
        for _ in range(50):
            time.sleep(0.2)
            last, self.before = self.before, self.look()
            if last == self.before and not any("slurmstepd" in process for process in last["processes"]):
                break

    def changes(self):
        now, before = self.look(), self.before
        had = before["descriptors"]
        kinds = ("processes", "files", "sockets")
        return ([f"gone: {what}" for what in sorted(before["processes"] - now["processes"])] +
                [f"left: {what}" for kind in kinds for what in sorted(now[kind] - before[kind])] +
                [f"{whose} has {count} descriptors instead of {had.get(whose)}"
                 for whose, count in now["descriptors"].items() if count > had.get(whose, 0)])

    def daemon(self, node):
        """Not what it has of its own."""
        return [process.pid for process in self.processes() if process.node == node and process.comm in DAEMONS
                and process.parent == self.first[node]]

    def restart_daemon(self, node):
        """slurmd, or slurmctld on login, has been ended: another one takes its place in what must be there."""
        name = DAEMONS[node == "login"]
        self.run(node, name)
        wait_for(lambda: self.daemon(node), 5 * PATIENCE)
        time.sleep(0.5)
        mark = f"{node}: process slurm"
        kept = {what for what in self.before["processes"] if not what.startswith(mark)}
        self.before["processes"] = kept | {what for what in self.look()["processes"] if what.startswith(f"{mark}d") or
                                           what.startswith(f"{mark}ctld") or what.startswith(f"{mark}scriptd")}

    def busy(self):
        """Nodes that are not idle, and jobs."""
        said = self.run("login", "sh", "-c", "sinfo -h -N -o '%N is %T'; squeue -h -o 'job %A is %T'")
        return [line for line in said.splitlines() if not re.fullmatch(r"n\d is idle", line)]

    def fresh_step(self):
        """One of all nodes, without a fault: what is wrong about it."""
        began = time.monotonic()
        command = ["srun", "-Q", "--ddp", "-N3", "-n3", "sh", "-c", 'echo "port $RANK $MASTER_PORT"']
        process = self.start("login", command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        try:
            text, said = process.communicate(timeout=FRESH * PATIENCE)
        except subprocess.TimeoutExpired:
            process.terminate()
            return [f"a fresh step takes longer than {FRESH * PATIENCE} s: {process.communicate()}"]
        told = re.findall(r"^port (\d) (\d+)$", text, re.M)
        if process.returncode == 0 and not said and sorted(rank for rank, _ in told) == ["0", "1", "2"] and \
                len({port for _, port in told}) == 1:
            return []
        return [f"a fresh step, after {time.monotonic() - began:.1f} s: {process.returncode} {text!r} {said!r}"]

    def left(self):
        """After a fault: what is not as before it. Then it is again, for the next one."""
        wrong = self.fresh_step()
        # at one time: a daemon has a descriptor more while it answers
        if not wait_for(lambda: not (self.changes() or self.busy()), SETTLES * PATIENCE, 0.1):
            wrong += self.changes() + self.busy()
        if wrong:
            self.mend()
        return wrong

    def mend(self):
        resume = f"scontrol update NodeName={','.join(NODES)} State=RESUME"
        self.run("login", "sh", "-c", f"scancel --user=root; {resume}; true")
        for process in self.processes():
            if str(process) not in self.before["processes"]:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(process.pid, 9)
        running = {process.node for process in self.processes() if process.comm in DAEMONS}
        for node in self.first.keys() - running:
            self.restart_daemon(node)
        self.settle()
