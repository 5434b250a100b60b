# SPDX-License-Identifier: BSD-3-Clause
"""rollcall_watch - names a process that joins torch.distributed as another one than its task is.

`srun --ddp=watch` and its relatives put this module's folder on PYTHONPATH, and who the task is into
ROLLCALL_IDENTITY. torch calls install() at the end of `import torch`, from release 2.5 on; with an older one
nothing happens, unless a script does it: `import torch, rollcall_watch; rollcall_watch.install()`.

With `watch=SECONDS` it also tells srun's server (SLURM_ROLLCALL_SERVER) that its task has reached
init_process_group; the server says who has not.

It prints lines and changes nothing: what goes wrong in here is passed over (a line with ROLLCALL_DEBUG=1),
nothing is ever ended, and init_process_group gets what it was given. For Python 3.8 and later.
"""

import os
import sys

PREFIX = "rollcall: "
SERVER = "SLURM_ROLLCALL_SERVER"  # "TOKEN PORT JOB.STEP", as lib/base/stepserver.h writes it
NOTES = ("RC704",)

said = set()  # what this process and those that it was forked from have printed


def debug_level():
    text = os.environ.get("ROLLCALL_DEBUG", "")
    return int(text) if text.isdecimal() else bool(text)


def write(text):
    """One line, at once, so that lines of several processes do not mix; nothing but printable ASCII."""
    line = "".join(c if " " <= c <= "~" else "?" for c in PREFIX + text) + "\n"
    try:
        file = sys.stderr.fileno()
    except Exception:  # none, or a script's own
        if sys.stderr is not None:
            sys.stderr.write(line)
        return
    # what sys.stderr could not write would make Python end with status 120
    os.write(file, line.encode())


def explain(error):
    try:
        if debug_level() > 0:
            write("watch: %s: %s" % (type(error).__name__, error))
    except Exception:  # a closed standard error
        pass


def say(message, text):
    text = "process %d on %s %s" % (os.getpid(), os.uname().nodename, text)
    if text in said or (message in NOTES and debug_level() == 0):
        return
    said.add(text)
    write("%s %s: %s" % ("note" if message in NOTES else "warning", message, text))


def number(variables, name):
    text = variables.get(name, "")
    return int(text) if text.isdecimal() else None


def start_environment():
    """What this program was started with: a script may have changed os.environ since."""
    try:
        with open("/proc/self/environ", "rb") as file:
            entries = os.fsdecode(file.read()).split("\0")
    except OSError:
        return dict(os.environ)
    return dict(entry.split("=", 1) for entry in entries if "=" in entry)


class Server:
    """srun's rendezvous server, which waits for this process's task; found when torch is imported."""

    PATIENCE = 0.05  # seconds that init_process_group may be held up: a server that listens needs a hundredth of that
    CONNECT = 2  # seconds, of what is in the background then
    REPLY = 10
    told = False  # by this process, or one that it was forked from

    def __init__(self, identity):
        self.hosts = []
        try:
            if "task" in identity:
                self.find(identity["task"], identity["tasks"])
        except Exception as error:
            explain(error)

    def find(self, task, tasks):
        variables = {**os.environ, **start_environment()}
        token, port, step = variables.get(SERVER, "").split()
        text = "reached=%d %d\n" % (task, tasks)
        self.message = ("rollcall 1 %s %d\n%s" % (token, len(text), text)).encode()
        self.port = int(port)
        here = variables.get("SLURM_JOB_ID"), variables.get("SLURM_STEP_ID")
        if None in here or step == "%s.%s" % here:  # else a step inside the task, which is not watched
            names = (variables.get(name) for name in ("SLURM_LAUNCH_NODE_IPADDR", "SLURM_SRUN_COMM_HOST"))
            self.hosts = [name.encode() for name in names if name]

    def tell(self):
        """Once a process, and in the background where it takes longer than is noticed."""
        if self.told or not self.hosts:
            return
        Server.told = True
        import threading  # torch has imported all three

        thread = threading.Thread(target=self.send, name="rollcall-watch", daemon=True)
        thread.start()
        thread.join(self.PATIENCE)

    def send(self):
        import socket
        import time

        failure = OSError("srun's server did not listen")
        until = time.monotonic() + self.REPLY
        try:
            while time.monotonic() < until:
                for host in self.hosts:
                    try:
                        with socket.create_connection((host, self.port), self.CONNECT) as connection:
                            connection.settimeout(self.REPLY)
                            connection.sendall(self.message)
                            if connection.recv(1):
                                return
                    except OSError as error:
                        failure = error
                time.sleep(0.1)
            explain(failure)
        except Exception as error:
            explain(error)


def was_spawned():
    """multiprocessing started this process: mp.spawn and what is built on it."""
    module = sys.modules.get("multiprocessing.process")
    return module is not None and module.parent_process() is not None


def has_children():
    try:
        for thread in os.listdir("/proc/self/task"):
            with open("/proc/self/task/%s/children" % thread) as file:
                if file.read().strip():
                    return True
    except OSError:  # a kernel that does not tell
        return True
    return False


class Told:
    """What a call of init_process_group says of rank and world size, and where."""

    def __init__(self, call, caller):
        self.caller = caller
        url = "" if call.get("store") is not None else str(call.get("init_method") or "env://")
        scheme, _, rest = url.partition("://")
        query = dict(item.partition("=")[::2] for item in rest.partition("?")[2].split("&"))
        self.world, _ = self.find("world_size", call, query, scheme)
        self.rank, self.source = self.find("rank", call, query, scheme)

    def find(self, name, call, query, scheme):
        """As torch does it (rendezvous.py): an argument, the URL, the environment for env://. LookupError without."""
        value = call.get(name, -1)
        if value is not None and int(value) >= 0:
            return int(value), "passed by " + self.caller
        if name in query:
            return int(query[name]), "in the init_method of " + self.caller
        if scheme != "env":
            raise LookupError(name)
        return int(os.environ[name.upper()]), "by RANK and WORLD_SIZE as they are now"

    def __str__(self):
        return "joins as rank %d of %d (%s)" % (self.rank, self.world, self.source)

    def is_lightnings(self):
        return self.caller.split(".")[0] in ("lightning", "pytorch_lightning", "lightning_fabric")

    def cure(self, variables):
        if self.is_lightnings():
            return "check devices= and num_nodes="
        return "pass %s as rollcall set it, or nothing" % variables

    def cure_of_node(self):
        if self.is_lightnings():
            return "check num_nodes= and NODE_RANK"
        return "count from NODE_RANK, as rollcall set it"


class Task:
    """The task that this process is, or belongs to: its place among how many, by ROLLCALL_IDENTITY."""

    def __init__(self, identity, words="its task is"):
        self.worker = "rank" in identity
        self.words = words
        self.place = identity["rank" if self.worker else "node"]
        self.count = identity["size" if self.worker else "nodes"]
        self.other = identity.get("other")

    def __str__(self):
        if self.worker:
            return "%s rank %d of %d" % (self.words, self.place, self.count)
        return "it is on node %d of %d" % (self.place, self.count)

    def compare(self, told):
        """Prints a line if no process of this task can be what it was told to be."""
        start = start_environment()
        if self.is_from_inside(told, start):
            return
        if "TORCHELASTIC_RUN_ID" in start and number(start, "RANK") is not None:
            self.compare_with_torchrun(told, start)
        elif told.world < self.count:
            self.say_world(told)
        elif told.world > self.count and self.worker and not self.has_several(told, start):
            say("RC702", "%s, but %s, and it is its only process; %s" % (told, self, told.cure("WORLD_SIZE")))
        else:
            self.compare_rank(told)

    def is_from_inside(self, told, start):
        """mpirun in a task, without rollcall: its own numbers are right."""
        return not start.get("ROLLCALL_SCOPE", "").startswith("openmpi:") and (told.rank, told.world) == (
            number(start, "OMPI_COMM_WORLD_RANK"),
            number(start, "OMPI_COMM_WORLD_SIZE"),
        )

    def has_several(self, told, start):
        """Whether the task has started several workers, and this process may be one of them."""
        return was_spawned() or number(start, "WORLD_SIZE") == told.world or has_children()

    def say_world(self, told):
        if told.world == 1:
            cure = told.cure("RANK and WORLD_SIZE")
            say("RC701", "%s, but %s; if all do, each trains alone; %s" % (told, self, cure))
        else:
            cure = told.cure("WORLD_SIZE")
            say("RC702", "%s, but %s; %s; a smaller world on purpose: watch=off" % (told, self, cure))

    def compare_rank(self, told):
        """Each of the others has one process at least, so that many ranks are below and above this one's."""
        if self.place <= told.rank <= told.world - (self.count - self.place):
            if debug_level() > 0:
                write("watch: process %d %s, and %s" % (os.getpid(), told, self))
        elif told.rank == self.other and told.world == self.count:
            say("RC704", "%s, but %s; right if all tasks are renumbered so" % (told, self))
        elif self.worker:
            say("RC703", "%s, but %s; %s" % (told, self, told.cure("RANK")))
        else:
            say("RC703", "%s, but %s, where that rank cannot be; %s" % (told, self, told.cure_of_node()))

    def compare_with_torchrun(self, told, start):
        """torchrun has the last word on its workers' ranks, not on how many nodes there are."""
        if was_spawned():
            return
        if number(start, "GROUP_WORLD_SIZE") == 1 < self.count and number(start, "LOCAL_RANK") == 0:
            cure = "leave out --nnodes and --standalone"
            say("RC701", "%s, but %s, and its torchrun knows of no other; %s" % (told, self, cure))
            return
        torchrun = Task({"rank": number(start, "RANK"), "size": number(start, "WORLD_SIZE")}, "torchrun made it")
        if told.world < torchrun.count:
            torchrun.say_world(told)
        elif told.world == torchrun.count:
            torchrun.compare_rank(told)


def backend(call):
    return str(call.get("backend")).lower()


def compare(task, call, caller):
    """True if it was known beforehand what init_process_group is going to do."""
    try:
        if backend(call) == "mpi":
            raise LookupError("MPI decides")
        told = Told(call, caller)
    except (LookupError, ValueError, TypeError):
        return False
    task.compare(told)
    return True


def wrap(task, server, c10d):
    import functools  # torch has imported both
    import inspect

    original = c10d.init_process_group
    signature = inspect.signature(original)

    @functools.wraps(original)
    def init_process_group(*args, **kwargs):
        done = True
        try:
            caller = sys._getframe(1).f_globals.get("__name__", "?")
            call = signature.bind(*args, **kwargs).arguments
            if not c10d.is_initialized() and backend(call) != "fake":
                server.tell()
                done = compare(task, call, caller)
        except Exception as error:
            explain(error)
        result = original(*args, **kwargs)
        try:
            if not done:
                task.compare(Told({"rank": c10d.get_rank(), "world_size": c10d.get_world_size()}, caller))
        except Exception as error:
            explain(error)
        return result

    init_process_group.rollcall_watch = True
    for name, module in list(sys.modules.items()):
        if name.startswith("torch.") and getattr(module, "__dict__", {}).get("init_process_group") is original:
            module.init_process_group = init_process_group


def install():
    """torch's entry point; a script may call it as well, and twice does no harm."""
    try:
        words = os.environ.get("ROLLCALL_IDENTITY", "").split()
        c10d = sys.modules.get("torch.distributed.distributed_c10d")
        if not words or {"off", "watch=off"} & set(os.environ.get("ROLLCALL", "").split(",")):
            return
        identity = {name: int(value) for name, _, value in (word.partition("=") for word in words)}
        task = Task(identity)
        if task.count > 1 and hasattr(c10d, "init_process_group"):
            if not hasattr(c10d.init_process_group, "rollcall_watch"):
                wrap(task, Server(identity), c10d)
    except Exception as error:
        explain(error)
