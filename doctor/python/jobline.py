"""jobline.py - an srun or sbatch line, and a job script: what is asked of Slurm, and which commands run.

Nothing is run, nothing is expanded but variables that the script itself sets to plain values and those that
Slurm will set from the job's own options.
"""
import os
import re
import shlex

from source import LARGEST, Unreadable

SHORT = {"N": "nodes", "n": "ntasks", "c": "cpus-per-task", "G": "gpus", "p": "partition", "w": "nodelist",
         "x": "exclude", "J": "job-name", "o": "output", "e": "error", "t": "time", "m": "distribution", "A": "account",
         "C": "constraint", "D": "chdir", "i": "input", "l": "label", "q": "qos", "O": "overcommit", "K": "kill-on-bad-exit",
         "W": "wait", "B": "extra-node-info", "F": "nodefile", "L": "licenses", "M": "clusters", "P": "dependency",
         "S": "core-spec", "T": "threads", "a": "array", "b": "begin", "d": "dependency", "r": "relative"}
SHORT_FLAGS = set("lOusvQHkEXZhVIK")
FLAGS = {"exclusive", "overlap", "exact", "label", "unbuffered", "pty", "no-kill", "contiguous", "preserve-env",
         "kill-on-bad-exit", "overcommit", "oversubscribe", "share", "spread-job", "use-min-nodes", "verbose", "quiet",
         "immediate", "hold", "test-only", "requeue", "no-requeue", "ddp", "container-mount-home",
         "no-container-mount-home", "container-remap-root", "no-container-remap-root", "container-writable",
         "container-readonly", "no-container-entrypoint", "container-entrypoint", "multi-prog", "disable-status",
         "propagate", "send-libs", "interactive", "external-launcher", "parsable", "wait", "reboot", "get-user-env",
         "ignore-pbs", "no-bell", "bell", "no-shell", "overlap", "resv-ports", "whole", "stepmgr"}
WRAPPERS = {"env", "time", "exec", "nohup", "stdbuf", "numactl", "taskset", "nsys", "ncu", "bash", "sh", "apptainer",
            "singularity", "rollcall", "command", "nice", "timeout", "conda", "uv", "poetry", "dlprof", "shifter",
            "podman", "podman-hpc", "ch-run", "catchsegv", "/bin/bash", "/usr/bin/env"}
VALUE = r"(?:\"[^\"]*\"|'[^']*'|\$\([^)]*(?:\([^)]*\)[^)]*)*\)|`[^`]*`|[^\s\"'`])*"
ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)=(" + VALUE + ")")
ASSIGNMENTS = re.compile(r"^(?:[A-Za-z_]\w*=" + VALUE + r"\s*)+$")


class Options(dict):
    """Long names of Slurm's options with their values; "" for a flag."""

    def number(self, name):
        """The option as a number, or None; --nodes=2-4 is none."""
        value = self.get(name)
        return int(value) if value is not None and re.match(r"^\d+$", value) else None


def take(words, until_command):
    """Reads options off a list of words; returns them and what is left."""
    options = Options()
    position = 0
    while position < len(words):
        word = words[position]
        if word == "--":
            position += 1
            break
        if not word.startswith("-") or word == "-":
            if until_command:
                break
            position += 1
            continue
        position += 1
        if word.startswith("--"):
            name, sign, value = word[2:].partition("=")
            if not sign and name not in FLAGS and position < len(words) and not words[position].startswith("-"):
                value = words[position]
                position += 1
            options[name] = value
        else:
            letter, value = word[1], word[2:]
            if letter in SHORT_FLAGS:
                options[SHORT.get(letter, letter)] = value
                continue
            if not value and position < len(words):
                value = words[position]
                position += 1
            options[SHORT.get(letter, letter)] = value.lstrip("=")
    return options, words[position:]


class Command:
    """One command that a line starts: its words, the srun options before it, and where it stands."""

    def __init__(self, words, srun, line):
        self.words = words
        self.srun = srun  # Options, or None where no srun starts it
        self.line = line
        self.variables = {}


def split(text):
    try:
        return shlex.split(text, comments=True)
    except ValueError:
        return text.split()


class Job:
    """What is known of a job: its options, variables and commands. `path` is where findings point."""

    def __init__(self, path):
        self.path = path
        self.options = Options()
        self.lines = []     # (text, number): logical lines of the script
        self.exports = []   # (name, value as written, line)
        self.commands = []
        self.variables = {}
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
        for part in statements(line):
            if re.match(r"^(export|declare\s+-x|readonly)\s", part) or ASSIGNMENTS.match(part):
                for name, value in ASSIGNMENT.findall(part):
                    self.exports.append((name, value, number))
                    self.variables[name] = value
                continue
            words = split(part)
            if words:
                self.start(words, None, number)

    def start(self, words, srun, number, depth=0):
        """Finds what really runs behind srun, wrappers and `bash -c`."""
        local = {}
        while words and re.match(r"^[A-Za-z_]\w*=", words[0]):
            name, _, value = words.pop(0).partition("=")
            local[name] = value
        while words and words[0] in ("if", "then", "else", "do", "while", "!", "{", "(", "time", "exec", "eval"):
            words = words[1:]
        if not words or depth > 6:
            return
        name = os.path.basename(words[0])
        if name == "srun":
            self.sruns = True
            options, rest = take(self.expand(words[1:]), True)
            self.start(rest, options, number, depth + 1)
            return
        if name in WRAPPERS:
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
        """$NAME that the script sets, or that Slurm will set; others stay as they are."""
        return [self.expand_word(word) for word in words]

    def expand_word(self, word, depth=4):
        def value(match):
            name = match.group(1) or match.group(2)
            if name in self.variables and "`" not in self.variables[name] and "$(" not in self.variables[name]:
                return self.variables[name].strip("\"'")
            known = self.known(name)
            return str(known) if known is not None else match.group(0)

        for _ in range(depth):
            new = re.sub(r"\$(?:\{(\w+)(?::[-=][^}]*)?\}|(\w+))", value, word)
            if new == word:
                break
            word = new
        return word

    def known(self, name):
        """What Slurm will set, of the job's own options."""
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


def statements(line):
    """The commands of a line, parted by ; & && || and |, not within quotes, $(...) and backquotes."""
    parts, current, quote, depth, skip = [], "", None, 0, False
    for position, letter in enumerate(line):
        following = line[position + 1:position + 2]
        if skip:
            skip = False
        elif letter == "\\" and quote != "'":
            skip = True
        elif quote:
            quote = None if letter == quote else quote
        elif letter in "'\"`":
            quote = letter
        elif letter == "#" and (not current or current[-1] in " \t") and not depth:
            break
        elif letter == "(":
            depth += 1
        elif letter == ")":
            depth -= 1
        elif letter in ";|" and depth <= 0 or letter == "&" and depth <= 0 and following != ">" and not current.endswith(">"):
            parts.append(current.strip())
            current = ""
            continue
        current += letter
    parts.append(current.strip())
    return [part for part in parts if part]


def logical_lines(text):
    """Lines, with those joined that a backslash or an open quote continues; here-documents are left out."""
    pending, start, end = "", 0, None
    for number, line in enumerate(text.splitlines(), 1):
        if end is not None:
            if line.strip() == end:
                end = None
            continue
        if not pending:
            start = number
        bare = line.rstrip()
        if pending and bare.lstrip().startswith("#") and not open_quote(pending):
            continue
        pending += bare
        if bare.endswith("\\"):
            pending = pending[:-1] + " "
            continue
        if open_quote(pending) and number - start < 60:
            pending += "\n"
            continue
        document = re.search(r"<<-?\s*(['\"]?)(\w+)\1", pending)
        if document and "<<<" not in pending:
            end = document.group(2)
        yield pending.strip(), start
        pending = ""
    if pending:
        yield pending.strip(), start


def open_quote(text):
    """Whether a quote is open at the end."""
    if text.lstrip().startswith("#"):
        return False
    quote = None
    skip = False
    for position, letter in enumerate(text):
        if skip:
            skip = False
        elif letter == "\\" and quote != "'":
            skip = True
        elif quote:
            quote = None if letter == quote else quote
        elif letter in "'\"":
            quote = letter
        elif letter == "#" and (position == 0 or text[position - 1] in " \t;\n"):
            end = text.find("\n", position)
            return False if end < 0 else open_quote(text[end + 1:])
    return quote is not None


def gpus_per_node(options):
    for name in ("gpus-per-node", "gres"):
        value = options.get(name)
        if value is None:
            continue
        if name == "gres" and not value.startswith("gpu"):
            continue
        number = value.split(":")[-1].split("(")[0]
        if number.isdigit():
            return int(number)
        return 1 if number in ("gpu",) else None
    whole, nodes = options.get("gpus"), options.number("nodes")
    if whole is not None and nodes:
        number = whole.split(":")[-1]
        if number.isdigit() and int(number) % nodes == 0:
            return int(number) // nodes
    return None


class Layout:
    """The tasks of a step: a job's options below those of its srun."""

    def __init__(self, job, srun):
        merged = Options(job.options)
        if srun:
            for name, value in srun.items():
                merged[name] = job.expand_word(value)
            if "ntasks" in srun and "ntasks-per-node" not in srun and srun.number("ntasks") == 1:
                merged.pop("ntasks-per-node", None)
        self.options = merged
        self.nodes = merged.number("nodes")
        self.ntasks = merged.number("ntasks")
        self.tasks_per_node = merged.number("ntasks-per-node")
        self.gpus_per_node = gpus_per_node(merged)
        self.gpus_per_task = None
        if "gpus-per-task" in merged:
            number = merged["gpus-per-task"].split(":")[-1]
            self.gpus_per_task = int(number) if number.isdigit() else None
        self.cpus_per_task = merged.number("cpus-per-task")
        if self.tasks_per_node is None and "ntasks-per-gpu" in merged and self.gpus_per_node:
            per = merged.number("ntasks-per-gpu")
            self.tasks_per_node = per * self.gpus_per_node if per else None
        elif self.tasks_per_node is None and self.ntasks and self.nodes:
            if self.ntasks % self.nodes == 0:
                self.tasks_per_node = self.ntasks // self.nodes
        elif self.tasks_per_node is None and not self.ntasks and "ntasks" not in merged and \
                "ntasks-per-gpu" not in merged and "exclusive" not in merged and "nodes" in merged:
            self.tasks_per_node = 1
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
            parts.append("%d node%s" % (self.nodes, "s" if self.nodes > 1 else ""))
        if self.tasks_per_node:
            parts.append("%d task%s a node" % (self.tasks_per_node, "s" if self.tasks_per_node > 1 else ""))
        elif self.ntasks:
            parts.append("%d tasks" % self.ntasks)
        if self.gpus_per_node:
            parts.append("%d GPU%s a node" % (self.gpus_per_node, "s" if self.gpus_per_node > 1 else ""))
        return ", ".join(parts)
