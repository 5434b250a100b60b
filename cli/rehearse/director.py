# SPDX-License-Identifier: BSD-3-Clause
"""director.py - answers the stand-ins of a rehearsal, and remembers what each process was started with.

A stand-in connects, says what it was started as (Request) and does what it is told (Reply). Frames have a length of
four bytes, little-endian; the fields of a request lie between zero bytes: libexec/rehearse/standin.c.
"""
import os
import re
import socket
import struct
import threading

LARGEST = 8 << 20  # bytes of a frame
MARK = re.compile("\ue000(\\d+)\ue001")


def text_of(raw):
    return raw.decode("utf-8", "surrogateescape")


def bytes_of(text):
    return str(text).encode("utf-8", "surrogateescape")


class Place:
    """Where a process is: on which node, in which task of which launch."""

    def __init__(self, job, host, launch=None, **more):
        self.job = job  # allocation.Allocation, or None outside of a job
        self.host = host
        self.launch = launch
        self.task = more.get("task")
        self.node = more.get("node", 0)  # index in the launch
        self.ddp = more.get("ddp")  # the options of rollcall exec or srun --ddp, "" if there are none
        self.agent = more.get("agent")  # of a worker
        self.container = more.get("container", False)
        self.facts = []  # what a launcher's server says, as `rollcall show --from` reads it

    def changed(self, **more):
        """The same place, but for these."""
        other = Place.__new__(Place)
        other.__dict__.update(self.__dict__, **more)
        return other


class Launch:
    """One srun, mpirun or ssh, or the script itself, with the processes that it came to."""

    def __init__(self, kind, at, words, place=None, step=None):
        self.kind = kind
        self.at = at
        self.words = words
        self.place = place  # of the starter
        self.step = step
        self.skipped = 0  # processes that were counted, not rehearsed


class Process:
    """A program that would start."""

    def __init__(self, place, request):
        self.place = place
        self.argv = request.argv
        self.environment = request.environment
        self.cwd = request.cwd
        self.at = request.at
        self.parallel = request.depth


class Request:
    def __init__(self, raw, conversation):
        fields = raw.split(b"\0")
        words = iter(map(text_of, fields))
        if next(words) != "1":
            raise ValueError("another protocol")
        self.who, self.at, depth, self.cwd, self.path, piped = (next(words) for _ in range(6))
        self.argv = [next(words) for _ in range(int(next(words)))]
        pairs = [next(words) for _ in range(int(next(words)))]
        self.environment = dict(pair.split("=", 1) for pair in pairs if "=" in pair)
        self.depth = int(depth or 0)
        self.piped = piped == "1"
        self.name = os.path.basename(self.argv[0] if self.argv else self.path)
        self.reply = conversation


class Reply:
    """The conversation with one stand-in."""

    def __init__(self, connection, director):
        self.connection = connection
        self.director = director

    def receive(self):
        size = struct.unpack("<I", self.exactly(4))[0]
        if size > LARGEST:
            raise ValueError("a frame of %d bytes" % size)
        return self.exactly(size)

    def exactly(self, size):
        data = b""
        while len(data) < size:
            part = self.connection.recv(min(size - len(data), 1 << 16))
            if not part:
                raise EOFError
            data += part
        return data

    def send(self, verb, data=b""):
        self.connection.sendall(struct.pack("<I", len(data) + 1) + verb + data)

    def out(self, text):
        self.send(b"o", bytes_of(text))

    def error(self, text):
        self.send(b"e", bytes_of(text))

    def stdin(self):
        self.send(b"i")
        return text_of(self.receive())

    def run(self, children):
        """Starts (place, cwd, argv, environment) each, some at a time. Returns the largest status."""
        is_many = len(children) > 1
        for place, cwd, argv, environment in children:
            fields = [self.director.name(place), "1" if is_many else "0", cwd, len(argv), *argv, len(environment)]
            fields += ["%s=%s" % pair for pair in environment.items()]
            self.send(b"r", b"\0".join(map(bytes_of, fields)) + b"\0")
        if is_many:
            self.send(b"p")
        return max([int(self.receive().split()[1]) for _ in children], default=0)

    def exit(self, status):
        self.send(b"x", b"%d" % status)


class Director:
    def __init__(self, folder, series, programs):
        self.folder = folder
        self.series = series
        self.programs = programs  # name: function(director, request, place)
        self.other = None  # for a program that is none of these
        self.lock = threading.RLock()
        self.places = {}
        self.launches = []
        self.processes = []
        self.agents = []
        self.unknown = []  # (at, text)
        self.notes = []  # (at, text): what Slurm would refuse or ignore
        self.jobs = []
        self.scripts = {}  # what a script is called where it stands: its path
        self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.listener.bind(os.path.join(folder, "socket"))
        self.listener.listen(128)
        self.closed = False
        self.last_at = ""  # where the script was last

    def name(self, place):
        with self.lock:
            token = "p%d" % len(self.places)
            self.places[token] = place
        return token

    def launch(self, *fields):
        launch = Launch(*fields)
        with self.lock:
            self.launches.append(launch)
        return launch

    def mark(self, at, text):
        """The text of an unknown value, which remembers where it came from."""
        with self.lock:
            self.unknown.append((at, text))
            return "\ue000%d\ue001" % (len(self.unknown) - 1)

    def open_questions(self):
        """What is not known, but for ports: a port that is the same for all is as good as a known one."""
        ports = [process.environment.get("MASTER_PORT", "") for process in self.processes]
        ports += [agent.endpoint.rpartition(":")[2] for agent in self.agents]
        alike = {int(found.group(1)) for found in map(MARK.match, ports) if found}
        return list(dict.fromkeys(row for index, row in enumerate(self.unknown) if index not in alike))

    def note(self, at, text):
        with self.lock:
            if (at, text) not in self.notes:
                self.notes.append((at, text))

    def record(self, place, request):
        with self.lock:
            self.processes.append(Process(place, request))

    def start(self):
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while not self.closed:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.converse, args=(connection,), daemon=True).start()

    def converse(self, connection):
        reply = Reply(connection, self)
        try:
            request = Request(reply.receive(), reply)
        except (EOFError, OSError, StopIteration, ValueError):
            connection.close()
            return
        self.last_at = request.at
        place = self.places.get(request.who) or self.places["p0"]
        try:
            answer = self.programs.get(request.name, self.other)
            reply.exit(answer(self, request, place) or 0)
        except EOFError:  # the stand-in was ended
            pass
        except Exception as error:  # pylint: disable=broad-except
            # one command that is not understood must not end the rehearsal
            self.mark(request.at, "%s: %s: %s" % (request.name, type(error).__name__, error))
        finally:
            connection.close()

    def close(self):
        self.closed = True
        self.listener.close()
