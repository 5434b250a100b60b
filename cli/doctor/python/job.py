# SPDX-License-Identifier: BSD-3-Clause
"""job.py - an srun or sbatch line, and a job script: which options Slurm gets, and which commands run.

Nothing is run, nothing is expanded but variables that the script itself sets to plain values and those that
Slurm will set from the job's own options.
"""
import os
import re

from launch import Launch
from shell import Reader, split
from source import Unreadable, text_of
from words import SIZES, Options, bare, find_file, gpus_per_node, read_directives, take

DEEPEST = 6  # wrappers in wrappers
MOST_STARTED = 4096  # by others
DEEPEST_VALUE = 4  # variables in the values of variables
SCRIPTS = (".sh", ".bash")
SET_BY_SLURM = {"SLURM_NNODES": "nodes", "SLURM_JOB_NUM_NODES": "nodes", "SLURM_NTASKS": "ntasks",
                "SLURM_NPROCS": "ntasks", "SLURM_NTASKS_PER_NODE": "ntasks-per-node",
                "SLURM_CPUS_PER_TASK": "cpus-per-task"}
WRAPPERS = {"env", "eval", "time", "exec", "nohup", "stdbuf", "numactl", "taskset", "nsys", "ncu", "bash", "sh",
            "apptainer", "singularity", "rollcall", "command", "nice", "timeout", "conda", "uv", "poetry", "dlprof",
            "shifter", "podman", "podman-hpc", "ch-run", "catchsegv"}
BARE = re.compile(r"^\$(?:\w+|\{\w+(?::?[-=][^{}]*)?\})$")
ELEMENTS = re.compile(r"^\$\{(\w+)\[[@*]\]\}$")
# What srun may start besides the training.
HELPERS = {"hostname", "echo", "printf", "date", "env", "printenv", "nvidia-smi", "rocm-smi", "ls", "cp", "mv", "rm",
           "mkdir", "cat", "tar", "rsync", "true", "sleep", "id", "whoami", "uname", "lscpu", "free", "df", "ibstat",
           "ip", "wc", "pwd", "numactl", "taskset", "find", "sbcast", "chmod", "ulimit", "export", "module", "which",
           "sync", "dcgmi", "kill"}
MODES = {"worker", "launcher", "auto", "off"}  # of --ddp
# programs that take the name of another one, and do not start it
STARTS_NONE = HELPERS | MODES | {"type", "scp", "grep", "pip", "pip3", "mamba", "pkill", "killall", "pgrep", "apt-get",
                                 "test"}
PROGRAMS = re.compile(r"^(python[\d.]*|torchrun|accelerate|deepspeed|composer|srun|mpirun|mpiexec|bash|sh|rollcall)$")
SHELL_TEXT = re.compile(r"^-[a-z]*c$")
RUNS = re.compile(r"(?<!\\)`|(?<!\\)\$\((?!\()")
EARLY = re.compile(r"(?<!\\)\$\{?SLURM_\w+\}?")
ARITHMETIC = re.compile(r"\$\(\(([^()]*)\)\)")


def hides(name, words):
    """Whether a program that is not known here starts one that is, such as a profiler of the site's own."""
    if name in STARTS_NONE or PROGRAMS.match(name) or name.startswith(("mpi", "prte", "orte")):
        return False
    return any(PROGRAMS.match(os.path.basename(word)) for word in words[1:])


def is_wrapper(name, words, srun):
    """Whether a program starts another one. In a step, programs of the site's own count, too."""
    return name in WRAPPERS or srun is not None and ("wrap" in name or name.endswith(".sh") or hides(name, words))


def unmarked(text):
    """A text as the shell hands it on, where $ had a backslash."""
    return re.sub(r"\\([$`])", r"\1", text)


def product(found):
    """$((2 * 4)) as a number, else as one word."""
    text = re.sub(r"\s", "", found.group(1))
    if not re.match(r"^\d{1,6}(\*\d{1,6}){0,3}$", text):
        return "$((%s))" % text
    number = 1
    for factor in text.split("*"):
        number *= int(factor)
    return str(number)


class Job:
    """What is known of a job: its options, variables and commands. `path` is where findings point."""

    def __init__(self, path, plugin):
        self.path = path
        self.options = Options()
        self.components = {}  # of a heterogeneous job, but the first: their options by their numbers, as texts
        self.text = []      # lines, as they are
        self.directives = []  # all that look so
        self.given = []     # those of them that sbatch reads
        self.lines = []     # (text, number): logical lines of the script
        self.exports = []   # (name, value as written, line)
        self.commands = []
        self.variables = {}
        self.arrays = {}    # name: words
        self.lost = []      # (what srun starts and nobody has looked at, why, line)
        self.doubtful = set()  # variables that are set in a branch or loop
        self.around = ()       # the conditions that the line read is in
        self.batch = False
        self.at_once = False   # commands run beside each other
        self.inner = []        # (text, number): lines of shell scripts that srun starts, with the number of srun's line
        self.wrappers = []     # of the command that is read
        self.wrapped = ""      # the wrapper as it is written
        self.typed = []        # the command that is read, from srun on where there is one
        self.is_part = False   # it is one of several that an srun starts
        self.functions = {}    # name: commands
        self.document = None   # the here-document of the command that is read
        self.written = {}      # file: its text, of a here-document
        self.started = 0       # commands that others start
        self.submitted = []    # commands of a job script that sbatch reads from its input
        self.function = None   # that is read
        self.folder = None     # that the script has changed to
        self.behind_exec = []     # (srun or mpirun, line) of rollcall exec -- srun ...
        self.has_option = plugin != "absent"  # srun has --ddp, as far as that is known

    def line_of(self, option):
        """The line of the first directive with an option, or None."""
        return next((row.line for row in self.given if option in row.options), None)

    def read(self, path):
        """A job script."""
        for command in self.read_options(path, text_of(path)):
            self.command(command)
        self.commands = self.submitted or self.commands

    def read_options(self, path, text, line=1):
        """What sbatch reads of a script; returns its commands. Of an option that is given twice the last one counts."""
        self.path = path
        self.batch = True
        self.text = self.text or text.split("\n")
        reader = Reader(text, line)
        commands = self.commands_of(reader)
        self.directives = read_directives(text, line, {reader.line_of(start) for start, _ in reader.comments})
        self.given = [row for row in self.directives if not row.ignored]
        for row in self.given:
            component = self.components.setdefault(str(row.component), Options()) if row.component else self.options
            component.update(row.options)
        return commands

    def commands_of(self, reader):
        """What a reader finds; within a substitution an srun alone counts."""
        commands = [command for command in reader.read() if not command.within or command.words[0] == "srun"]
        self.lost += [reader.lost] if reader.lost else []
        self.at_once = self.at_once or reader.has_background
        return commands

    def component(self, srun):
        """The job's options for the tasks of an srun, as far as they are known."""
        group = (srun or {}).get("het-group", "0")
        return self.options if group == "0" or not self.components else self.components.get(group, Options())

    def command(self, command):
        """A command of the job script."""
        self.lines.append((command.text, command.line))
        self.around, self.function = command.around, command.function
        if command.function:
            self.functions.setdefault(command.function, []).append(command)
        if command.document and command.output:
            self.written[os.path.normpath(command.output)] = self.told(command.document)
        self.begin(command, None, command.line, 0)
        for name, adds, value, elements in command.assigned if command.assigns() else ():
            if elements is None:
                self.assign(name, adds, value, command.line, command.test)
            else:
                self.fill(name, adds, elements)

    def told(self, document):
        """The text of a here-document, in which the shell expands variables where its end is not quoted."""
        return document.text if document.is_quoted else unmarked(self.expand_word(document.text))

    def submit(self, options, number):
        """Reads the job script that sbatch has from a here-document. There is one job: of a second one nothing is
        known."""
        document, count = self.document, len(self.commands)
        if document is None or self.given:
            self.lost.append(("the job script", "sbatch reads from its input", number))
            return
        early = None if document.is_quoted else EARLY.search(document.text)
        if early:
            self.lost.append((early.group(), "the shell expands before there is a job: write \\%s" % early.group(),
                              document.line + document.text.count("\n", 0, early.start())))
        for command in self.read_options(self.path, self.told(document), document.line):
            self.command(command)
        self.options.update(options)
        self.submitted = self.commands[count:]

    def assign(self, name, adds, value, number, test):
        """Reads NAME=value or NAME+=value. `test` is the condition before it, such as [ -z "$NAME" ] &&."""
        self.doubt(name, adds and name not in self.variables or test, adds)
        if adds:
            value = "${%s}%s" % (name, bare(value))
        own = re.compile(r"\$(?:\{%s(?::?[-=]([^{}]*))?\}|%s\b)" % (name, name))
        asked = any(own.search(text) for text in self.around + (test,))
        self.exports.append((name, "${%s:-%s}" % (name, value) if asked else value, number))

        def before(match):
            old = self.variables.get(name, match.group(1))
            return match.group(0) if old is None else bare(old)

        self.variables[name] = own.sub(before, value)

    def doubt(self, name, unsure, adds):
        """Keeps track of names whose value is not certain."""
        if self.around or unsure:
            self.doubtful.add(name)
        elif not adds:
            self.doubtful.discard(name)

    def fill(self, name, adds, elements):
        """Reads NAME=(...) or NAME+=(...)."""
        self.doubt(name, adds and name not in self.arrays, adds)
        self.arrays[name] = (self.arrays.get(name, []) if adds else []) + elements

    def begin(self, command, srun, number, depth):
        if command.runs():
            self.document = command.document
            self.start(command.words, srun, number, depth)

    def start(self, words, srun, number, depth=0):
        """Finds the command that srun, wrappers and `bash -c` run in the end."""
        while words and re.match(r"^(time|exec|[A-Za-z_]\w*=.*)$", words[0], re.S):
            words = words[1:]
        words = self.expand(words) if words and words[0].startswith("$") else words
        self.started += depth > 0
        if not words or depth > DEEPEST or self.started > MOST_STARTED:
            self.lost += [(words[0], "is one of too many that start others", number)] if words else []
            return
        if not depth:
            self.typed = words
        name = "" if words[0].startswith("$") else os.path.basename(words[0])
        if name in ("srun", "mpirun", "mpiexec") and "rollcall" in self.wrappers and not any(
                word.startswith("--ddp") or os.path.basename(word) == "rollcall" for word in words):
            self.behind_exec.append((name, number))
        if name == "cd" and len(words) == 2 and srun is None:
            self.folder = None if self.around else self.expand_word(words[1])
        elif name == "srun":
            self.start_srun(words[1:], number, depth)
        elif name in self.functions and srun is not None:
            self.start_function(name, srun, number, depth)
        elif not name or is_wrapper(name, words, srun):
            self.wrappers.append(name)
            self.wrapped = words[0]
            self.unwrap(name, words[1:], srun, number, depth)
            self.wrappers.pop()
        else:
            self.keep(words, srun, number)

    def start_srun(self, words, number, depth):
        """srun A : B starts both, and --het-group=0,1 one program in two components of the job."""
        ends = [at for at, word in enumerate(words) if word == ":"] + [len(words)]
        for place, end in enumerate(ends):
            begin = ends[place - 1] + 1 if place else 0
            part = self.expand([word for word in words[begin:end] if not self.is_harmless(word)])
            self.typed = ["srun"] + part
            options, rest = take(part, True)
            groups = options.get("het-group", str(place)).split(",") if self.components else [None]
            self.is_part = len(ends) + len(groups) > 2
            for group in groups:
                given = Options(options, **{"het-group": group} if group else {})
                if "multi-prog" in options and rest:
                    self.start_each(rest[0], given, number, depth)
                elif rest and rest[0].startswith("$"):  # there may be more options in it
                    self.commands.append(Launch(rest, given, number, self))
                    self.lose(rest[0], number)
                else:
                    self.start(rest, given, number, depth + 1)
        self.is_part = False

    def start_each(self, name, options, number, depth):
        """--multi-prog's file: each line has tasks and what they start. How many of these a node has is not known."""
        text = self.text_named(name)
        commands = Reader(text or "").read()
        if text is None:
            self.lost.append((name, "--multi-prog reads", number))
        for command in commands:
            several = {} if len(commands) == 1 else {"nodes": "", "ntasks": "", "ntasks-per-node": ""}
            self.start(command.words[1:], Options(options, **several), number, depth + 1)

    def start_function(self, name, srun, number, depth):
        """A function of the script that srun starts in a shell of its own, not where it is defined."""
        self.commands = [command for command in self.commands if command.function != name or command.srun is not None]
        for command in self.functions[name]:
            self.begin(command, srun, number, depth + 1)

    def keep(self, words, srun, number):
        options, rest = take(words[1:], True)
        if words[0] == "sbatch" and "wrap" not in options and not rest:
            self.submit(options, number)
        self.commands.append(Launch(self.expand(words), srun, number, self))

    def is_harmless(self, word):
        """Whether a $NAME that a branch alone sets has options of srun, and none that says how many tasks start."""
        found = re.match(r"^\$\{?(\w+)\}?$", word)
        if not found or found.group(1) not in self.doubtful:
            return False
        value = bare(self.variables.get(found.group(1), "$"))
        options, rest = take(split(value), True)
        return "$" not in value and not rest and not set(options) & SIZES

    def lose(self, word, number):
        """Keeps what srun starts, where nobody can say what it is."""
        self.lost.append((word, "is known in the job alone" if "$" in word else "is not here", number))

    def unwrap(self, name, rest, srun, number, depth):
        """Finds what a wrapper starts, from the words after it."""
        is_shell = name in ("bash", "sh")
        option = next((at for at, word in enumerate(rest) if SHELL_TEXT.match(word)), None) if is_shell else None
        program = next((at for at, word in enumerate(rest) if PROGRAMS.match(os.path.basename(word))), None)
        if name == "eval":
            self.start_lines(" ".join(rest), srun, number, depth)
        elif name == "rollcall" and rest[:1] == ["exec"]:
            end = next((at for at, word in enumerate(rest) if at and not word.startswith("-")), len(rest))
            self.start(rest[end:], srun, number, depth + 1)
        elif option is not None:
            self.start_lines(unmarked("".join(rest[option + 1:option + 2])), srun, number, depth)
        elif is_shell and self.document and all(word.startswith("-") for word in rest):
            self.start_lines(self.told(self.document), srun, self.document.line, depth)
        elif program is not None:
            self.start(rest[program:], srun, number, depth + 1)
        else:
            self.start_script(name, rest, srun, number, depth)

    def start_script(self, name, rest, srun, number, depth):
        """A wrapper that starts a shell script, or something that is not known here."""
        is_shell = name in ("bash", "sh") and bool(rest)
        scripts = rest[:1] if is_shell else [word for word in [self.wrapped] + rest if word.endswith(SCRIPTS)]
        started = scripts[0] if scripts else self.wrapped
        text = self.text_named(started) if started.endswith(SCRIPTS) else None
        if srun is not None and text is not None:
            self.inner += [(line, number) for line in self.start_lines(text, srun, number, depth)]
            return
        if srun is not None and (not name or "$" in started or started.endswith(SCRIPTS)):
            self.lose(started, number)
        if is_shell:
            self.keep([name] + rest, srun, number)

    def text_named(self, word):
        """The text of a file that is here, or that the script writes; None for another one."""
        word = self.expand_word(word)
        if os.path.normpath(word) in self.written:
            return self.written[os.path.normpath(word)]
        path = find_file([word], (self.folder, None, os.path.dirname(self.path) if self.batch else None))
        try:
            return text_of(path) if path and path != os.path.normpath(self.path) else None
        except Unreadable:
            return None

    def start_lines(self, text, srun, number, depth):
        """Reads what another shell runs. Returns its lines."""
        commands = self.commands_of(Reader(text, number))
        for command in commands:
            self.begin(command, srun, number, depth + 1)
        return [command.text for command in commands]

    def expand(self, words):
        """$NAME that the script sets, or that Slurm will set; others stay as they are. A $NAME by itself may be several
        words, but not where a shell is told to run it."""
        expanded = []
        for position, word in enumerate(words):
            text = self.expand_word(word)
            elements = ELEMENTS.match(word)
            if elements and elements.group(1) in self.arrays and elements.group(1) not in self.doubtful:
                expanded.extend(self.expand_word(element) for element in self.arrays[elements.group(1)])
            elif BARE.match(word) and text != word and not (position and SHELL_TEXT.match(words[position - 1])):
                expanded.extend(split(text))
            else:
                expanded.append(text)
        return expanded

    def expand_word(self, word):
        for _ in range(DEEPEST_VALUE):
            new = ARITHMETIC.sub(lambda found: re.sub(r"(?<![\w${])([A-Za-z_]\w*)", r"$\1", found.group()), word)
            new = re.sub(r"(?<!\\)\$(?:\{(\w+)(?::?[-=]([^{}]*))?\}|(\w+))", self.value_of, new)
            if new == word:
                break
            word = new
        return ARITHMETIC.sub(product, word)

    def value_of(self, match):
        """The value of $NAME, ${NAME} or ${NAME:-default}; the text itself where it is not certain."""
        name, default = match.group(1) or match.group(3), match.group(2)
        if name in self.doubtful:
            return match.group(0)
        if name in self.variables and not RUNS.search(self.variables[name]):
            return bare(self.variables[name])
        known = self.known(name)
        if known is not None:
            return str(known)
        return match.group(0) if default is None or name.startswith("SLURM_") else bare(default)

    def known(self, name):
        """The value that Slurm will give a variable, from the job's options."""
        if name in ("SLURM_GPUS_ON_NODE", "SLURM_GPUS_PER_NODE"):
            return gpus_per_node(self.options)
        return self.options.number(SET_BY_SLURM.get(name))
