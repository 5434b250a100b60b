# SPDX-License-Identifier: BSD-3-Clause
"""rollcall_watch - names a process that joins torch.distributed as another one than its task is.

`srun --ddp=watch` and its relatives put this module's folder on PYTHONPATH, and who the task is into
ROLLCALL_IDENTITY. torch calls install() at the end of `import torch`, from release 2.5 on; with an older one
nothing happens, unless a script does it: `import torch, rollcall_watch; rollcall_watch.install()`.

In the batch script of a job that was asked for `--ddp`, it names a process that waits for tasks which only srun
would have started (Script).

It also tells srun's server (SLURM_ROLLCALL_SERVER) by which exception a process ends, and the server names the first;
with `watch=SECONDS` also that its task has reached init_process_group, and the server says who has not.

It prints lines and changes nothing: what goes wrong in here is passed over (a line with ROLLCALL_DEBUG=1), and
torch's functions get what they were given. Only a process that has failed and hangs is ended (rollcall_watch_ending).
For Python 3.8 and later.
"""

import os
import sys

from rollcall_watch_device import Device
from rollcall_watch_ending import CALLS, Ending
from rollcall_watch_report import Failure, Server, is_debugging, number, quietly, start_environment, write

said = set()  # what this process and those that it was forked from have printed


def say(message, text):
    text = "process %d on %s %s" % (os.getpid(), os.uname().nodename, text)
    if text not in said:
        said.add(text)
        write("warning %s: %s" % (message, text))


def was_spawned():
    """multiprocessing started this process: mp.spawn and what is built on it."""
    module = sys.modules.get("multiprocessing.process")
    return module is not None and module.parent_process() is not None


def count_children():
    count = 0
    try:
        for thread in os.listdir("/proc/self/task"):
            with open("/proc/self/task/%s/children" % thread) as file:
                count += len(file.read().split())
    except OSError:  # a kernel that does not say
        return sys.maxsize
    return count


class Told:
    """What a call of init_process_group says of rank and world size, and where."""

    cure_of_script = None  # if a script has changed the environment after rollcall

    def __init__(self, call, caller):
        self.caller = caller
        url = "" if call.get("store") is not None else str(call.get("init_method") or "env://")
        scheme, _, rest = url.partition("://")
        query = dict(item.partition("=")[::2] for item in rest.partition("?")[2].split("&"))
        self.world, _ = self.find("world_size", call, query, scheme)
        self.rank, self.source = self.find("rank", call, query, scheme)
        self.by_environment = self.source == self.NOW
        # what is read of the environment
        self.names = ("MASTER_ADDR", "MASTER_PORT") if scheme == "env" and call.get("store") is None else ()
        self.names += ("RANK", "WORLD_SIZE") if self.by_environment else ()

    NOW = "by RANK and WORLD_SIZE as they are now"

    def find(self, name, call, query, scheme):
        """As torch does it (rendezvous.py): an argument, the URL, the environment for env://. LookupError without."""
        value = call.get(name, -1)
        if value is not None and int(value) >= 0:
            return int(value), "passed by " + self.caller
        if name in query:
            return int(query[name]), "in the init_method of " + self.caller
        if scheme != "env":
            raise LookupError(name)
        return int(os.environ[name.upper()]), self.NOW

    def __str__(self):
        return "joins as rank %d of %d (%s)" % (self.rank, self.world, self.source)

    def cure(self, change, of_lightning="check devices= and num_nodes="):
        is_lightnings = self.caller.split(".")[0] in ("lightning", "pytorch_lightning", "lightning_fabric")
        return of_lightning if is_lightnings else change

    def cure_of(self, variables):
        return self.cure_of_script or self.cure("pass %s as rollcall set it, or nothing" % variables)


def find_mpirun(start):
    """Rank and size, if mpirun started this process in a task, without rollcall: its own numbers are right."""
    if start.get("ROLLCALL_SCOPE", "").startswith("openmpi:") or "OMPI_COMM_WORLD_RANK" not in start:
        return None
    return number(start, "OMPI_COMM_WORLD_RANK"), number(start, "OMPI_COMM_WORLD_SIZE")


PATIENCE = 10  # seconds: others may start late


def later(act):
    import threading  # torch has imported it

    timer = threading.Timer(PATIENCE, quietly, (act,))
    timer.daemon = True
    timer.start()
    return timer


def own_words():
    with open("/proc/self/cmdline", "rb") as file:
        return os.fsdecode(file.read()).split("\0")[:-1]


class Task:
    """The task that this process is, or belongs to: its place among how many, by ROLLCALL_IDENTITY."""

    def __init__(self, identity, words="its task is"):
        self.worker = "rank" in identity
        self.words = words
        self.place = identity["rank" if self.worker else "node"]
        self.count = identity["size" if self.worker else "nodes"]
        self.other = identity.get("other")
        self.here = self.count > 1
        addr, _, port = identity.get("master", "").rpartition(":")
        self.told = {"RANK": str(self.place), "WORLD_SIZE": str(self.count)} if self.worker else {}
        self.told.update({"MASTER_ADDR": addr, "MASTER_PORT": port} if port else {})
        self.server = Server(identity)

    def __str__(self):
        if self.worker:
            return "%s rank %d of %d" % (self.words, self.place, self.count)
        return "it is on node %d of %d" % (self.place, self.count)

    def enter(self, told, caller):
        """Before init_process_group; None, or a function for its end, which gets the exception if there was one."""
        self.server.enter()
        if told is None:
            return lambda error: error or self.compare_with_world(caller)
        changed = self.changes(told.names)
        if changed:
            told.cure_of_script = "the script that starts it set %s; delete that there, or type there: %s" % (
                ", ".join(changed), "rollcall exec -- " + command_line(own_words()))
        before = len(said)
        self.compare(told)
        if not changed or len(said) > before:
            return None
        waits = "%s, and has waited %g s; %s" % (told, PATIENCE, told.cure_of_script)
        timer = later(lambda: say("RC712", waits))
        return lambda error: timer.cancel()

    def changes(self, names):
        """What a script has set to other values than rollcall. The workers of a launcher inside have values of its."""
        start = start_environment()
        if was_spawned() or "TORCHELASTIC_RUN_ID" in start or find_mpirun(start):
            return []
        return ["%s=%s (rollcall: %s)" % (name, start[name], value) for name, value in self.told.items()
                if name in names and start.get(name, value) != value and os.environ.get(name) == start[name]]

    def compare_with_world(self, caller):
        c10d = sys.modules["torch.distributed.distributed_c10d"]
        self.compare(Told({"rank": c10d.get_rank(), "world_size": c10d.get_world_size()}, caller))

    def compare(self, told):
        """Prints a line if no process of this task can be what it was told to be."""
        start = start_environment()
        if (told.rank, told.world) == find_mpirun(start):
            return
        # whether the task has started several workers, and this process may be one of them
        has_several = was_spawned() or number(start, "WORLD_SIZE") == told.world or count_children() > 0
        if "TORCHELASTIC_RUN_ID" in start and number(start, "RANK") is not None:
            self.compare_with_torchrun(told, start)
        elif told.world < self.count:
            self.say_world(told)
        elif told.world > self.count and self.worker and not has_several:
            say("RC702", "%s, but %s, and it is its only process; %s" % (told, self, told.cure_of("WORLD_SIZE")))
        else:
            self.compare_rank(told)

    def say_world(self, told):
        if told.world == 1:
            say("RC701", "%s, but %s; if all do, each trains alone; %s" % (
                told, self, told.cure_of("RANK and WORLD_SIZE")))
        else:
            say("RC702", "%s, but %s; %s; a smaller world on purpose: watch=off" % (
                told, self, told.cure_of("WORLD_SIZE")))

    def compare_rank(self, told):
        """Each of the others has one process at least, so that many ranks are below and above this one's."""
        is_other = told.rank == self.other and told.world == self.count  # right if all tasks are renumbered so
        if is_other or self.place <= told.rank <= told.world - (self.count - self.place):
            if is_debugging():
                write("watch: process %d %s, and %s" % (os.getpid(), told, self))
        elif self.worker:
            say("RC703", "%s, but %s; %s" % (told, self, told.cure_of("RANK")))
        else:
            cure = told.cure("count from NODE_RANK, as rollcall set it", "check num_nodes= and NODE_RANK")
            say("RC703", "%s, but %s, where that rank cannot be; %s" % (told, self, cure))

    def compare_with_torchrun(self, told, start):
        """torchrun has the last word on its workers' ranks, not on how many nodes there are."""
        if was_spawned():
            return
        if number(start, "GROUP_WORLD_SIZE") == 1 < self.count and number(start, "LOCAL_RANK") == 0:
            cure = "leave --nnodes and --standalone out of torchrun's line, also in a script that calls it"
            # with several tasks a node each of them has started a torchrun, which gets no numbers from rollcall
            if self.worker and "PET_NNODES" not in start:
                cure = "start one task a node; or type python for torchrun, also in a script that calls it"
            say("RC701", "%s, but %s, and its torchrun knows of no other; %s" % (told, self, cure))
            return
        torchrun = Task({"rank": number(start, "RANK"), "size": number(start, "WORLD_SIZE")}, "torchrun made it")
        if told.world < torchrun.count:
            torchrun.say_world(told)
        elif told.world == torchrun.count:
            torchrun.compare_rank(told)


def command_line(words):
    """What started this process: `python train.py`."""
    import shlex

    name = os.path.basename(words[1]) if len(words) > 1 else ""
    words = [name if name in AGENTS else os.path.basename(words[0])] + words[2 if name in AGENTS else 1 :]
    line = " ".join(map(shlex.quote, words))
    return line if len(line) <= 200 else line[:200] + " ..."


def srun_line(words, by_exec):
    """The same with srun before it: `srun --ddp python train.py`; under rollcall exec its like."""
    each = "--ntasks-per-node=1 " if is_agent(words) else ""
    end = "" if goes_on(words) or not by_exec else "-K "  # srun --ddp ends the step by itself
    return "srun %s%s%s%s" % (end, each, "rollcall exec -- " if by_exec else "--ddp ", command_line(words))


AGENTS = ("torchrun", "accelerate")
MODULES = ("torch.distributed.run", "torch.distributed.launch", "accelerate.commands.launch")


def is_agent(words):
    return any(os.path.basename(word) in AGENTS or word in MODULES for word in words[:4])


NODES = ("__nnodes", "__num_machines")


def told_agent(words, *names):
    """What torchrun or accelerate is told by an option of these names; "" without. What follows a script is its own."""
    text = ""
    for word, following in zip(words, words[1:] + [""]):
        name, has_value, value = word.replace("-", "_").partition("=")
        if name in names:
            text = value if has_value else following
        if word.endswith(".py"):
            break
    return text


def nodes_of_agent(words):
    """How many nodes torchrun or accelerate is told to wait for; 1 for other programs."""
    if not is_agent(words):
        return 1
    least = (told_agent(words, *NODES) or os.environ.get("PET_NNODES", "1")).partition(":")[0]
    return int(least) if least.isdecimal() else 1


def goes_on(words):
    """As rc_command_goes_on: torchrun starts its workers again after a failure, or goes on with fewer nodes."""
    restarts = told_agent(words, "__max_restarts")
    return is_agent(words) and (":" in told_agent(words, *NODES) or restarts not in ("", "0"))


class Script:
    """A batch script's process, and no task: what it waits for, nobody starts, where srun was forgotten.

    A script may start its processes by hand as well, and they meet: so it is named only after a while."""

    # whose processes are started by a launcher, and know the others
    LAUNCHED = ("TORCHELASTIC_RUN_ID", "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "MV2_COMM_WORLD_RANK")

    def __init__(self, identity):
        start = start_environment()
        self.tasks = identity["tasks"]
        self.by_exec = "exec" in identity
        step = number(start, "SLURM_STEP_ID")
        # a batch script has none, or one above SLURM_MAX_NORMAL_STEP_ID (slurm.h), which Slurm 26.05 writes as -5
        is_script = (step is None or step >= 0xFFFFFFF0) and start.get("SLURM_JOB_ID") == str(identity["script"])
        self.here = is_script and not any(map(start.get, self.LAUNCHED))
        self.words = own_words()
        nodes = nodes_of_agent(self.words)
        if self.here and nodes > 1:
            # torchrun starts its workers when the agents of all nodes have met
            waits = "waits for the other %d nodes" % (nodes - 1)
            later(lambda: count_children() == 0 and self.say(waits))

    def say(self, what):
        cure = "start it with srun: %s" % srun_line(self.words, self.by_exec)
        say("RC309", "%s, but the script of a job of %d tasks runs once; %s" % (what, self.tasks, cure))

    def enter(self, told, caller):
        """As Task.enter."""
        if told is None:
            return lambda error: isinstance(error, ValueError) and self.say("finds no rank of its own")
        if told.world < 2 or told.rank > 0:
            return None
        waits = "waits for %d others as rank 0 of %d" % (told.world - 1, told.world)
        timer = later(lambda: count_children() < told.world - 1 and self.say(waits))
        return lambda error: timer.cancel()


def wrap(function, enter):
    """Calls enter() before a function of torch, and what that returns with the function's exception or None."""
    import functools  # torch has imported it

    @functools.wraps(function)
    def wrapped(*args, **kwargs):
        leave = quietly(enter, *args, **kwargs) or (lambda error: None)
        try:
            result = function(*args, **kwargs)
        except BaseException as failure:
            quietly(leave, failure)
            raise
        quietly(leave, None)
        return result

    wrapped.rollcall_watch = True
    return wrapped


def wrap_process_groups(watch, c10d, device):
    import inspect

    original = c10d.init_process_group
    signature = inspect.signature(original)

    def enter(*args, **kwargs):
        call = signature.bind(*args, **kwargs).arguments
        backend = str(call.get("backend")).lower()
        if c10d.is_initialized() or backend == "fake":
            return None
        if device:
            quietly(device.join, call.get("device_id"), backend)
        # below quietly() and the wrapper
        caller = sys._getframe(3).f_globals.get("__name__", "?")
        try:
            told = None if backend == "mpi" else Told(call, caller)
        except (LookupError, ValueError, TypeError):
            told = None
        return watch.enter(told, caller)

    replace(original, wrap(original, enter))


def replace(original, wrapped):
    """In all modules of torch that have it."""
    for name, module in list(sys.modules.items()):
        if name.startswith("torch.") and getattr(module, "__dict__", {}).get(original.__name__) is original:
            setattr(module, original.__name__, wrapped)


def wrap_ends(c10d, failure):
    """What a failed process may hang in, and the exit of its interpreter."""
    ending = Ending(failure, say)
    sys.excepthook = failure.hook
    failure.at_exit = ending.at_exit
    for name in CALLS:
        original = getattr(c10d, name, None)
        if original is not None:
            # below quietly() and the wrapper
            replace(original, wrap(original, lambda *args, name=name, **named: ending.enter(name, sys._getframe(3))))


def install_watch():
    words = os.environ.get("ROLLCALL_IDENTITY", "").split()
    c10d = sys.modules.get("torch.distributed.distributed_c10d")
    if not words or {"off", "watch=off"} & set(os.environ.get("ROLLCALL", "").split(",")):
        return
    pairs = (word.partition("=")[::2] for word in words)
    identity = {name: int(value) if value.isdecimal() else value for name, value in pairs}
    watch = Script(identity) if "script" in identity else Task(identity)
    if watch.here and hasattr(c10d, "init_process_group") and not hasattr(c10d.init_process_group, "rollcall_watch"):
        cuda = sys.modules.get("torch.cuda")
        device = Device(identity, c10d, cuda, say) if hasattr(cuda, "set_device") else None
        wrap_process_groups(watch, c10d, device)
        if "script" not in identity:
            wrap_ends(c10d, Failure(identity, c10d))
        if device:
            cuda.set_device = wrap(cuda.set_device, device.choose)


def install():
    """torch's entry point; a script may call it as well, and twice does no harm."""
    quietly(install_watch)
