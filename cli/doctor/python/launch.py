# SPDX-License-Identifier: BSD-3-Clause
"""launch.py - what a command line starts: its tasks, GPUs and cores against each other, against the launcher's own
numbers, and against what the script does with them.
"""
import os
import re
import shlex
import shutil

from frameworks import FABRICS, TRAINERS, devices
from ranks import INIT
from source import Unreadable, literal, text_of
from words import Layout, Options, bare, counted, take

PYTHON = re.compile(r"^python[\d.]*$")
# Options of torchrun that take no value, and options of Python whose value is the next word.
TORCHRUN_FLAGS = {"--standalone", "--no-python", "--no_python", "--run-path", "--run_path", "-m", "--module",
                  "--use-env", "--use_env", "--signals-to-handle"}
PYTHON_VALUES = {"-W", "-X"}
MODULES = {"torch.distributed.run": "torchrun", "torch.distributed.launch": "launch",
           "accelerate.commands.launch": "accelerate"}
MPIRUN = ("mpirun", "mpiexec", "prterun", "orterun")
# Programs of packages that train, and that pip installs as commands.
CONSOLE = {"mace_run_train", "nequip-train", "allegro-train", "fairseq-train", "fairseq-hydra-train", "litgpt",
           "axolotl", "tune", "llamafactory-cli", "swift", "xtuner", "lightning", "yolo", "anemoi-training",
           "torchmd-train", "nnUNetv2_train", "dp", "mattersim-train", "sevenn", "openfold-train", "t5x",
           "paddlespeech"}
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
    """A command by its kind: python, torchrun, distributed.launch, accelerate, deepspeed or None."""

    def __init__(self, command):
        self.command = command
        self.kind = None
        self.options = {}
        self.script = None
        self.module = False  # the script is a module's name
        self.inner = None    # what mpirun starts, by its kind
        self.unknown = any("$" in word for word in command.words)  # "${ARGS[@]}": there may be more options
        self.arguments = []
        words = list(command.words)
        name = os.path.basename(words[0])
        if PYTHON.match(name):
            words = self.python(words[1:])
            if self.kind == "python" and words and words[0].startswith("$") and \
                    any(word.endswith(".py") for word in words[1:]):
                self.kind = None  # python $LAUNCHER train.py
                return
        elif name in ("torchrun", "deepspeed", "composer"):
            self.kind = name
            words = words[1:]
        elif name == "accelerate" and len(words) > 1 and words[1] == "launch":
            self.kind = name
            words = words[2:]
        elif name in CONSOLE or command.srun is not None and is_python_command(words[0]):
            self.kind = "console"
        elif name in MPIRUN:
            self.kind = "mpirun"
            words = self.behind_mpirun(words)
        if self.kind in ("torchrun", "launch", "deepspeed", "composer", "accelerate"):
            words = self.launcher(words)
        if self.kind and self.kind != "console" and words and words[0] not in TOOLS:
            self.script = words[0]
            self.arguments = words[1:]

    def behind_mpirun(self, words):
        """What follows python in mpirun's line."""
        for at, word in enumerate(words):
            if os.path.basename(word) == "rollcall":
                self.command.wrappers += ("rollcall",)
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
            words = words[2:] if words[0] in PYTHON_VALUES else words[1:]
        return words

    def launcher(self, words):
        while words and words[0].startswith("-"):
            name, sign, value = words[0].partition("=")
            words = words[1:]
            if name in TORCHRUN_FLAGS:
                value = ""
            elif not sign and words and not words[0].startswith("--") and not words[0].endswith(".py"):
                value = words[0]
                words = words[1:]
            self.options[name.lstrip("-").replace("-", "_")] = value
        return words

    def number(self, *names):
        for name in names:
            value = self.options.get(name)
            if value is not None and re.match(r"^\d+$", value):
                return int(value)
        return None

    def is_open(self):
        """Whether a variable that is not known may have more options."""
        return self.script is None or self.script.startswith("$")

    def starts_workers(self):
        return self.kind in ("torchrun", "launch", "accelerate", "deepspeed", "composer")

    def title(self):
        return {"launch": "torch.distributed.launch", "accelerate": "accelerate launch"}.get(self.kind, self.kind)


def quoted(word):
    """A word as one types it; $NAME is left to the shell."""
    return word if re.match(r"^[\w@%+=:,./${}\[\]~-]+$", word) else shlex.quote(word)


def without_options(words, names):
    """The words without these options of torchrun's or accelerate's, and without their values."""
    kept, is_value = [], False
    for word in words:
        name, sign, _ = word.lstrip("-").replace("-", "_").partition("=")
        is_one = word.startswith("--") and name in names
        if not is_one and not (is_value and not word.startswith("-")):
            kept.append(word)
        is_value = is_one and not sign and word not in TORCHRUN_FLAGS
    return kept


class Step:
    """A program that a job starts: how, where, and its files, as far as they are here."""

    def __init__(self, job, launch, programs):
        self.job = job
        self.launch = launch
        self.srun = launch.command.srun  # its options, or None
        self.line = launch.command.line
        self.layout = Layout(job, self.srun)
        self.program = programs.of(launch)

    def srun_nodes(self):
        """The number of nodes on which srun starts this; 0 for one, and where it is not known."""
        nodes = self.layout.nodes or 0
        return nodes if self.srun is not None and nodes > 1 else 0

    def srun_tasks(self):
        """The number of tasks of a node, as srun_nodes()."""
        tasks = self.layout.tasks_per_node or 0
        return tasks if self.srun is not None and tasks > 1 else 0

    def has_rollcall(self):
        """Whether rollcall sets each task's variables."""
        return "ddp" in self.layout.options or "rollcall" in self.launch.command.wrappers or any(
            name == "ROLLCALL" for name, _, _ in self.job.exports)

    def cure(self, tasks=None, without=(), command=None):
        """The line that starts this as it was typed, or that command, with rollcall. `tasks`: so many a node.
        `without`: options that the launcher is not to have."""
        options, words = take(self.launch.command.typed[1:], True) if self.srun is not None else (
            Options(), self.launch.command.typed)
        kept = without_options(words, without)
        if kept == words and set(without) & set(self.launch.options):  # they are in the text for a shell
            kept = without_options(self.launch.command.words, without)
        text = options.pop("ddp", "")
        if self.launch.starts_workers() and (self.layout.tasks_per_node or 1) > 1 and not command:
            tasks = 1
        if tasks:
            options.pop("ntasks", None)
            options["ntasks-per-node"] = str(tasks)
            if "ntasks" in self.layout.options and self.layout.nodes:
                options["ntasks"] = str(tasks * self.layout.nodes)
        started = [("--" if len(name) > 1 else "-") + name + (value and "=" + value) for name, value in options.items()]
        command = command or kept
        if "rollcall" not in map(os.path.basename, command):
            given = "--ddp" + (text and "=" + text)
            started += [given] if self.job.has_option else ["rollcall", "exec"] + [given] * bool(text) + ["--"]
        return " ".join(map(quoted, ["srun"] + started + command))

    def by_mpirun(self):
        """mpirun's line with rollcall before its Python."""
        words = self.launch.command.words
        at = next((at for at, word in enumerate(words) if PYTHON.match(os.path.basename(word))), len(words))
        return " ".join(map(quoted, words[:at] + ["rollcall", "exec", "--"] + words[at:]))

    def ask(self, tasks):
        """What asks for so many tasks a node, where the job does."""
        own = {"ntasks", "ntasks-per-node", "ntasks-per-gpu"}
        if own & set(self.srun or {}) or not own & set(self.job.options):
            return self.cure(tasks)
        return "#SBATCH --ntasks-per-node=%d%s" % (tasks, ", without --ntasks" if "ntasks" in self.job.options else "")

    def line_of(self, option):
        """The line of an option: srun's, else its #SBATCH line."""
        return (None if option in (self.srun or {}) else self.job.line_of(option)) or self.line

    def place(self):
        return "%s:%d" % (os.path.basename(self.job.path), self.line) if self.job.batch else "the line given"


def several_launchers(step, report):
    """A launcher in each of several tasks of a node."""
    launch, layout, tasks = step.launch, step.layout, step.srun_tasks()
    if not launch.starts_workers() or not tasks:
        return
    workers = launch.number("nproc_per_node", "num_processes", "num_gpus")
    text = "%d tasks a node each start %s" % (tasks, launch.title())
    if workers and workers > 1:
        text += ", which starts %d workers: %d processes" % (workers, workers * tasks)
        if layout.gpus_per_node:
            text += " on %d GPUs" % layout.gpus_per_node
    report("D504", step.job.path, step.line, text, step.cure(1))


def is_one_of_several(step, nodes):
    """Whether a step of its own on each node, or each group of nodes, makes up the launch."""
    return nodes > step.layout.nodes and bool({"nodes", "nodelist", "relative"} & set(step.srun)) and (
        step.launch.command.repeated or bool({"node_rank", "rdzv_endpoint"} & set(step.launch.options)))


def torchrun_numbers(step, report):
    """torchrun's own numbers of nodes and processes against the step's."""
    launch, layout, several = step.launch, step.layout, step.srun_nodes()
    if launch.kind not in ("torchrun", "launch") or step.srun is None:
        return
    is_told = step.has_rollcall() or any(name.startswith("PET_") for name, _, _ in step.job.exports)
    if several and "standalone" in launch.options:
        report("D513", step.job.path, step.line, "torchrun --standalone on %d nodes" % several,
               step.cure(without=("standalone",)))
    elif several and "nnodes" not in launch.options and not is_told and not launch.unknown:
        report("D513", step.job.path, step.line, "%s has no --nnodes, on %d nodes" % (launch.title(), several),
               step.cure())
    elif several and launch.options.get("node_rank") == "0":
        report("D512", step.job.path, step.line, "--node_rank=0 on all %d nodes" % several,
               step.cure(without=("node_rank",)))
    nodes = launch.number("nnodes")
    if nodes and layout.nodes and nodes != layout.nodes and not is_one_of_several(step, nodes) and \
            not launch.command.is_part:
        report("D512", step.job.path, step.line, "--nnodes=%d, but the step has %s" % (
            nodes, counted(layout.nodes, "node")), "--nnodes=%d" % layout.nodes)
    workers = launch.number("nproc_per_node")
    if workers and layout.gpus_per_node and workers > layout.gpus_per_node:
        report("D412", step.job.path, step.line, "--nproc_per_node=%d, but %s a node" % (
            workers, counted(layout.gpus_per_node, "GPU")), "--nproc_per_node=%d" % layout.gpus_per_node)


CONFIGURATION = os.path.join("~", ".cache", "huggingface", "accelerate", "default_config.yaml")
# with more than one machine accelerate takes its own numbers, and none of rollcall's
OWN_NUMBERS = ("num_machines", "num_processes", "machine_rank", "main_process_ip")


def configured_rank(step):
    """The machine rank of accelerate's configuration, which all nodes read: a text, None where there is none."""
    name = step.launch.options.get("config_file")
    path = os.path.join(step.launch.command.folder or "", name) if name else os.path.expanduser(CONFIGURATION)
    try:
        found = re.search(r"^machine_rank: *(\d+)", text_of(path), re.M)
    except Unreadable:
        if name:
            step.job.lose(name, step.line)
        return "" if name else None
    return found.group(1) if found else None


def machine_ranks(step, report):
    """accelerate launch on several nodes: each has to be told which one it is."""
    launch, nodes = step.launch, step.srun_nodes()
    if launch.kind != "accelerate" or not nodes:
        return
    options = launch.options
    change = step.cure(without=OWN_NUMBERS + ("config_file",))
    given = options.get("machine_rank") or configured_rank(step)
    if given == "0":
        report("D512", step.job.path, step.line, "%s 0 on all %d nodes" % (
            "--machine_rank" if "machine_rank" in options else "the configuration has machine_rank:", nodes), change)
    elif given is None and "num_machines" in options and not launch.is_open():
        report("D512", step.job.path, step.line, "accelerate has no --machine_rank, on %d nodes" % nodes, change)


def deepspeed_everywhere(step, report):
    """DeepSpeed's launcher on each node, which reaches the others itself, or does not know of them."""
    launch, nodes = step.launch, step.srun_nodes()
    if launch.kind != "deepspeed" or not nodes or {"no_ssh", "node_rank"} & set(launch.options) or launch.is_open():
        return
    change = step.cure(step.layout.gpus_per_node, command=["python", launch.script] + launch.arguments)
    if {"hostfile", "H"} & set(launch.options):
        report("D532", step.job.path, step.line,
               "srun starts deepspeed on each of %d nodes, and each of them starts workers on all nodes" % nodes,
               change)
    else:
        report("D513", step.job.path, step.line, "deepspeed has no hostfile, on %d nodes" % nodes, change)


ONE_EACH = re.compile(
    r"^(map_gpu|mask_gpu|single:\d+|per_task:\d+|closest|.*\bverbose,(single|per_task|closest))", re.I)


def sizes(step, report):
    """Options that contradict each other."""
    options = step.layout.options
    tasks, nodes, per_node = [options.number(name) for name in ("ntasks", "nodes", "ntasks-per-node")]
    if tasks and per_node and tasks < per_node:
        report("D507", step.job.path, step.line_of("ntasks-per-node"),
               "--ntasks=%d, but --ntasks-per-node=%d" % (tasks, per_node), "--ntasks=%d" % (per_node * (nodes or 1)))
    elif tasks and per_node and nodes and tasks < per_node * nodes:
        report("D507", step.job.path, step.line_of("ntasks"),
               "--ntasks=%d, but %d nodes with --ntasks-per-node=%d" % (tasks, nodes, per_node),
               "--ntasks=%d" % (per_node * nodes))
    if "cpus-per-task" in options and "exclusive" in options and \
            not {"nodes", "ntasks", "ntasks-per-node", "ntasks-per-gpu"} & set(options):
        report("D506", step.job.path, step.line_of("cpus-per-task"),
               "-c without a number of tasks, on whole nodes: Slurm starts as many as fit", "-n 1")


def gpus(step, report):
    layout, options = step.layout, step.layout.options
    if step.launch.kind not in ("python", "console") or step.srun is None:
        return
    per_node, count = layout.tasks_per_node, layout.gpus_per_node
    if per_node and count and per_node > count and "ntasks-per-gpu" not in options:
        report("D412", step.job.path, step.line_of("ntasks-per-node"),
               "%d tasks a node, but %s" % (per_node, counted(count, "GPU")), "--ntasks-per-node=%d" % count)
    bind = options.get("gpu-bind", "")
    # rollcall makes cuda:LOCAL_RANK right, and says where a cgroup hides the others
    if step.has_rollcall() or "allow-task-sharing" in options.get("gres-flags", ""):
        return
    nearest = "g" in options.get("accel-bind", "") and bind != "none"
    if step.srun_tasks() and (layout.gpus_per_task == 1 and bind != "none" or ONE_EACH.match(bind) or nearest):
        name = "gpus-per-task" if layout.gpus_per_task == 1 else "accel-bind" if nearest else "gpu-bind"
        others = "other GPU" if per_node == 2 else "other %d GPUs" % (per_node - 1)
        report("D302", step.job.path, step.line_of(name),
               "--%s=%s hides the %s of the node from each task" % (name, options[name], others),
               "--gpus-per-node=%d --gpu-bind=none" % per_node)


def cores(step, series, report):
    """A task with GPUs and data loaders has one core, or srun does not take over the cores asked of sbatch."""
    options = step.layout.options
    if step.srun is None or not step.job.batch:
        return
    asked = step.job.options.number("cpus-per-task")
    named = "cpus-per-task" in step.srun or any(name == "SRUN_CPUS_PER_TASK" for name, _, _ in step.job.exports)
    change = "srun --cpus-per-task=$SLURM_CPUS_PER_TASK"
    if asked and asked > 1 and not named and not series:
        report("D422", step.job.path, step.line,
               "not looked at: whether srun takes over --cpus-per-task=%d; Slurm 22.05 and 23.02 do not, and this "
               "one's version is not known" % asked, change)
    elif asked and asked > 1 and not named and (22, 5) <= series < (23, 11):
        report("D510", step.job.path, step.line,
               "srun does not take over --cpus-per-task=%d: each task has one core" % asked, change)
    elif not asked and not named and step.layout.gpus_per_node and \
            not {"exclusive", "cpus-per-gpu", "mem-per-cpu", "cpus-per-task"} & set(options):
        workers = data_loaders(step)
        if workers and workers > 1:
            report("D511", step.job.path, step.line,
                   "each task has one core, for itself and %d data loader workers" % workers,
                   "--cpus-per-task=%d" % (workers + 1))


def data_loaders(step):
    for source in step.program.sources if step.program else []:
        for call in source.calls:
            if call.last == "DataLoader" and "num_workers" in call.keywords:
                number = step.program.number(source, call.keywords["num_workers"], step.launch.arguments)
                if number:
                    return number
    return None


def trainer_sizes(step, report):
    """Trainer(devices=, num_nodes=) against the step."""
    launch, layout, program = step.launch, step.layout, step.program
    options, tasks = layout.options, layout.tasks_per_node
    sees_all = not {"gpu-bind", "accel-bind"} & set(options) and (tasks == 1 or not layout.gpus_per_task)
    # sbatch that is told of no task sets no SLURM_NTASKS: Lightning then starts a node's workers itself
    is_told = step.srun is not None or bool({"ntasks", "ntasks-per-node", "ntasks-per-gpu"} & set(options))
    starts_own = tasks == 1 and step.has_rollcall() or not is_told or launch.starts_workers()
    for source, call in program.calls(*TRAINERS, *FABRICS):
        if call.open:
            continue
        size, said, number = devices(program, source, call, layout.gpus_per_node if sees_all else None,
                                     launch.arguments)
        if (number or 0) > 0 and tasks not in (None, number) and not starts_own:
            report("D501", source.path, size.lineno, "%s, but %s a node (%s)" % (
                said, counted(tasks, "task"), step.place()), step.ask(number))
        nodes = call.argument(None, "num_nodes")
        count = 1 if nodes is None else program.number(source, nodes, launch.arguments)
        if count and layout.nodes and count != layout.nodes and not launch.command.is_part:
            report("D502", source.path, nodes.lineno if nodes is not None else call.line,
                   "num_nodes=%d%s, but %s (%s)" % (count, "" if nodes is not None else ", the default",
                                                    counted(layout.nodes, "node"), step.place()),
                   "num_nodes=%d" % layout.nodes)


def spawned(step, report):
    """mp.spawn in several tasks of a node, or on several nodes with the size of one."""
    tasks = step.srun_tasks()
    for source, call in step.program.calls("torch.multiprocessing.spawn", "torch.multiprocessing.start_processes"):
        if tasks:
            report("D503", source.path, call.line, "%d tasks a node (%s) each spawn workers for all GPUs" % (
                tasks, step.place()), step.cure(1))
        elif step.launch.starts_workers():
            report("D503", source.path, call.line, "%s starts workers (%s), and each spawns workers again" % (
                step.launch.title(), step.place()),
                   step.cure(1, command=["python", step.launch.script] + step.launch.arguments))
        return
    for source, call in step.program.calls(*TRAINERS, *FABRICS):
        strategy = call.argument(None, "strategy", "accelerator")
        if tasks and strategy is not None and str(literal(strategy)).startswith(
                ("ddp_spawn", "ddp_notebook", "ddp_fork")):
            report("D503", source.path, strategy.lineno, "%d tasks a node (%s) each spawn workers: strategy=\"%s\"" % (
                tasks, step.place(), literal(strategy)), 'strategy="ddp"')


def idle(step, report):
    """One task a node, several GPUs, and a script that is one process of many."""
    layout, program = step.layout, step.program
    if step.launch.kind != "python" or step.srun is None or layout.tasks_per_node != 1 or \
            (layout.gpus_per_node or 0) < 2 or any(command.words[0] == "ray" for command in step.job.commands):
        return
    starters = ("spawn", "start_processes", "Process", "Trainer", "Fabric", "notebook_launcher")
    spawns = any(call.last in starters for source in program.sources for call in source.calls)
    source, call = next(program.calls(*INIT), (None, None))
    if source and not spawns and not program.says("DataParallel"):
        report("D505", source.path, call.line, "one task a node (%s), so one of its %d GPUs is used" % (
            step.place(), layout.gpus_per_node), step.ask(layout.gpus_per_node))


MODULE = re.compile(r"\b(?:module\s+(?:load|add|swap|switch)|ml|spack\s+load)\b.*?\bopenmpi[/@]v?(\d[\d.]*)", re.I)
# the job changes PATH, or runs with another machine's files
ELSEWHERE = re.compile(r"^\s*(?:module|ml|spack|conda|mamba|micromamba|source|\.)\s|\bPATH=")


def loaded_openmpi(job):
    """The version that the job's own lines load; "" where it is this machine's, None where it cannot be known."""
    versions = [match.group(1) for text, _ in job.lines for match in [MODULE.search(text)] if match]
    if versions:
        return versions[-1]
    return None if any(ELSEWHERE.search(text) for text, _ in job.lines) else ""


def asked_mpi(step):
    """The type of --mpi: the line's, or a variable's; "" where it is Slurm's default, None where it cannot be known."""
    name = "SLURM_MPI_TYPE"
    kind = step.layout.options.get("mpi", step.launch.command.variables.get(name, step.job.variables.get(name)))
    kind = os.environ.get(name, "") if kind is None else bare(kind)
    return None if "$" in kind or kind == "list" else kind


def openmpi(step):
    """(type, version) where a version of Open MPI and a type of --mpi may not fit; else None."""
    layout = step.layout
    if step.launch.kind != "python" or step.srun is None or not step.program.imports_any("mpi4py") or \
            any(name.startswith("container") for name in layout.options):
        return None
    tasks = layout.ntasks or max(layout.nodes or 1, layout.tasks_per_node or 1)
    kind, version = asked_mpi(step), loaded_openmpi(step.job)
    if tasks < 2 or kind is None or version is None or kind.startswith("pmix"):
        return None
    return kind, version


def check(step, series, report):
    for find in (sizes, gpus, several_launchers, torchrun_numbers, machine_ranks, deepspeed_everywhere):
        find(step, report)
    cores(step, series, report)
    if step.program and step.launch.kind != "mpirun":
        for find in (trainer_sizes, spawned, idle):
            find(step, report)
