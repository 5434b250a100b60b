# SPDX-License-Identifier: BSD-3-Clause
"""programs.py - which names a Python program that would start reads, and so what it takes itself for.

Reads it as `rollcall doctor` does (cli/doctor/python), and never runs it.
"""
import os

from program import Program
from ranks import INIT, is_env, starts_workers
from source import UNKNOWN, Unreadable, literal

RANKS = ("RANK", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "MPI_RANK", "PMI_ID")
SIZES = ("WORLD_SIZE", "SLURM_NTASKS", "SLURM_NPROCS", "SLURM_STEP_NUM_TASKS", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE")
LOCALS = ("LOCAL_RANK", "SLURM_LOCALID", "OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID")
FIELDS = {"rank": RANKS, "size": SIZES, "local": LOCALS, "addr": ("MASTER_ADDR",), "port": ("MASTER_PORT",)}
LIGHTNING = ("lightning", "pytorch_lightning", "lightning_fabric")
# find the ranks of their processes by themselves
OWN = ("mpi4py", "horovod", "submitit", "dask", "ray", "idr_torch", "hostlist", "jax", "tensorflow", "deepspeed")


def script_of(argv):
    """(the words from a Python script on, or a module's name after -m, or code after -c)."""
    words = list(argv[1:])
    while words and words[0].startswith("-") and words[0] not in ("-m", "-c", "-"):
        if words.pop(0) in ("-W", "-X") and words:
            words.pop(0)
    return words


class Reader:
    """One program, for the directory and the words that it would start with."""

    def __init__(self, path, title):
        self.title = title
        self.error = None
        self.program = None
        try:
            if path:
                self.program = Program(path)
        except Unreadable as error:
            self.error = error
        if self.program:
            self.read()

    def read(self):
        program = self.program
        self.own = program.imports_any(*OWN)
        self.lightning = program.imports_any(*LIGHTNING)
        self.spawns = starts_workers(program)
        self.groups = list(program.calls(*INIT))
        self.inits = [call for source, call in self.groups if is_env(source, program, call)]
        self.names = {name for names in FIELDS.values() for name in names if program.reads(name)}
        if self.inits and not self.spawns:
            self.names |= {"RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"}
        self.sets, self.defaults = {}, {}
        for source in program.sources:
            for setting in source.settings:
                self.sets[setting.name] = self.copied(source, setting.value)
            for call in source.calls:
                if call.name == "os.environ.setdefault" and len(call.node.args) == 2:
                    name = literal(call.node.args[0])
                    self.defaults[name] = self.copied(source, call.node.args[1])

    def copied(self, source, node):
        """The name that a value copies, ("=", text) for a constant, None for anything else."""
        found = self.program.values(source, node)
        if len(found) != 1:
            return None
        node = found[0]
        while getattr(getattr(node, "func", None), "id", "") in ("str", "int") and len(node.args) == 1:
            node = node.args[0]
        name = source.variable(node)
        if isinstance(name, str):
            return name
        value = literal(node)
        return None if value is UNKNOWN else ("=", str(value))

    def value(self, name, environment):
        """What the program finds under a name: text, "" if it is not set, None if that is not known."""
        for rows, certain in ((self.sets, True), (self.defaults, False)):
            if name in rows and (certain or name not in environment):
                source = rows[name]
                if source is None:
                    return None
                return source[1] if isinstance(source, tuple) else environment.get(source, "")
        text = environment.get(name, "")
        return None if "\ue000" in text else text

    def identity(self, environment):
        """{field: value}, of what the program reads; None for a value that is not known."""
        found = {}
        for field, names in FIELDS.items():
            read = [name for name in names if name in self.names or name in self.sets]
            values = [self.value(name, environment) for name in read]
            if read:
                found[field] = next((value for value in values if value != ""), "")
        return found

    def uses_gpus(self):
        return self.program.says("cuda", "nccl", "gpu")

    def needs_group(self):
        """Whether it is one process of many: it has a process group or reads a rank."""
        return bool(self.groups or self.names & {*RANKS, *LOCALS})


class Readers:
    def __init__(self, director):
        self.director = director
        self.known = {}

    def of(self, process):
        """The reader of a process; None if it is no Python."""
        if not process.argv or "python" not in os.path.basename(process.argv[0]):
            return None
        words = script_of(process.argv)
        path, title = self.find(process, words)
        key = path or (process.cwd, title)
        if key not in self.known:
            self.known[key] = Reader(path, title)
        return self.known[key]

    def find(self, process, words):
        if words[:1] == ["-c"] and len(words) > 1:
            path = os.path.join(self.director.folder, "code%d.py" % abs(hash(words[1])))
            with open(path, "w", encoding="utf-8", errors="replace") as file:
                file.write(words[1])
            return path, "-c"
        if not words or words[0] == "-":
            return None, "standard input"
        names, title = [words[0]], words[0]
        if words[0] == "-m" and len(words) > 1:
            stem, title = words[1].replace(".", os.sep), "-m " + words[1]
            names = [stem + ".py", os.path.join(stem, "__main__.py")]
        for folder in (process.cwd, os.getcwd()):
            for name in names:
                path = self.director.inside(os.path.normpath(os.path.join(folder, name)))
                if os.path.isfile(path):
                    return path, title
        return None, title
