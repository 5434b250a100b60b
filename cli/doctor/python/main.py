# SPDX-License-Identifier: BSD-3-Clause
"""main.py - the doctor's reader of scripts and jobs.

    python3 -I main.py SERIES plugin absent|- script PATH|- job PATH|- step task|- [LINE...]

It parses what it is given, and neither imports nor runs any of it. It prints lines of fields between tabs:

    finding ID PATH LINE WHAT CHANGE
    fact NAME TEXT
    fact mpi PATH LINE TYPE                 a launch with srun --mpi=TYPE
    fact ddp PATH LINE OPTIONS              a launch with srun --ddp=OPTIONS

Without a script, job and line it looks at the environment.
"""
import gc
import os
import re
import resource
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

# pylint: disable=wrong-import-position
import environment
import frameworks
import launch as launching
import layout as layouts
import master
import ranks
import script as scripts
from checks import check_program
from job import Job
from program import Programs
from source import Unreadable, text_of
from words import Layout, is_job, is_python, take

SECONDS, MEMORY, DEPTH = 20, 1 << 30, 2000


def emit(*fields):
    # of the surrogates, those that stand for a byte of a path can be written
    clean = [re.sub(r"[\t\r\n\0\ud800-\udc7f\udd00-\udfff]+", " ", str(field)) for field in fields]
    sys.stdout.buffer.write(("\t".join(clean) + "\n").encode("utf-8", "surrogateescape"))


class Report:
    """Prints each finding once."""

    def __init__(self):
        self.known = set()
        self.shows_line = False  # srun's, to be typed instead

    def __call__(self, name, path, line, what, change):
        key = (name, path, line)
        if key not in self.known:
            self.known.add(key)
            self.shows_line = self.shows_line or change.startswith("srun ")
            emit("finding", name, path, line, what, change)

    def unreadable(self, path, error):
        self("D421", path, error.line, "not looked at: %s" % error, "")


def emit_program(program, report):
    """What a program is, and which of its modules could not be read."""
    emit("fact", "script", "%s: %s" % (
        program.main.path, ", ".join(frameworks.names(program)) or "no framework that is known here"))
    for module, error in program.unreadable:
        report("D422", module, error.line, "not looked at: %s" % error, "")


def read_file(path, job):
    """Reads a job script: of bash, or Python with lines of sbatch's."""
    if is_python(path):
        job.read_options(path, text_of(path))
        job.start(["python", path], None, 1)
    else:
        job.read(path)


def read_line(words, job):
    """Reads the line after --: srun, sbatch, or the command itself."""
    name = os.path.basename(words[0])
    if name == "sbatch":
        options, rest = take(words[1:], True)
        job.options.update(options)
        if rest and os.path.isfile(rest[0]):
            given = dict(job.options)
            read_file(rest[0], job)
            job.options.update(given)
        elif rest:
            job.lose(rest[0], 1)
        return
    if name == "salloc":
        options, words = take(words[1:], True)
        job.options.update(options)
    if words:
        job.start(words, None, 1)


def read_job(path, line, job):
    """Reads a job script, a line, both or neither."""
    if path != "-":
        read_file(path, job)
    if line:
        read_line(line, job)


class Steps:
    """The steps of a job, and the layout of the whole job."""

    def __init__(self, job, programs, report):
        self.whole = Layout(job, None)
        self.all = [launching.Step(job, launch, programs, report) for launch in job.commands
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
    if "rollcall" in launch.wrappers:
        given = [word[6:] for word in launch.typed if word.startswith("--ddp=")]
        emit("fact", "ddp", job.path, step.line, *given[-1:])
    elif "ddp" in layout.options and step.srun is not None and not job.has_option:
        step.say("D102", "--ddp, which srun of this machine does not take")
    layouts.check(step, series)


def check_job(job, steps, series, report):
    scripts.check(job, steps, series, report)
    environment.check_job(job, steps.nodes(), report)
    master.check_job(job, steps, report)
    ranks.check_job(job, steps, report)
    for step in steps.all:
        check_step(step, series)


def main(arguments):
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    sys.setrecursionlimit(DEPTH)
    gc.disable()  # trees are not garbage until the end
    found = re.match(r"^(\d+)\.(\d+)", arguments[0])
    series = (int(found.group(1)), int(found.group(2))) if found else None
    script, path, line = arguments[4], arguments[6], arguments[9:]
    report = Report()
    if script == path == "-" and not line:
        environment.check_here(arguments[8] == "task", report)
        return
    try:
        # the obvious first use: rollcall doctor job.sh
        if script != "-" and path == "-" and is_job(script):
            script, path = "-", script
    except Unreadable as error:
        report.unreadable(script, error)
        script = "-"
    programs = Programs(os.path.dirname(path) if path != "-" else "", report)
    programs.given = programs.read(script) if script != "-" else None
    job = Job("command line", arguments[2])
    try:
        read_job(path, line, job)
    except Unreadable as error:
        report.unreadable(path if path != "-" else "command line", error)
    steps = Steps(job, programs, report)
    for program in programs.all():
        emit_program(program, report)
        check_program(program, steps.nodes(program), report)
    check_job(job, steps, series, report)
    for name, why, number in job.lost:
        report("D422", job.path, number, "not looked at: %s, which %s" % (name, why), "")


main(sys.argv[1:])
