# SPDX-License-Identifier: BSD-3-Clause
"""launch.py - what a command line starts: which launcher, with which options, which script, and the line that is to be
typed instead.
"""
import os
import re
import shlex
import shutil

from words import Layout, Options, take

PYTHON = re.compile(r"^python[\d.]*$")
# Options of torchrun that take no value.
TORCHRUN_FLAGS = {"standalone", "no_python", "run_path", "m", "module", "use_env"}
WORKERS = ("torchrun", "launch", "accelerate", "deepspeed", "composer")  # start a node's
MODULES = {"torch.distributed.run": "torchrun", "torch.distributed.launch": "launch",
           "accelerate.commands.launch": "accelerate", "vllm.entrypoints.openai.api_server": "vllm",
           "sglang.launch_server": "sglang"}
# How a launcher is typed, and its verb.
VERBS = {"torchrun": [], "deepspeed": [], "composer": [], "accelerate": ["launch"], "vllm": ["serve"],
         "sglang": ["serve"]}
MPIRUN = ("mpirun", "mpiexec", "prterun", "orterun")
# Servers of models, one a node, which read what they are of the nodes from options alone: the one that says where the
# first is, and what each is told (lib/resolve/programs.def).
SERVERS = {
    "vllm": ("master_addr", "--master-addr $MASTER_ADDR --master-port $MASTER_PORT "
                            "$(test $NODE_RANK = 0 || echo --headless)"),
    "sglang": ("dist_init_addr", "--dist-init-addr $MASTER_ADDR:$MASTER_PORT"),
}
# srun's options that end the step when a task fails, or say that it shall go on
ENDS = {"kill-on-bad-exit", "wait"}
OWN = ("nnodes", "node_rank", "master_addr", "master_port", "dist_init_addr", "nccl_init_addr", "headless")
# Programs of packages that train, and that pip installs as commands.
CONSOLE = {"mace_run_train", "nequip-train", "allegro-train", "fairseq-train", "fairseq-hydra-train", "litgpt",
           "axolotl", "tune", "llamafactory-cli", "swift", "xtuner", "lightning", "yolo", "anemoi-training",
           "torchmd-train", "nnUNetv2_train", "dp", "mattersim-train", "sevenn", "openfold-train", "t5x",
           "paddlespeech", "trtllm-llmapi-launch"}
# Modules and scripts that prepare a job, and train nothing.
TOOLS = {"pip", "venv", "virtualenv", "ensurepip", "compileall", "py_compile", "json.tool", "site", "zipfile", "pytest",
         "http.server", "timeit", "conda", "build", "ipykernel", "wandb", "torch.utils.collect_env", "setup.py"}


def is_python_command(word):
    """Whether a command on PATH is a Python script, such as pip makes of an entry point."""
    path = shutil.which(word) if re.match(r"^[\w./-]+$", word) else None
    try:
        with open(path or os.devnull, "rb") as file:
            return re.match(rb"^#!.*python", file.readline(256)) is not None
    except OSError:
        return False


class Launch:
    """A command that a line of a job starts, by its kind: python, torchrun, launch, accelerate, deepspeed or None."""

    def __init__(self, words, srun, line, job):
        self.words = words
        self.srun = srun  # Options, or None where no srun starts it
        self.line = line
        self.typed = job.typed
        self.is_part = job.is_part
        self.wrappers = tuple(job.wrappers)  # names, such as bash, apptainer, rollcall
        self.folder = job.folder
        self.function = job.function
        self.repeated = any(text.startswith(("for", "while", "until")) for text in job.around)
        self.kind = None
        self.options = {}
        self.script = None
        self.module = False  # the script is a module's name
        self.inner = None    # what mpirun starts, by its kind
        self.unknown = any("$" in word for word in words)  # "${ARGS[@]}": there may be more options
        self.arguments = []
        name = os.path.basename(words[0])
        if PYTHON.match(name):
            words = self.python(words[1:])
            if self.kind == "python" and words and words[0].startswith("$") and \
                    any(word.endswith(".py") for word in words[1:]):
                self.kind = None  # python $LAUNCHER train.py
                return
        elif name in VERBS and words[1:1 + len(VERBS[name])] == VERBS[name]:
            self.kind = name
            words = words[1 + len(VERBS[name]):]
        elif name in CONSOLE or srun is not None and is_python_command(words[0]):
            self.kind = "console"
        elif name in MPIRUN:
            self.kind = "mpirun"
            words = self.behind_mpirun(words)
        if self.starts_workers():
            words = self.launcher(words)
        if self.kind in SERVERS:
            self.serve(words)
        elif self.kind and self.kind != "console" and words and words[0] not in TOOLS:
            self.script = words[0]
            self.arguments = words[1:]

    def behind_mpirun(self, words):
        """What follows python in mpirun's line."""
        for at, word in enumerate(words):
            if os.path.basename(word) == "rollcall":
                self.wrappers += ("rollcall",)
            name = os.path.basename(word)
            if PYTHON.match(name):
                rest = self.python(words[at + 1:])
                self.inner, self.kind = self.kind, "mpirun"
                return rest
            if name == "torchrun":
                self.inner = name
                return self.launcher(words[at + 1:])
        return []

    def python(self, words):
        self.kind = "python"
        while words and words[0].startswith("-"):
            if words[0].startswith("-m"):
                words = words[1:] if words[0] == "-m" else [words[0][2:]] + words[1:]
                self.kind = MODULES.get("".join(words[:1]), "python")
                self.module = self.kind == "python"
                return words if self.module else words[1:]
            if words[0] == "-c":
                return []
            words = words[2:] if words[0] in ("-W", "-X") else words[1:]
        return words

    def launcher(self, words):
        while words and words[0].startswith("-"):
            name, sign, value = words[0].lstrip("-").partition("=")
            name, words = name.replace("-", "_"), words[1:]
            if not sign and name not in TORCHRUN_FLAGS and words and not words[0].startswith("--") and \
                    not words[0].endswith(".py"):
                value, words = words[0], words[1:]
            self.options[name] = value
            self.module = self.module or name in ("m", "module")
        return words

    def serve(self, words):
        """The options of a server, which may stand anywhere. A $NAME by itself may be more of them, or vLLM's model."""
        pairs = zip(words[:-1], words[1:]) if self.kind == "vllm" else zip([""] + words, words)
        self.unknown = any(word.startswith("$") and (before[:1] != "-" or "=" in before) for before, word in pairs)
        while words:
            words = self.launcher(words)[1:]

    def number(self, *names):
        values = [self.options[name] for name in names if re.match(r"^\d+$", self.options.get(name, ""))]
        return int(values[0]) if values else None

    def is_open(self):
        """Whether a variable that is not known may have more options."""
        return self.script is None or self.script.startswith("$")

    def starts_workers(self):
        return self.kind in WORKERS

    def goes_on(self):
        """Whether torchrun goes on after a failure (lib/resolve/command.c), or may: a $NAME may be more options."""
        return ":" in self.options.get("nnodes", "") or self.options.get("max_restarts", "0") != "0" or \
            self.starts_workers() and any(word.startswith("$") for word in self.words)

    def without_launcher(self):
        return ["python"] + ["-m"] * self.module + [self.script] + self.arguments

    def title(self):
        return "torch.distributed.launch" if self.kind == "launch" else " ".join([self.kind] + VERBS.get(self.kind, []))


def quoted(word, variables):
    """A word as one types it in a script with such variables; $NAME is left to the shell."""
    if re.match(r"^[\w@%+=:,./${}\[\]~-]+$", word):
        return word
    names = re.findall(r"\$\{?(\w+)", word)
    # it was in double quotes, as \$ says, or may be: a shell that srun starts may not know the script's variables
    if "\\$" in word or names and set(names) <= set(variables):
        return '"%s"' % word.replace('"', '\\"')
    return shlex.quote(word)


def without_options(words, names):
    """The words without these options of torchrun's or accelerate's, and without their values."""
    kept, is_value = [], False
    for word in words:
        name, sign, _ = word.lstrip("-").replace("-", "_").partition("=")
        is_one = word.startswith("--") and name in names
        if not is_one and not (is_value and not word.startswith("-")):
            kept.append(word)
        is_value = is_one and not sign and name not in TORCHRUN_FLAGS
    return kept


class Step:
    """A program that a job starts: how, where, and its files, as far as they are here."""

    def __init__(self, job, launch, programs, report):
        self.job = job
        self.launch = launch
        self.report = report
        self.srun = launch.srun
        self.line = launch.line
        self.layout = Layout(job, self.srun)
        self.program = programs.of(launch, job)
        # on how many nodes, and in how many tasks of a node srun starts this: 0 for one, and where it is not known
        self.srun_nodes, self.srun_tasks = (number if self.srun is not None and (number or 0) > 1 else 0
                                            for number in (self.layout.nodes, self.layout.tasks_per_node))
        self.has_rollcall = "ddp" in self.layout.options or "rollcall" in launch.wrappers or any(
            name == "ROLLCALL" for name, _, _ in job.exports)  # which sets each task's variables
        self.place = "%s:%d" % (os.path.basename(job.path), self.line) if job.batch else "the line given"

    def say(self, name, what, change=None, line=None):
        """Reports a finding of its line. The change is its cure, unless another one is given."""
        self.report(name, self.job.path, line or self.line, what, change or self.cure())

    def typed(self, words):
        """Words as one types them in this job."""
        return " ".join(quoted(word, self.job.variables) for word in words)

    def cure(self, tasks=None, without=(), command=None):
        """The line that starts this as it was typed, or that command, with rollcall. `tasks`: so many a node.
        `without`: options that the launcher is not to have."""
        options, words = take(self.launch.typed[1:], True) if self.srun is not None else (
            Options(), self.launch.typed)
        kept = without_options(words, without)
        if kept == words and set(without) & set(self.launch.options):  # they are in the text for a shell
            kept = without_options(self.launch.words, without)
        text = options.pop("ddp", "")
        if self.launch.kind in SERVERS:
            tasks, command = 1, ["sh", "-c", "%s --nnodes $PET_NNODES --node-rank $NODE_RANK %s" % (
                " ".join(without_options(self.launch.words, OWN)), SERVERS[self.launch.kind][1])]
        elif self.launch.starts_workers() and (self.layout.tasks_per_node or 1) > 1 and not command:
            tasks = 1
        if tasks:
            options.pop("ntasks", None)
            options["ntasks-per-node"] = str(tasks)
            if "ntasks" in self.layout.options and self.layout.nodes:
                options["ntasks"] = str(tasks * self.layout.nodes)
        command = command or kept
        is_typed = "rollcall" in map(os.path.basename, command)
        if (is_typed or not self.job.has_option) and not ENDS & set(options) and not self.launch.goes_on():
            options["K"] = ""
        started = [("--" if len(name) > 1 else "-") + name + (value and "=" + value) for name, value in options.items()]
        if not is_typed:
            given = "--ddp" + (text and "=" + text)
            started += [given] if self.job.has_option else ["rollcall", "exec"] + [given] * bool(text) + ["--"]
        return self.typed(["srun"] + started + command)

    def by_mpirun(self):
        """mpirun's line with rollcall before its Python."""
        words = self.launch.words
        at = next((at for at, word in enumerate(words) if PYTHON.match(os.path.basename(word))), len(words))
        return self.typed(words[:at] + ["rollcall", "exec", "--"] + words[at:])

    def ask(self, tasks):
        """What asks for so many tasks a node, where the job does."""
        own = {"ntasks", "ntasks-per-node", "ntasks-per-gpu"}
        if own & set(self.srun or {}) or not own & set(self.job.options):
            return self.cure(tasks)
        return "#SBATCH --ntasks-per-node=%d%s" % (tasks, ", without --ntasks" if "ntasks" in self.job.options else "")

    def line_of(self, option):
        """The line of an option: srun's, else its #SBATCH line."""
        return (None if option in (self.srun or {}) else self.job.line_of(option)) or self.line
