# SPDX-License-Identifier: BSD-3-Clause
"""words.py - the words of a job: what a file is, the options of srun and sbatch, and the lines that sbatch reads. No
variable is expanded here, and nothing is run.
"""
import collections
import functools
import os
import re
import subprocess

from shell import split
from source import Unreadable, text_of

SHELLS = ("bash", "sh", "dash", "ksh", "zsh")
DIRECTIVE = re.compile(r"^#(SBATCH|PBS|BSUB|\$ -|FLUX:)", re.M)
SECONDS = 5


def interpreter(text):
    """The program that the file's first line names, without its folder; "" where there is no such line."""
    words = text.split("\n", 1)[0][2:].split() if text.startswith("#!") else []
    names = [os.path.basename(word) for word in words if not word.startswith("-") and "=" not in word]
    return next((name for name in names if name != "env"), "")


def run(words, **more):
    """A program that has ended, or None."""
    try:
        return subprocess.run(words, stdin=subprocess.DEVNULL, timeout=SECONDS, check=False, **more)
    except (OSError, ValueError, subprocess.SubprocessError):
        return None


def bash_refuses(path):
    """(line, reason) where `bash -n` does not take the file, else None. bash runs nothing of it."""
    done = run(["/bin/bash", "--norc", "--noprofile", "-n", "--", path], stdout=subprocess.DEVNULL,
               stderr=subprocess.PIPE, env={})
    said = done.stderr.decode("utf-8", "replace").splitlines() if done and done.returncode else []
    if not said:
        return None
    found = re.search(r": line (\d+): (.*)$", said[0])
    return (int(found.group(1)), found.group(2)) if found else (0, said[0])


@functools.lru_cache(maxsize=None)
def scontrol(*words):
    """What slurmctld answers; "" where it does not."""
    done = run(["scontrol", *words], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return done.stdout.decode("utf-8", "replace") if done else ""


def find_file(names, folders):
    """The path of the first of these files that is in one of the folders, or None. A folder may be None: it is here."""
    paths = [os.path.normpath(os.path.join(folder or "", name)) for folder in folders for name in names]
    return next(filter(os.path.isfile, paths), None)


def is_python(path):
    """Whether a file is Python, else a shell script. Raises Unreadable for other files."""
    text = text_of(path)
    name = interpreter(text)
    if re.match(r"^(python|pypy)[\d.]*$", name) or not name and path.endswith(".py"):
        return True
    if name and name not in SHELLS:
        raise Unreadable("it is for %s, neither Python nor bash" % name, 1)
    if "\0" in text:
        raise Unreadable("it is neither Python nor a shell script")
    return False


def is_job(path):
    """Whether a file is a job script: a shell script, or Python with lines of sbatch's. Raises Unreadable."""
    return not is_python(path) or DIRECTIVE.search(text_of(path)) is not None


def bare(value):
    """A value without the quotes around it."""
    return value.strip("\"'")


SHORT = {"N": "nodes", "n": "ntasks", "c": "cpus-per-task", "G": "gpus", "p": "partition", "w": "nodelist",
         "x": "exclude", "J": "job-name", "o": "output", "e": "error", "t": "time", "m": "distribution", "A": "account",
         "C": "constraint", "D": "chdir", "i": "input", "l": "label", "q": "qos", "O": "overcommit",
         "K": "kill-on-bad-exit", "W": "wait", "B": "extra-node-info", "F": "nodefile", "L": "licenses",
         "M": "clusters", "P": "dependency", "S": "core-spec", "T": "threads", "a": "array", "b": "begin",
         "d": "dependency", "r": "relative"}
SHORT_FLAGS = set("lOusvQHkEXZhVIK")
# Those that take no value, or one behind a = alone.
FLAGS = set("""
    async bcast bell compress consolidate-segments container-entrypoint container-mount-home container-readonly
    container-remap-root container-writable contiguous ddp disable-status exact exclusive external external-launcher
    get-user-env help hold ignore-pbs immediate interactive kill-command kill-on-bad-exit label multi-prog nice
    no-allocate no-bell no-container-entrypoint no-container-mount-home no-container-remap-root no-kill no-requeue
    no-shell oom-kill-step overcommit overlap oversubscribe parsable preserve-env propagate pty quiet
    quit-on-interrupt reboot requeue resv-ports send-libs share spread-job spread-segments stepmgr test-only
    unbuffered usage use-min-nodes verbose version wait-for-children whole x11
""".split())
# Those that take a value; of wait see take().
NAMES = set("""
    accel-bind account acctg-freq array batch bb bbf begin chdir cluster cluster-constraint clusters comment
    constraint container container-id core-spec cores-per-socket cpu-bind cpu-freq cpu_bind cpus-per-gpu
    cpus-per-task deadline delay-boot dependency distribution epilog error exclude export export-file extra
    extra-node-info gid gpu-bind gpu-freq gpu_bind gpus gpus-per-node gpus-per-socket gpus-per-task gres gres-flags
    het-group het-job hint input job-name jobid kill-on-invalid-dep licenses mail-type mail-user mcs-label mem
    mem-bind mem-per-cpu mem-per-gpu mem_bind mincores mincpus minsockets minthreads mpi msg-timeout network
    nodefile nodelist nodes ntasks ntasks-per-board ntasks-per-core ntasks-per-gpu ntasks-per-node ntasks-per-socket
    ntasks-per-tres open-mode output pack-group partition power prefer priority profile prolog qos relative
    reservation segment signal slurmd-debug sockets-per-node switches task-epilog task-prolog thread-spec threads
    threads-per-core time time-min tmp treewidth tres-bind tres-per-task uid umask wait wait-all-nodes wckey workdir
    wrap
""".split())
KNOWN = NAMES | FLAGS
NUMBER = re.compile(r"^[0-9]{1,9}$")
ALIASES = {"tasks-per-node": "ntasks-per-node"}


def whole_name(name):
    """The option that an abbreviation means, as getopt reads it; the name itself where it is none."""
    name = ALIASES.get(name, name)
    found = [known for known in KNOWN if known.startswith(name)] if name and name not in KNOWN else []
    return found[0] if len(found) == 1 else name


class Options(dict):
    """Long names of Slurm's options with their values; "" for a flag."""

    def number(self, name):
        """The option as a number, or None; --nodes=2-4 is none."""
        return int(self[name]) if NUMBER.match(self.get(name, "")) else None


def read_option(word):
    """(name, value) of a word that begins with -; the value is None where it may be the next word."""
    if word.startswith("--"):
        name, sign, value = word[2:].partition("=")
        name = whole_name(name)
        return name, value if sign or name in FLAGS else None
    letter, value = word[1], word[2:]
    name = SHORT.get(letter, letter)
    if letter in SHORT_FLAGS:
        return name, value
    return name, value.lstrip("=") if value else None


def take(words, until_command):
    """Reads options off a list of words; returns them and what is left."""
    options, position = Options(), 0
    while position < len(words):
        word = words[position]
        is_option = word.startswith("-") and word not in ("-", "--")
        if word == "--" or until_command and not is_option:
            break
        position += 1
        if not is_option:
            continue
        name, value = read_option(word)
        following = words[position:position + 1] if value is None else []
        is_next = following and not (word.startswith("--") and following[0].startswith("-"))
        if is_next and (name != "wait" or NUMBER.match(following[0])):  # srun's has seconds, and sbatch's none
            value = following[0]
            position += 1
        options[name] = value or ""
    return options, words[position + (words[position:position + 1] == ["--"]):]


def last_number(value):
    """4 of "4", "gpu:4", "gpu:a100:4" and "gpu:4(S:0-1)"; None where there is none."""
    number = value.split("(")[0].split(":")[-1]
    return int(number) if NUMBER.match(number) else None


def gpus_per_node(options):
    gres = [part for part in options.get("gres", "").split(",") if part.startswith("gpu")]  # others may be beside them
    parts = options["gpus-per-node"].split(",") if "gpus-per-node" in options else gres
    if parts:
        numbers = [1 if part == "gpu" else last_number(part) for part in parts]
        return None if None in numbers else sum(numbers)
    whole, nodes = last_number(options.get("gpus", "")), options.number("nodes")
    return whole // nodes if whole is not None and nodes and whole % nodes == 0 else None


def counted(number, thing):
    """"1 node", "2 nodes"."""
    return "%d %s%s" % (number, thing, "s" if number > 1 else "")


class Layout:
    """The tasks of a step: a job's options below those of its srun. What is not known is None."""

    def __init__(self, job, srun):
        self.options = Options(job.component(srun))
        self.options.update((name, job.expand_word(value)) for name, value in (srun or {}).items())
        if srun and srun.number("ntasks") == 1 and "ntasks-per-node" not in srun:
            self.options.pop("ntasks-per-node", None)
        self.nodes = self.options.number("nodes")
        self.ntasks = self.options.number("ntasks")
        self.gpus_per_node = gpus_per_node(self.options)
        self.gpus_per_task = last_number(self.options.get("gpus-per-task", ""))
        self.tasks_per_node = self.tasks_of_node()
        self.complete()

    def tasks_of_node(self):
        """The tasks of each node, as far as one or two options say."""
        options = self.options
        given = options.number("ntasks-per-node")
        if given is not None:
            return given
        if "ntasks-per-gpu" in options and self.gpus_per_node:
            each = options.number("ntasks-per-gpu")
            return each * self.gpus_per_node if each else None
        if self.ntasks and self.nodes:
            return self.ntasks // self.nodes if self.ntasks % self.nodes == 0 else None
        is_default = "nodes" in options and not {"ntasks", "ntasks-per-gpu", "exclusive"} & set(options)
        return 1 if is_default else None

    def complete(self):
        """Numbers that follow from the others."""
        if self.nodes is None and self.ntasks and self.tasks_per_node and self.ntasks % self.tasks_per_node == 0:
            self.nodes = self.ntasks // self.tasks_per_node
        if self.nodes is None and self.ntasks == 1:
            self.nodes = 1
            self.tasks_per_node = 1
        if self.ntasks is None and self.nodes and self.tasks_per_node:
            self.ntasks = self.nodes * self.tasks_per_node
        # Slurm gives each task its own
        if self.gpus_per_node is None and self.gpus_per_task and self.tasks_per_node:
            self.gpus_per_node = self.gpus_per_task * self.tasks_per_node

    def words(self):
        parts = []
        if self.nodes:
            parts.append(counted(self.nodes, "node"))
        if self.tasks_per_node:
            parts.append(counted(self.tasks_per_node, "task") + " a node")
        elif self.ntasks:
            parts.append("%d tasks" % self.ntasks)
        if self.gpus_per_node:
            parts.append(counted(self.gpus_per_node, "GPU") + " a node")
        return ", ".join(parts)


SIZES = {"nodes", "ntasks", "ntasks-per-node", "gpus", "gpus-per-node", "gpus-per-task", "gres", "cpus-per-task"}
# a comment may tell the reader to type sbatch
LOOSE = re.compile(r"^\s*#(?:\s*SBATCH|sbatch|Sbatch)\b(.*)$")


# A line that looks like one of sbatch's: its options, why sbatch does not read it ("" if it does), and the component of
# a heterogeneous job, from 0 on.
Directive = collections.namedtuple("Directive", "line options ignored component")


def read_directives(text, first, comments):
    """The directives of a script, in their order. `comments` are its comments' lines: none of a here-document."""
    found, command, component = [], 0, 0
    for number, line in enumerate(text.split("\n"), first):
        loose = LOOSE.match(line)
        if loose and number in comments:
            options, rest = take(split(loose.group(1)), False)
            ignored = ""
            if not line.startswith("#SBATCH"):
                ignored = "sbatch reads only lines that begin with #SBATCH"
            elif command:
                ignored = "line %d is a command, and sbatch reads no further" % command
            if options and loose.group(1)[:1] in (" ", "\t") and not (ignored and rest):
                found.append(Directive(number, options, ignored, component))
            component += not ignored and loose.group(1).strip() in ("hetjob", "packjob")
        elif not command and line.strip() and not line.lstrip().startswith("#"):
            command = number
    return found
