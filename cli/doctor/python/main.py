# SPDX-License-Identifier: BSD-3-Clause
"""main.py - the doctor's reader of scripts and jobs.

    python3 -I main.py SERIES plugin default|absent|- script PATH|- job PATH|- [LINE...]

It parses what it is given, and neither imports nor runs any of it. It prints lines of fields between tabs:

    finding ID PATH LINE WHAT CHANGE
    fact NAME TEXT
    fact mpi PATH LINE TYPE                 a launch with srun --mpi=TYPE
    fact ddp PATH LINE OPTIONS              a launch with srun --ddp=OPTIONS
"""
import gc
import os
import re
import resource
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

# pylint: disable=wrong-import-position
import devices
import frameworks
import launch as launching
import layout as layouts
import master
import mixed
import ranks
import script as scripts
from job import Job
from program import Program, Programs
from source import Unreadable, text_of
from words import Layout, is_job, is_python, take

SECONDS, MEMORY, DEPTH = 20, 1 << 30, 2000


def emit(*fields):
    clean = [re.sub(r"[\t\r\n]+", " ", str(field)) for field in fields]
    sys.stdout.buffer.write(("\t".join(clean) + "\n").encode("utf-8", "surrogateescape"))


class Report:
    """Prints each finding once."""

    def __init__(self):
        self.known = set()

    def __call__(self, name, path, line, what, change):
        key = (name, path, line)
        if key not in self.known:
            self.known.add(key)
            emit("finding", name, path, line, what, change)


def unreadable(path, error, report):
    report("D421", path, error.line, "not looked at: %s" % error, "")


def emit_program(program, report):
    """What a program is, and which of its modules could not be read."""
    emit("fact", "script", "%s: %s" % (
        program.main.path, ", ".join(frameworks.names(program)) or "no framework that is known here"))
    for module, error in program.unreadable:
        report("D422", module, error.line, "not looked at: %s" % error, "")


def check_program(program, nodes, report):
    mixed.check(program, report)
    ranks.check_program(program, report)
    frameworks.removed_arguments(program, report)
    devices.check(program, nodes, report)
    master.check_program(program, nodes, report)


def read_line(words, job):
    """Reads the line after --: srun, sbatch, or the command itself."""
    name = os.path.basename(words[0])
    if name == "sbatch":
        options, rest = take(words[1:], True)
        job.options.update(options)
        if rest and os.path.isfile(rest[0]):
            given = dict(job.options)
            job.read(rest[0])
            job.options.update(given)
        return
    if name == "salloc":
        options, words = take(words[1:], True)
        job.options.update(options)
    if words:
        job.start(words, None, 1)


def read_job(path, line):
    """The job of a job script, a line, or both."""
    job = Job("command line")
    if path != "-":
        if is_python(path):
            job.read_options(path, text_of(path))
            job.start(["python", path], None, 1)
        else:
            job.read(path)
    if line:
        read_line(line, job)
    return job


class Steps:
    """The steps of a job, and the layout of the whole job."""

    def __init__(self, job, programs, report):
        launches = [launching.Launch(command) for command in job.commands]
        self.whole = Layout(job, None)
        self.all = [launching.Step(job, launch, programs, report) for launch in launches
                    if launch.kind and launch.script or launch.kind in ("mpirun", "console", *launching.SERVERS)]

    def nodes(self, program=None):
        """The largest number of nodes of a step, or of a program's; None where it is not known."""
        steps = [step for step in self.all if program is None or step.program is program] or self.all
        return max((step.layout.nodes or 0 for step in steps), default=0) or self.whole.nodes


def check_step(step, series):
    job, launch, layout = step.job, step.launch, step.layout
    title = launch.title() if launch.starts_workers() or launch.kind in launching.SERVERS else ""
    started = ", ".join(part for part in (layout.words(), title) if part) or launch.kind
    emit("fact", "launch", "%s:%d: %s" % (job.path, step.line, started) if job.batch else started)
    for name in ("mpi", "ddp"):
        if name in layout.options and step.srun is not None:
            emit("fact", name, job.path, step.line, layout.options[name])
    if "rollcall" in launch.command.wrappers:
        given = [word[6:] for word in launch.command.typed if word.startswith("--ddp=")]
        emit("fact", "ddp", job.path, step.line, *given[-1:])
    elif "ddp" in layout.options and step.srun is not None and not job.has_option:
        step.say("D102", "--ddp, which srun of this machine does not take")
    layouts.check(step, series)


def check_job(job, steps, series, report):
    scripts.check(job, steps, series, report)
    master.check_job(job, steps, report)
    ranks.check_job(job, steps, report)
    for step in steps.all:
        check_step(step, series)


def say_missing(job, programs, report):
    """The files that the job starts, and that are not here or cannot be parsed."""
    for launch, name in programs.missing:
        what = "is known in the job alone" if "$" in name else "is not here"
        report("D422", job.path, launch.command.line, "not looked at: %s, which %s" % (name, what), "")
    known = {launch.command.line for launch, _ in programs.missing}
    for name, why, number in job.lost:
        if number not in known:
            report("D422", job.path, number, "not looked at: %s, which %s" % (name, why), "")
    for path, error in programs.broken.items():
        unreadable(path, error, report)


def read_given(path, report):
    """The program of a file that the user named, or None."""
    try:
        return Program(path)
    except Unreadable as error:
        unreadable(path, error, report)
        return None


def main(arguments):
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    sys.setrecursionlimit(DEPTH)
    gc.disable()  # trees are not garbage until the end
    found = re.match(r"^(\d+)\.(\d+)", arguments[0])
    series = (int(found.group(1)), int(found.group(2))) if found else None
    script, path, line = arguments[4], arguments[6], arguments[7:]
    report = Report()
    job = steps = given = None
    try:
        # the obvious first use: rollcall doctor job.sh
        if script != "-" and path == "-" and is_job(script):
            script, path = "-", script
    except Unreadable as error:
        unreadable(script, error, report)
        script = "-"
    if script != "-":
        given = read_given(script, report)
    programs = Programs(given, os.path.dirname(path) if path != "-" else "")
    if path != "-" or line:
        try:
            job = read_job(path, line)
            job.has_default, job.has_option = arguments[2] == "default", arguments[2] != "absent"
            steps = Steps(job, programs, report)
        except Unreadable as error:
            unreadable(path if path != "-" else "command line", error, report)
    for program in programs.all():
        emit_program(program, report)
        check_program(program, steps.nodes(program) if steps else None, report)
    if steps:
        check_job(job, steps, series, report)
        say_missing(job, programs, report)


main(sys.argv[1:])
