# SPDX-License-Identifier: BSD-3-Clause
"""rollcall_watch_report - what rollcall_watch says: lines on standard error, and messages to srun's server.

What goes wrong in here is passed over (a line with ROLLCALL_DEBUG=1). For Python 3.8 and later.
"""

import os
import sys

PREFIX = "rollcall: "
SERVER = "SLURM_ROLLCALL_SERVER"  # "TOKEN PORT JOB.STEP", as lib/launcher/stamp.h writes it


def is_debugging():
    return os.environ.get("ROLLCALL_DEBUG", "").strip("0") != ""


def printable(text):
    """Nothing but printable ASCII."""
    return "".join(c if " " <= c <= "~" else "?" for c in text)


def write(text):
    """One line, at once, so that lines of several processes do not mix."""
    line = printable(PREFIX + text) + "\n"
    try:
        file = sys.stderr.fileno()
    except Exception:  # none, or a script's own
        if sys.stderr is not None:
            sys.stderr.write(line)
        return
    # what sys.stderr could not write would make Python end with status 120
    os.write(file, line.encode())


def quietly(function, *arguments, **named):
    """Calls a function, and passes over what goes wrong in it."""
    try:
        return function(*arguments, **named)
    except Exception as error:
        try:
            if is_debugging():
                write("watch: %s: %s" % (type(error).__name__, error))
        except Exception:  # a closed standard error
            pass
    return None


def number(variables, name):
    text = variables.get(name, "")
    return int(text) if text.isdecimal() else None


def start_environment():
    """What this program was started with: a script may have changed os.environ since."""
    with open("/proc/self/environ", "rb") as file:
        entries = os.fsdecode(file.read()).split("\0")
    return dict(entry.split("=", 1) for entry in entries if "=" in entry)


class Server:
    """srun's rendezvous server, which waits for this process's task."""

    PATIENCE = 0.05  # seconds that init_process_group may be held up: a server that listens needs a hundredth of that
    FAREWELL = 1  # seconds, at the end of a process
    CONNECT = 2  # seconds, of what is in the background then
    REPLY = 10
    told = False  # by this process, or one that it was forked from

    def __init__(self, identity):
        self.task = identity.get("task")  # None: there is no server
        self.reached = "attend tasks %d %d\n" % (self.task, identity["tasks"]) if "arrivals" in identity else ""

    def enter(self):
        """Before init_process_group, once a process."""
        if self.reached and not self.told:
            Server.told = True
            self.tell(self.reached, self.PATIENCE)

    def tell(self, text, patience):
        """In the background where it takes longer than so many seconds."""
        import threading  # torch has imported all three

        thread = threading.Thread(target=quietly, args=(self.send, text), name="rollcall-watch", daemon=True)
        thread.start()
        thread.join(patience)

    def send(self, text):
        import socket
        import time

        variables = {**os.environ, **start_environment()}
        token, port, step = variables.get(SERVER, "").split()
        here = variables.get("SLURM_JOB_ID"), variables.get("SLURM_STEP_ID")
        if None not in here and step != "%s.%s" % here:  # a step inside the task, which is not watched
            return
        hosts = [variables.get(name) for name in ("SLURM_LAUNCH_NODE_IPADDR", "SLURM_SRUN_COMM_HOST")]
        message = ("rollcall 1 %s %d\n%s" % (token, len(text), text)).encode()
        failure = OSError("srun's server did not listen")
        until = time.monotonic() + self.REPLY
        while any(hosts) and time.monotonic() < until:
            for host in filter(None, hosts):
                try:
                    with socket.create_connection((host.encode(), int(port)), self.CONNECT) as connection:
                        connection.settimeout(self.REPLY)
                        connection.sendall(message)
                        if connection.recv(1):
                            return
                except OSError as error:
                    failure = error
            time.sleep(0.1)
        raise failure


# Exit codes of torchrun's workers that say nothing: 1 of Python, which has told of its exception itself, and the
# signals by which a step is ended.
ENDINGS = (1, -1, -2, -15)


class Failure:
    """The exception that ends this process: srun's server names the first one of the step (RC711)."""

    def __init__(self, identity, c10d):
        self.server = Server(identity) if "task" in identity else None
        self.identity = identity
        self.c10d = c10d
        self.before = sys.excepthook

    def hook(self, kind, error, trace):
        self.before(kind, error, trace)
        if self.is_end(error):
            quietly(self.tell, error)
            quietly(self.at_exit)

    def at_exit(self):
        """After the traceback, before the interpreter's exit: rollcall_watch_ending."""

    def show(self, error):
        """What the hook would print and tell, of an exception that is still on its way."""
        self.before(type(error), error, error.__traceback__)
        self.tell(error)

    @staticmethod
    def is_end(error):
        # a script's own call of the hook, to print something: Python notes first what nobody has caught
        if error is not getattr(sys, "last_value", sys) or hasattr(sys, "ps1"):  # or a line typed at its prompt
            return False
        # Ctrl-C, and what torchrun's agent makes of SIGTERM or USR1
        return not isinstance(error, KeyboardInterrupt) and type(error).__name__ != "SignalException"

    def tell(self, error):
        if self.server is None:
            return
        start = start_environment()
        rank, size = self.who(start)
        killed = False
        text = ": ".join(filter(None, (type(error).__name__, self.line_of(error))))
        if hasattr(error, "get_first_failure"):  # torchrun's, of a worker
            rank, worker = error.get_first_failure()
            if worker.exitcode in ENDINGS:
                return
            killed = worker.exitcode < 0
            text = worker.signal_name() if killed else "exit code %d" % worker.exitcode
        found = {
            "task": self.server.task,
            "rank": rank,
            "size": size,
            "attempt": number(start, "TORCHELASTIC_RESTART_COUNT"),
            "host": start.get("SLURMD_NODENAME", os.uname().nodename)[:64],
            "killed": "yes" if killed else None,
            "error": text[:300],
            "output": self.output()[:512],
        }
        lines = ["%s=%s" % item for item in found.items() if item[1] not in (None, "")]
        self.server.tell("".join(printable(line) + "\n" for line in ["raised=1"] + lines), self.server.FAREWELL)

    def who(self, start):
        """Rank and world size: what torch knows, or what the process was started as."""
        if self.c10d.is_initialized():
            return self.c10d.get_rank(), self.c10d.get_world_size()
        if "TORCHELASTIC_RUN_ID" in start:
            return number(start, "RANK"), number(start, "WORLD_SIZE")
        return self.identity.get("rank"), self.identity.get("size")

    @staticmethod
    def line_of(error):
        """The line that says most: mp.spawn's parent has its child's traceback for a text."""
        lines = [line.strip() for line in str(error).splitlines() if line.strip()] or [""]
        return lines[-1 if type(error).__name__ == "ProcessRaisedException" else 0]

    @staticmethod
    def output():
        path = os.readlink("/proc/self/fd/2")
        return path if os.path.isfile(path) else ""
