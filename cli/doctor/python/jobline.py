# SPDX-License-Identifier: BSD-3-Clause
"""jobline.py - an srun or sbatch line, and a job script: which options Slurm gets, and which commands run.

Nothing is run, nothing is expanded but variables that the script itself sets to plain values and those that
Slurm will set from the job's own options.
"""
import os
import re

from lines import logical_lines, split, statements
from options import Options, gpus_per_node, take
from source import LARGEST, Unreadable

WRAPPERS = {"env", "time", "exec", "nohup", "stdbuf", "numactl", "taskset", "nsys", "ncu", "bash", "sh", "apptainer",
            "singularity", "rollcall", "command", "nice", "timeout", "conda", "uv", "poetry", "dlprof", "shifter",
            "podman", "podman-hpc", "ch-run", "catchsegv", "/bin/bash", "/usr/bin/env"}
VALUE = r"(?:\"[^\"]*\"|'[^']*'|\$\([^)]*(?:\([^)]*\)[^)]*)*\)|`[^`]*`|[^\s\"'`])*"
ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)=(" + VALUE + ")")
BARE = re.compile(r"^\$(?:\w+|\{\w+(?::?[-=][^{}]*)?\})$")
ADDITION = re.compile(r"^(?:export\s+)?([A-Za-z_]\w*)\+=(" + VALUE + r")\s*$")
ASSIGNMENTS = re.compile(r"^(?:[A-Za-z_]\w*=" + VALUE + r"\s*)+$")


class Command:
    """One command that a line starts: its words, the srun options before it, and where it stands."""

    def __init__(self, words, srun, line):
        self.words = words
        self.srun = srun  # Options, or None where no srun starts it
        self.line = line
        self.variables = {}


class Job:
    """What is known of a job: its options, variables and commands. `path` is where findings point."""

    def __init__(self, path):
        self.path = path
        self.options = Options()
        self.lines = []     # (text, number): logical lines of the script
        self.exports = []   # (name, value as written, line)
        self.commands = []
        self.variables = {}
        self.doubtful = set()  # variables that are set in a branch or loop
        self.around = []       # the conditions that the line read stands in
        self.batch = False
        self.sruns = False
        self.first = 1

    def read(self, path):
        """A job script."""
        try:
            if os.path.getsize(path) > LARGEST:
                raise Unreadable("larger than %d bytes" % LARGEST)
            with open(path, "rb") as file:
                text = file.read().decode("utf-8", "replace")
        except OSError as error:
            raise Unreadable(error.strerror) from None
        self.path = path
        self.batch = True
        for line, number in logical_lines(text):
            if line.startswith("#SBATCH"):
                options, _ = take(split(line[len("#SBATCH"):]), False)
                for name, value in options.items():
                    self.options.setdefault(name, value)
                continue
            self.lines.append((line, number))
            self.statement(line, number)

    def statement(self, line, number):
        test = ""
        for part in statements(line):
            part = self.conditions(part)
            added = ADDITION.match(part)
            if re.match(r"^(export|declare\s+-x|readonly)\s", part) or ASSIGNMENTS.match(part):
                for name, value in ASSIGNMENT.findall(part):
                    self.assign(name, value, number, test)
            elif added:
                self.add(added.group(1), added.group(2), test)
            elif re.match(r"^(\[|test\s)", part):
                test = part
            elif part:
                words = split(part)
                if words:
                    self.start(words, None, number)

    def conditions(self, part):
        """Keeps track of if, case and loops. Returns the command without `then` and the like."""
        while True:
            word, _, rest = part.partition(" ")
            if word in ("if", "case", "for", "while", "until"):
                self.around.append(part)
                return part
            if word in ("fi", "esac", "done") and self.around:
                self.around.pop()
            elif word == "elif" and self.around:
                self.around[-1] += part
            if word not in ("then", "else", "do", "{"):
                return part
            part = rest.strip()

    def assign(self, name, value, number, test):
        """Reads NAME=value. `test` is the condition before it, such as [ -z "$NAME" ] &&."""
        own = re.compile(r"\$(?:\{%s(?::?[-=]([^{}]*))?\}|%s\b)" % (name, name))
        asked = any(own.search(text) for text in self.around + [test])
        self.exports.append((name, "${%s:-%s}" % (name, value) if asked else value, number))

        def before(match):
            old = self.variables.get(name, match.group(1))
            return match.group(0) if old is None else old.strip("\"'")

        self.variables[name] = own.sub(before, value)
        if self.around or test:
            self.doubtful.add(name)
        else:
            self.doubtful.discard(name)

    def add(self, name, value, test):
        """Reads NAME+=value."""
        if name not in self.variables or self.around or test:
            self.doubtful.add(name)
        self.variables[name] = self.variables.get(name, "").strip("\"'") + value.strip("\"'")

    def start(self, words, srun, number, depth=0):
        """Finds the command that srun, wrappers and `bash -c` run in the end."""
        local = {}
        while words and re.match(r"^[A-Za-z_]\w*=", words[0]):
            name, _, value = words.pop(0).partition("=")
            local[name] = value
        while words and words[0] in ("if", "then", "else", "do", "while", "!", "{", "(", "time", "exec", "eval"):
            words = words[1:]
        if not words or depth > 6:
            return
        if words[0].startswith("$"):
            words = self.expand(words)
            if words and words[0].startswith("$"):
                self.unwrap("", words[1:], srun, number, depth)
                return
            if not words:
                return
        name = os.path.basename(words[0])
        if name == "srun":
            self.sruns = True
            options, rest = take(self.expand(words[1:]), True)
            if rest and rest[0].startswith("$"):  # there may be more options in it
                self.commands.append(Command(rest, options, number))
            else:
                self.start(rest, options, number, depth + 1)
            return
        if name in WRAPPERS or srun is not None and ("wrap" in name or name.endswith(".sh")):
            self.unwrap(name, words[1:], srun, number, depth)
            return
        command = Command(self.expand(words), srun, number)
        command.variables = local
        self.commands.append(command)

    def unwrap(self, name, rest, srun, number, depth):
        if name in ("bash", "sh") and "-c" in rest or name in ("bash", "sh") and any(
                re.match(r"^-[a-z]*c$", word) for word in rest):
            at = next(i for i, word in enumerate(rest) if re.match(r"^-[a-z]*c$", word))
            if at + 1 < len(rest):
                for part in re.split(r"&&|\|\||;|\n", rest[at + 1]):
                    words = split(part)
                    if words:
                        self.start(words, srun, number, depth + 1)
            return
        for at, word in enumerate(rest):
            base = os.path.basename(word)
            if re.match(r"^(python[\d.]*|torchrun|accelerate|deepspeed|composer|srun|bash|sh|rollcall)$", base):
                self.start(rest[at:], srun, number, depth + 1)
                return
        if name in ("bash", "sh") and rest:
            self.commands.append(Command(self.expand([name] + rest), srun, number))

    def expand(self, words):
        """$NAME that the script sets, or that Slurm will set; others stay as they are. A $NAME by itself may be several
        words, but not where a shell is told to run it."""
        expanded = []
        for position, word in enumerate(words):
            text = self.expand_word(word)
            if BARE.match(word) and text != word and not (position and re.match(r"^-[a-z]*c$", words[position - 1])):
                expanded.extend(split(text))
            else:
                expanded.append(text)
        return expanded

    def expand_word(self, word, depth=4):
        def value(match):
            name = match.group(1) or match.group(3)
            if name in self.doubtful:
                return match.group(0)
            if name in self.variables and "`" not in self.variables[name] and "$(" not in self.variables[name]:
                return self.variables[name].strip("\"'")
            known = self.known(name)
            if known is None and match.group(2) is not None and not name.startswith("SLURM_"):
                return match.group(2).strip("\"'")
            return str(known) if known is not None else match.group(0)

        for _ in range(depth):
            new = re.sub(r"\$(?:\{(\w+)(?::?[-=]([^{}]*))?\}|(\w+))", value, word)
            if new == word:
                break
            word = new
        return word

    def known(self, name):
        """The value that Slurm will give a variable, from the job's options."""
        if name in ("SLURM_NNODES", "SLURM_JOB_NUM_NODES"):
            return self.options.number("nodes")
        if name in ("SLURM_NTASKS", "SLURM_NPROCS"):
            return self.options.number("ntasks")
        if name == "SLURM_NTASKS_PER_NODE":
            return self.options.number("ntasks-per-node")
        if name == "SLURM_CPUS_PER_TASK":
            return self.options.number("cpus-per-task")
        if name in ("SLURM_GPUS_ON_NODE", "SLURM_GPUS_PER_NODE"):
            return gpus_per_node(self.options)
        return None
