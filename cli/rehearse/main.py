# SPDX-License-Identifier: BSD-3-Clause
"""main.py - rollcall rehearse, behind cli/rehearse.c.

    python3 -I main.py ROLLCALL WALL SERIES CATALOGUE [OPTION]... COMMAND [ARG]...

ROLLCALL is the command, WALL rollcall-rehearse. A line of CATALOGUE is a finding: id, level, why, what to change, with
tabs between them. This program stays outside of the wall: it reads data, and runs no word of the script.
"""
import errno
import json
import os
import shutil
import signal
import stat
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), "doctor")]

# pylint: disable=wrong-import-position
from agents import AGENTS
from answers import ANSWERS, other
from checks import check_program
from director import Director, Place
from judge import Judge
from printing import as_json, print_text
from starters import STARTERS

SECONDS = 35  # the wall's own bound is 30
CLEAN, WARNINGS, USAGE, ERRORS, NOT_KNOWN = range(5)
SERIES = {"22.05": (22, 5), "24.11": (24, 11), "26.05": (26, 5)}


class Rehearsal(Director):
    """A director with the rest of the machine that it needs."""

    def __init__(self, folder, series, rollcall):
        super().__init__(folder, series, {**ANSWERS, **STARTERS, **AGENTS})
        self.other = other
        self.rollcall = rollcall
        self.findings = []  # (id, at, text, change)
        self.chatty = True
        self.texts = {}

    def report(self, name, at, text, change=""):
        if (name, at, text, change) not in self.findings:
            self.findings.append((name, at, text, change))

    def inside(self, path):
        """The path of a file as the script sees it."""
        written = os.path.join(self.folder, "files", path.lstrip("/"))
        return written if os.path.exists(written) else path

    def read(self, path):
        """The text of a file as the script sees it. A FIFO would never end."""
        file = os.open(self.inside(path), os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with open(file, encoding="utf-8", errors="replace", newline="") as text:
            if not stat.S_ISREG(os.fstat(file).st_mode):
                raise OSError(errno.EISDIR if stat.S_ISDIR(os.fstat(file).st_mode) else errno.EINVAL, "it is no file")
            return text.read(2 << 20)

    def last_line(self, path):
        """ ": TEXT", of what a job printed last; "" if it printed nothing."""
        try:
            lines = self.read(path).strip().split("\n")
        except OSError:
            lines = [""]
        return ": " + lines[-1][:200] if lines[-1] else ""

    def lines(self, path):
        path = self.scripts.get(path, path)
        if path not in self.texts:
            try:
                self.texts[path] = self.read(path).split("\n")
            except OSError:
                self.texts[path] = []
        return self.texts[path]

    def core(self, place, ddp, environment, words):
        """What rollcall sets for a task with these variables."""
        rows = ["@host=" + place.host] + place.facts + ["%s=%s" % pair for pair in environment.items()]
        recorded = "\0".join(rows).encode("utf-8", "surrogateescape")
        argv = [self.rollcall, "show", "--from", "-", "--json"] + (["--ddp=" + ddp] if ddp else []) + ["--"] + words
        done = subprocess.run(argv, input=recorded + b"\0", stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              timeout=10, check=False)
        try:
            answer = json.loads(done.stdout.decode("utf-8", "replace"))
        except ValueError:
            return {}
        for message in answer.get("messages", ()):
            if message["level"] == "error":
                self.report(message["id"], "", message["text"])
        return answer.get("set", {})


def fail(text):
    sys.stdout.flush()
    sys.stderr.write("rollcall: rehearse: %s\n" % text)
    return USAGE


def read(words):
    """({option: value}, the command), or a text that says what is wrong."""
    options, words = {}, list(words)
    while words and words[0].startswith("-"):
        name, sign, value = words.pop(0).partition("=")
        if name == "--":
            break
        if name == "--slurm":
            value = value if sign else "".join(words[:1])
            words = words if sign else words[1:]
            if value not in SERIES:
                return "--slurm is one of %s" % ", ".join(SERIES)
        elif name not in ("--json",) or sign:
            return "unknown option '%.64s'; see rollcall rehearse --help" % name
        options[name] = value
    return (options, words) if words else "there is no command: rollcall rehearse sbatch job.sh"


def make_names(folder):
    """Files for shells that look for a program before they start it; the hook starts none of them."""
    os.mkdir(os.path.join(folder, "bin"))
    for name in [*ANSWERS, *STARTERS, *AGENTS, "python", "python3", "deepspeed", "ray", "make"]:
        with open(os.path.join(folder, "bin", name), "w", encoding="utf-8") as file:
            os.chmod(file.name, 0o755)


def run(director, wall, command):
    """Runs the command behind the wall. Returns its status, None if it was ended."""
    environment = {name: value for name, value in os.environ.items()
                   if not name.startswith(("SLURM", "PMI", "OMPI_", "ROLLCALL_REHEARSAL"))}
    environment.update(ROLLCALL_REHEARSAL=director.folder, ROLLCALL_REHEARSAL_WHO="p0",
                       ROLLCALL_REHEARSAL_AT="command line", ROLLCALL_REHEARSAL_DEPTH="0")
    output = open(os.path.join(director.folder, "output"), "w+b")
    # a shell starts the command, so that it becomes a stand-in as one of a script does
    argv = [wall, "wall", director.folder, "--", "bash", "-c", 'exec "$@"', "bash", *command]
    process = subprocess.Popen(argv, env=environment, stdin=subprocess.DEVNULL, stdout=output,
                               stderr=subprocess.STDOUT)
    try:
        status = process.wait(SECONDS)
    except (subprocess.TimeoutExpired, KeyboardInterrupt) as error:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(2)
        except subprocess.TimeoutExpired:
            process.kill()
        status = None
        if isinstance(error, KeyboardInterrupt):
            raise
    output.seek(0, os.SEEK_END)
    output.seek(max(0, output.tell() - 4096))
    return status, output.read().decode("utf-8", "replace").strip().split("\n")


def check_programs(director, judge):
    """The doctor's checks of each Python program that would start."""
    def report(name, path, line, what, change):
        director.report(name, "%s:%d" % (os.path.relpath(path), line), what, change)
    for group in judge.groups:
        if not group.reader or not group.reader.program or not group.reader.needs_group():
            continue
        program, nodes = group.reader.program, len(getattr(group.launch, "nodes", ())) or 1
        if group.total > 1:
            check_program(program, nodes, report)


def verdict_of(director, catalogue):
    levels = {catalogue.get(name, ("error",))[0] for name, _, _, _ in director.findings}
    if "error" in levels:
        return "errors", ERRORS
    if director.open_questions():
        return "not everything was known", NOT_KNOWN
    if "warning" in levels:
        return "warnings", WARNINGS
    return "nothing found", CLEAN


def read_notes(director):
    """What the hook has made for the script."""
    with open(os.path.join(director.folder, "notes"), encoding="utf-8", errors="replace") as file:
        rows = [line.rstrip("\n").split("\t") for line in file if line.count("\t") == 2]
    for what, path, at in rows:
        if what == "depth":
            director.mark(at, "what %s starts: scripts that start scripts without end" % path)
    return list(dict.fromkeys((at, "the folder %s does not exist" % path) for what, path, at in rows if what == "folder"))


def close(director, status, output, command):
    """Reports how the script itself ended."""
    for at, text in director.notes + read_notes(director):
        director.report("D614", at, text)
    ended = os.path.join(director.folder, "ended")
    if status is None or os.path.exists(ended):
        director.mark(director.last_at, "what follows: the script was ended after its bound of time or processes")
    elif status and not director.findings and not director.unknown:
        director.report("D614", "", "%s ended with status %d: %s" % (os.path.basename(command[0]), status, output[-1]))
    if not director.processes and not director.agents and not director.findings and not director.unknown:
        director.mark("", "whether anything starts: the command started no program")


def main(arguments):
    rollcall, wall, series, catalogue, *words = arguments
    given = read(words)
    if isinstance(given, str):
        return fail(given)
    options, command = given
    catalogue = {row[0]: row[1:] for row in (line.split("\t") for line in catalogue.split("\n")) if len(row) == 4}
    folder = tempfile.mkdtemp(prefix="rollcall-rehearse-")
    try:
        director = Rehearsal(folder, SERIES.get(options.get("--slurm", series), SERIES["24.11"]), rollcall)
        director.name(Place(None, "login", director.launch("script", "", command)))
        director.start()
        make_names(folder)
        status, output = run(director, wall, command)
        director.close()
        if status == 4 and not director.processes:
            sys.stderr.write("\n".join(output) + "\n")
            return NOT_KNOWN
        judge = Judge(director, director.report)
        judge.run()
        check_programs(director, judge)
        close(director, status, output, command)
        verdict, result = verdict_of(director, catalogue)
        if "--json" in options:
            print(as_json(director, judge.groups, director.findings, catalogue, verdict))
        else:
            print_text(director, judge.groups, director.findings, catalogue, verdict)
        return result
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def interrupt(number, _):
    raise KeyboardInterrupt(number)


def run_main():
    signal.signal(signal.SIGTERM, interrupt)
    signal.signal(signal.SIGHUP, interrupt)
    try:
        sys.stdout.reconfigure(errors="backslashreplace")
        result = main(sys.argv[1:])
        sys.stdout.flush()
    except KeyboardInterrupt as error:
        result = 128 + (error.args[0] if error.args else signal.SIGINT)
    except Exception as error:  # pylint: disable=broad-except
        try:
            what = "" if isinstance(error, OSError) else type(error).__name__ + ": "
            sys.stderr.write("rollcall: rehearse: %s%s\n" % (what, error))
        except OSError:
            pass
        result = USAGE
    return result


STATUS = run_main()
try:
    sys.stdout.flush()
except OSError:
    os._exit(STATUS)  # the interpreter would try it again
sys.exit(STATUS)
