# SPDX-License-Identifier: BSD-3-Clause
"""agree.py - a job's tasks, GPUs and cores against each other, and against what the script does with them."""
import re

from ranks import INIT
from source import literal

TRAINERS = {"lightning.pytorch.Trainer", "pytorch_lightning.Trainer", "lightning.Trainer",
            "pytorch_lightning.trainer.Trainer", "lightning.pytorch.trainer.Trainer",
            "lightning.Fabric", "lightning.fabric.Fabric", "lightning_fabric.Fabric"}
ONE_EACH = re.compile(
    r"^(map_gpu|mask_gpu|single:\d+|per_task:\d+|closest|.*\bverbose,(single|per_task|closest))", re.I)


def line_of(job, name, launch):
    """Where an option stands: its #SBATCH line, else the srun line."""
    if launch is not None and launch.command.srun is not None and name in launch.command.srun:
        return launch.command.line
    if job.batch:
        for number, text in enumerate(open_lines(job.path), 1):
            if text.startswith("#SBATCH") and re.search(r"(--%s\b|-%s[ =]?\d)" % (name, short(name)), text):
                return number
    return launch.command.line if launch is not None else 1


def short(name):
    return {"nodes": "N", "ntasks": "n", "cpus-per-task": "c", "gpus": "G"}.get(name, "\0")


def open_lines(path):
    with open(path, "rb") as file:
        return file.read().decode("utf-8", "replace").splitlines()


def itself(layout, launch, job, report):
    """Options that contradict each other."""
    tasks = layout.options.number("ntasks")
    nodes = layout.options.number("nodes")
    per_node = layout.options.number("ntasks-per-node")
    if tasks and per_node and tasks < per_node:
        report("D507", job.path, line_of(job, "ntasks-per-node", launch),
               "--ntasks=%d, but --ntasks-per-node=%d" % (tasks, per_node), "--ntasks=%d" % (per_node * (nodes or 1)))
    elif tasks and per_node and nodes and tasks < per_node * nodes:
        report("D507", job.path, line_of(job, "ntasks", launch),
               "--ntasks=%d, but %d nodes with --ntasks-per-node=%d" % (tasks, nodes, per_node),
               "--ntasks=%d" % (per_node * nodes))
    if "cpus-per-task" in layout.options and "exclusive" in layout.options and "nodes" not in layout.options and \
            not {"ntasks", "ntasks-per-node", "ntasks-per-gpu"} & set(layout.options):
        report("D506", job.path, line_of(job, "cpus-per-task", launch),
               "-c without a number of tasks, on whole nodes: Slurm starts as many as fit", "-n 1")


def devices(layout, launch, job, report):
    if launch.kind not in ("python", "console") or launch.command.srun is None:
        return
    per_node, gpus = layout.tasks_per_node, layout.gpus_per_node
    if per_node and gpus and per_node > gpus and "ntasks-per-gpu" not in layout.options:
        report("D508", job.path, line_of(job, "ntasks-per-node", launch),
               "%d tasks a node, but %d GPU%s" % (per_node, gpus, "s" if gpus > 1 else ""),
               "--ntasks-per-node=%d" % gpus)
    bind = layout.options.get("gpu-bind", "")
    # rollcall makes cuda:LOCAL_RANK right, and says where a cgroup hides the others
    if "ddp" in layout.options or "allow-task-sharing" in layout.options.get("gres-flags", ""):
        return
    nearest = "g" in layout.options.get("accel-bind", "") and bind != "none"
    if per_node and per_node > 1 and (layout.gpus_per_task == 1 and bind != "none" or ONE_EACH.match(bind) or nearest):
        name = "gpus-per-task" if layout.gpus_per_task == 1 else "accel-bind" if nearest else "gpu-bind"
        others = "other GPU" if per_node == 2 else "other %d GPUs" % (per_node - 1)
        report("D509", job.path, line_of(job, name, launch),
               "--%s=%s hides the %s of the node from each task" % (name, layout.options[name], others),
               "--gpus-per-node=%d --gpu-bind=none" % per_node)


def cores(layout, launch, job, series, program, report):
    """A task with GPUs and data loaders has one core, or srun does not take over the cores asked of sbatch.

    Returns what could not be looked at."""
    if launch.command.srun is None or not job.batch:
        return ""
    asked = job.options.number("cpus-per-task")
    named = "cpus-per-task" in launch.command.srun or any(name == "SRUN_CPUS_PER_TASK" for name, _, _ in job.exports)
    if asked and asked > 1 and not named and (not series or (22, 5) <= series < (23, 11)):
        if not series:
            return "whether srun takes over --cpus-per-task=%d: Slurm 22.05 and 23.02 do not, " \
                   "and this one's version is not known" % asked
        report("D510", job.path, launch.command.line,
               "srun does not take over --cpus-per-task=%d: each task has one core" % asked,
               "srun --cpus-per-task=$SLURM_CPUS_PER_TASK")
    elif not asked and not named and not {"exclusive", "cpus-per-gpu", "mem-per-cpu"} & set(layout.options) and \
            layout.gpus_per_node and "cpus-per-task" not in layout.options:
        workers = loaders(program, launch)
        if workers and workers > 1:
            report("D511", job.path, launch.command.line,
                   "each task has one core, for itself and %d data loader workers" % workers,
                   "--cpus-per-task=%d" % (workers + 1))
    return ""


def loaders(program, launch):
    if not program:
        return None
    for source in program.sources:
        for call in source.calls:
            if call.name.split(".")[-1] == "DataLoader" and "num_workers" in call.keywords:
                number = program.number(source, call.keywords["num_workers"], launch.arguments)
                if number:
                    return number
    return None


def trainer(program, layout, launch, job, report):
    """Trainer(devices=, num_nodes=) against the step."""
    for source in program.sources:
        for call in source.calls:
            if call.name not in TRAINERS or call.open:
                continue
            size = call.argument(None, "devices", "gpus")
            number = program.number(source, size, launch.arguments) if size is not None else None
            ddp = "ddp" in (launch.command.srun or {}) or "ddp" in job.options
            if number and number > 0 and layout.tasks_per_node and number != layout.tasks_per_node and not (
                    layout.tasks_per_node == 1 and (ddp or launch.starts_workers())) and not launch.starts_workers():
                report("D501", source.path, size.lineno, "devices=%d, but %d task%s a node (%s)" % (
                    number, layout.tasks_per_node, "s" if layout.tasks_per_node > 1 else "", place(job, launch)),
                    "srun --ntasks-per-node=%d" % number)
            nodes = call.argument(None, "num_nodes")
            count = 1 if nodes is None else program.number(source, nodes, launch.arguments)
            if count and layout.nodes and count != layout.nodes:
                report("D502", source.path, nodes.lineno if nodes is not None else call.line,
                       "num_nodes=%d%s, but %d node%s (%s)" % (
                           count, "" if nodes is not None else ", the default",
                           layout.nodes, "s" if layout.nodes > 1 else "", place(job, launch)),
                       "num_nodes=%d" % layout.nodes)


def place(job, launch):
    return "%s:%d" % (job.path.split("/")[-1], launch.command.line) if job.batch else "the line given"


def spawned(program, layout, launch, job, report):
    """mp.spawn in several tasks of a node, or on several nodes with the size of one."""
    for source, call in program.calls("torch.multiprocessing.spawn", "torch.multiprocessing.start_processes"):
        if layout.tasks_per_node and layout.tasks_per_node > 1 and launch.command.srun is not None:
            report("D503", source.path, call.line, "%d tasks a node (%s) each spawn workers for all GPUs" % (
                layout.tasks_per_node, place(job, launch)), "srun --ntasks-per-node=1")
        elif launch.starts_workers():
            report("D503", source.path, call.line, "%s starts workers (%s), and each spawns workers again" % (
                launch.title(), place(job, launch)), "srun --ntasks-per-node=1 python SCRIPT")
        return
    for source, call in program.calls(*TRAINERS):
        strategy = call.argument(None, "strategy", "accelerator")
        if layout.tasks_per_node and layout.tasks_per_node > 1 and launch.command.srun is not None and \
                strategy is not None and str(literal(strategy)).startswith(("ddp_spawn", "ddp_notebook", "ddp_fork")):
            report("D503", source.path, strategy.lineno, "%d tasks a node (%s) each spawn workers: strategy=\"%s\"" % (
                layout.tasks_per_node, place(job, launch), literal(strategy)), 'strategy="ddp"')


def idle(program, layout, launch, job, report):
    """One task a node, several GPUs, and a script that is one process of many."""
    if launch.kind != "python" or launch.command.srun is None or layout.tasks_per_node != 1 or \
            not layout.gpus_per_node or layout.gpus_per_node < 2 or any(
                command.words[0] == "ray" for command in job.commands):
        return
    starters = ("spawn", "start_processes", "Process", "Trainer", "Fabric", "notebook_launcher")
    spawns = any(call.name.split(".")[-1] in starters
                 for source in program.sources for call in source.calls)
    if any(program.calls(*INIT)) and not spawns and not program.says("DataParallel"):
        source, call = next(program.calls(*INIT))
        report("D505", source.path, call.line, "one task a node (%s), so one of its %d GPUs is used" % (
            place(job, launch), layout.gpus_per_node), "srun --ntasks-per-node=%d" % layout.gpus_per_node)


def default_master(program, layout, launch, report):
    """--dist-url's default, where the line does not name another."""
    if not layout.nodes or layout.nodes < 2:
        return
    for source in program.sources:
        for names, default, line in source.options.values():
            value = literal(default) if default is not None else None
            if isinstance(value, str) and re.match(r"^tcp://(localhost|127\.)", value) and not any(
                    word.partition("=")[0] in names for word in launch.arguments):
                report("D404", source.path, line, '%s is "%s" on %d nodes' % (names[-1], value, layout.nodes),
                       "%s env://" % names[-1])
