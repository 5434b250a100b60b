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
    CONNECT = 2  # seconds, of what is in the background then
    REPLY = 10
    told = False  # by this process, or one that it was forked from

    def __init__(self, identity):
        self.text = "reached=%d %d\n" % (identity["task"], identity["tasks"]) if "task" in identity else ""

    def enter(self):
        """Before init_process_group, once a process; in the background where it takes longer than PATIENCE."""
        if self.told or not self.text:
            return
        import threading  # torch has imported all three

        Server.told = True
        thread = threading.Thread(target=quietly, args=(self.send,), name="rollcall-watch", daemon=True)
        thread.start()
        thread.join(self.PATIENCE)

    def send(self):
        import socket
        import time

        variables = {**os.environ, **start_environment()}
        token, port, step = variables.get(SERVER, "").split()
        here = variables.get("SLURM_JOB_ID"), variables.get("SLURM_STEP_ID")
        if None not in here and step != "%s.%s" % here:  # a step inside the task, which is not watched
            return
        hosts = [variables.get(name) for name in ("SLURM_LAUNCH_NODE_IPADDR", "SLURM_SRUN_COMM_HOST")]
        message = ("rollcall 1 %s %d\n%s" % (token, len(self.text), self.text)).encode()
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
