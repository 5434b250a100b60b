# SPDX-License-Identifier: BSD-3-Clause
"""main.py - `python3 -I main.py SERIES script PATH|- job PATH|- [LINE...]`: the doctor's reader of scripts and jobs.

It parses what it is given, and neither imports nor runs any of it. It prints lines of fields between tabs:

    finding ID PATH LINE WHAT CHANGE
    fact NAME TEXT
    fact mpi PATH LINE TYPE                 a launch with srun --mpi=TYPE
    fact ddp PATH LINE OPTIONS              a launch with srun --ddp=OPTIONS
    fact openmpi PATH LINE TYPE VERSION     a launch of an MPI program
"""
import gc
import os
import re
import resource
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

# pylint: disable=wrong-import-position
import agree
import devices
import launch as launching
import master
import mixed
import openmpi
import ranks
import shell
from jobline import Job
from options import Layout, take
from program import Program, frameworks
from source import Unreadable

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
    report("D421", path, error.line, "this cannot be parsed: %s" % error, "")


def read_program(path, report):
    try:
        program = Program(path)
    except Unreadable as error:
        unreadable(path, error, report)
        return None
    emit("fact", "script", "%s: %s" % (path, ", ".join(frameworks(program)) or "no framework that is known here"))
    for module, error in program.unreadable:
        emit("fact", "script", "%s: cannot be parsed (%s), and is left out" % (module, error))
    return program


def check_program(program, nodes, report):
    for check in (mixed, ranks):
        check.check(program, report)
    for check in (devices, master):
        check.check(program, nodes, report)


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


class Steps:
    """The steps of a job: (launch, layout) of each program, and the layout of the whole job."""

    def __init__(self, job):
        launches = [launching.Launch(command) for command in job.commands]
        self.launches = [launch for launch in launches if launch.kind and launch.script or launch.kind == "mpirun"]
        self.whole = Layout(job, None)
        self.steps = [(launch, Layout(job, launch.command.srun)) for launch in self.launches]

    def nodes(self):
        """The largest number of nodes of a step; None where it is not known."""
        return max((layout.nodes or 0 for _, layout in self.steps), default=0) or self.whole.nodes


def check_job(job, steps, program, series, report):
    if job.batch:
        shell.check(job, steps.nodes(), report)
    agree.not_started(job, steps.whole, steps.launches, report)
    for launch, layout in steps.steps:
        title = launch.title() if launch.starts_workers() else ""
        started = ", ".join(part for part in (layout.words(), title) if part)
        emit("fact", "launch", "%s:%d: %s" % (job.path, launch.command.line, started) if job.batch else started)
        for name in ("mpi", "ddp"):
            if name in layout.options and launch.command.srun is not None:
                emit("fact", name, job.path, launch.command.line, layout.options[name])
        agree.itself(layout, launch, job, report)
        agree.devices(layout, launch, job, report)
        launching.check(launch, layout, job, report)
        own = program if program and same(launch.script or "$", program) else None
        agree.cores(layout, launch, job, series, own, report)
        if own:
            found = openmpi.find(own, layout, launch, job)
            if found:
                emit("fact", "openmpi", job.path, launch.command.line, *found)
            for check in (agree.trainer, agree.spawned, agree.idle):
                check(own, layout, launch, job, report)
            agree.default_master(own, layout, launch, report)


def same(name, program):
    """Whether a command's script is the given one, by its name alone: its folder may be another one in the job."""
    return "$" in name or os.path.basename(name) == os.path.basename(program.main.path)


def main(arguments):
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    sys.setrecursionlimit(DEPTH)
    gc.disable()  # trees are not garbage until the end
    found = re.match(r"^(\d+)\.(\d+)", arguments[0])
    series = (int(found.group(1)), int(found.group(2))) if found else None
    script, path, line = arguments[2], arguments[4], arguments[5:]
    report = Report()
    program = read_program(script, report) if script != "-" else None
    job = steps = None
    if path != "-" or line:
        job = Job("command line")
        try:
            if path != "-":
                job.read(path)
            if line:
                read_line(line, job)
            steps = Steps(job)
        except Unreadable as error:
            unreadable(path, error, report)
    if program:
        check_program(program, steps.nodes() if steps else None, report)
    if steps:
        check_job(job, steps, program, series, report)


main(sys.argv[1:])
