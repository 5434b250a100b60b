# SPDX-License-Identifier: BSD-3-Clause
"""launch.py - what a command line starts, and whether its own arguments fit the step it is started in."""
import os
import re
import shutil

PYTHON = re.compile(r"^python[\d.]*$")
# Options of torchrun that take no value, and options of Python whose value is the next word.
TORCHRUN_FLAGS = {"--standalone", "--no-python", "--no_python", "--run-path", "--run_path", "-m", "--module",
                  "--use-env", "--use_env", "--signals-to-handle"}
PYTHON_VALUES = {"-W", "-X"}
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
            name = self.kind
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
            if words[0] in ("-m", "-mtorch.distributed.run"):
                module = words[1] if words[0] == "-m" and len(words) > 1 else words[0][2:]
                rest = words[2:] if words[0] == "-m" else words[1:]
                if module in ("torch.distributed.run", "torch.distributed.launch"):
                    self.kind = "torchrun" if module.endswith("run") else "launch"
                    return rest
                if module == "accelerate.commands.launch":
                    self.kind = "accelerate"
                    return rest
                self.module = True
                return [module] + rest
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
        """Whether more options may stand in a variable that is not known."""
        return self.script is None or self.script.startswith("$")

    def starts_workers(self):
        return self.kind in ("torchrun", "launch", "accelerate", "deepspeed", "composer")

    def title(self):
        return {"launch": "torch.distributed.launch", "accelerate": "accelerate launch"}.get(self.kind, self.kind)


def several_launchers(launch, layout, job, report):
    """A launcher in each of several tasks of a node."""
    if not launch.starts_workers() or launch.command.srun is None or not layout.tasks_per_node or \
            layout.tasks_per_node < 2:
        return
    workers = launch.number("nproc_per_node", "num_processes", "num_gpus")
    text = "%d tasks a node each start %s" % (layout.tasks_per_node, launch.title())
    if workers and workers > 1:
        text += ", which starts %d workers: %d processes" % (workers, workers * layout.tasks_per_node)
        if layout.gpus_per_node:
            text += " on %d GPUs" % layout.gpus_per_node
    report("D504", job.path, launch.command.line, text, "srun --ntasks-per-node=1 " + launch.title())


def is_one_of_several(launch, nodes, layout):
    """Whether a step of its own on each node, or each group of nodes, makes up the launch."""
    return nodes > layout.nodes and bool({"nodes", "nodelist", "relative"} & set(launch.command.srun)) and (
        launch.command.repeated or bool({"node_rank", "rdzv_endpoint", "rdzv-endpoint"} & set(launch.options)))


def arguments(launch, layout, job, report):
    """torchrun's own numbers of nodes and processes against the step's."""
    if launch.kind not in ("torchrun", "launch") or launch.command.srun is None:
        return
    line = launch.command.line
    nodes = launch.number("nnodes")
    ddp = "ddp" in launch.command.srun or "ddp" in job.options or any(
        name.startswith("PET_") or name == "ROLLCALL" for name, _, _ in job.exports)
    if layout.nodes and layout.nodes > 1:
        if "standalone" in launch.options:
            report("D513", job.path, line, "torchrun --standalone on %d nodes" % layout.nodes,
                   "srun --ddp torchrun SCRIPT")
        elif "nnodes" not in launch.options and not ddp and not launch.unknown:
            report("D513", job.path, line, "%s has no --nnodes, on %d nodes" % (launch.title(), layout.nodes),
                   "srun --ddp torchrun SCRIPT")
        elif launch.options.get("node_rank") == "0":
            report("D512", job.path, line, "--node_rank=0 on all %d nodes" % layout.nodes, "srun --ddp torchrun SCRIPT")
    if nodes and layout.nodes and nodes != layout.nodes and not is_one_of_several(launch, nodes, layout):
        report("D512", job.path, line, "--nnodes=%d, but the step has %d node%s" % (
            nodes, layout.nodes, "s" if layout.nodes > 1 else ""), "--nnodes=%d" % layout.nodes)
    workers = launch.number("nproc_per_node")
    if workers and layout.gpus_per_node and workers > layout.gpus_per_node:
        report("D508", job.path, line, "--nproc_per_node=%d, but %d GPU%s a node" % (
            workers, layout.gpus_per_node, "s" if layout.gpus_per_node > 1 else ""),
            "--nproc_per_node=%d" % layout.gpus_per_node)


CONFIGURATION = os.path.join(".cache", "huggingface", "accelerate", "default_config.yaml")


def machine_ranks(launch, layout, job, report):
    """accelerate launch on several nodes: each has to be told which one it is."""
    if launch.kind != "accelerate" or launch.command.srun is None or not layout.nodes or layout.nodes < 2:
        return
    options = launch.options
    change = "srun --ddp accelerate launch " + (launch.script or "SCRIPT")
    if options.get("machine_rank") == "0":
        report("D512", job.path, launch.command.line, "--machine_rank 0 on all %d nodes" % layout.nodes, change)
    elif "machine_rank" not in options and "num_machines" in options and not launch.is_open() and \
            "config_file" not in options and "ddp" not in layout.options and not os.path.exists(
                os.path.join(os.path.expanduser("~"), CONFIGURATION)):
        report("D512", job.path, launch.command.line, "accelerate has no --machine_rank, on %d nodes" % layout.nodes,
               change)


def deepspeed_everywhere(launch, layout, job, report):
    """DeepSpeed's launcher on each node, which reaches the others itself, or does not know of them."""
    options = launch.options
    if launch.kind != "deepspeed" or launch.command.srun is None or not layout.nodes or layout.nodes < 2 or \
            {"no_ssh", "node_rank"} & set(options) or launch.is_open():
        return
    change = "srun --ddp --ntasks-per-node=GPUS python " + (launch.script or "SCRIPT")
    if {"hostfile", "H"} & set(options):
        report("D532", job.path, launch.command.line,
               "srun starts deepspeed on each of %d nodes, and each of them starts workers on all nodes" % layout.nodes,
               change)
    else:
        report("D513", job.path, launch.command.line, "deepspeed has no hostfile, on %d nodes" % layout.nodes, change)


def check(launch, layout, job, report):
    several_launchers(launch, layout, job, report)
    arguments(launch, layout, job, report)
    machine_ranks(launch, layout, job, report)
    deepspeed_everywhere(launch, layout, job, report)
