# SPDX-License-Identifier: BSD-3-Clause
"""layout.py - what contradicts each other in a step: its tasks, GPUs and cores, the launcher's own numbers, and what
the script does with them.
"""
import os
import re

from frameworks import FABRICS, TRAINERS, devices
from launch import ENDS, SERVERS
from ranks import INIT
from script import waits
from source import Unreadable, literal, text_of
from words import counted, scontrol


def several_launchers(step):
    """A launcher in each of several tasks of a node."""
    launch, layout, tasks = step.launch, step.layout, step.srun_tasks
    if not launch.starts_workers() or not tasks:
        return
    workers = launch.number("nproc_per_node", "num_processes", "num_gpus")
    text = "%d tasks a node each start %s" % (tasks, launch.title())
    if workers and workers > 1:
        text += ", which starts %d workers: %d processes" % (workers, workers * tasks)
        if layout.gpus_per_node:
            text += " on %d GPUs" % layout.gpus_per_node
    step.say("D504", text)


def is_one_of_several(step, nodes):
    """Whether a step of its own on each node, or each group of nodes, makes up the launch."""
    return nodes > step.layout.nodes and bool({"nodes", "nodelist", "relative"} & set(step.srun)) and (
        step.launch.repeated or bool({"node_rank", "rdzv_endpoint"} & set(step.launch.options)))


def torchrun_numbers(step):
    """torchrun's own numbers of nodes and processes against the step's."""
    launch, layout, several = step.launch, step.layout, step.srun_nodes
    if launch.kind not in ("torchrun", "launch") or step.srun is None:
        return
    is_told = step.has_rollcall or any(name.startswith("PET_") for name, _, _ in step.job.exports)
    if several and "standalone" in launch.options:
        step.say("D513", "torchrun --standalone on %d nodes" % several, step.cure(without=("standalone",)))
    elif several and "nnodes" not in launch.options and not is_told and not launch.unknown and not step.srun_tasks:
        step.say("D513", "%s has no --nnodes, on %d nodes" % (launch.title(), several))
    elif several and launch.options.get("node_rank") == "0":
        step.say("D512", "--node_rank=0 on all %d nodes" % several, step.cure(without=("node_rank",)))
    nodes = launch.number("nnodes")
    if nodes and layout.nodes and nodes != layout.nodes and not is_one_of_several(step, nodes) and \
            not launch.is_part:
        step.say("D512", "--nnodes=%d, but the step has %s" % (nodes, counted(layout.nodes, "node")),
                 "--nnodes=%d" % layout.nodes)
    workers = launch.number("nproc_per_node")
    if workers and layout.gpus_per_node and workers > layout.gpus_per_node:
        step.say("D412", "--nproc_per_node=%d, but %s a node" % (workers, counted(layout.gpus_per_node, "GPU")),
                 "--nproc_per_node=%d" % layout.gpus_per_node)


CONFIGURATION = os.path.join("~", ".cache", "huggingface", "accelerate", "default_config.yaml")
# with more than one machine accelerate takes its own numbers, and none of rollcall's
OWN_NUMBERS = ("num_machines", "num_processes", "machine_rank", "main_process_ip", "config_file")


def configured_rank(step):
    """The machine rank of accelerate's configuration, which all nodes read; None where there is none."""
    name = step.launch.options.get("config_file")
    path = os.path.join(step.launch.folder or "", name) if name else os.path.expanduser(CONFIGURATION)
    try:
        found = re.search(r"^machine_rank: *(\d+)", text_of(path), re.M)
    except Unreadable:
        if name:
            step.job.lose(name, step.line)
        return "" if name else None
    return found.group(1) if found else None


def machine_ranks(step):
    """accelerate launch on several nodes: each has to be told which one it is."""
    launch, nodes = step.launch, step.srun_nodes
    options = launch.options
    if launch.kind != "accelerate" or not nodes:
        return
    given = options.get("machine_rank") or configured_rank(step)
    if given == "0":
        step.say("D512", "%s 0 on all %d nodes" % (
            "--machine_rank" if "machine_rank" in options else "the configuration has machine_rank:", nodes),
            step.cure(without=OWN_NUMBERS))
    elif given is None and "num_machines" in options and not launch.is_open() and \
            options.get("rdzv_backend", "static") == "static":
        step.say("D512", "accelerate has no --machine_rank, on %d nodes" % nodes, step.cure(without=OWN_NUMBERS))


def deepspeed_everywhere(step):
    """DeepSpeed's launcher on each node, which reaches the others itself, or does not know of them."""
    launch, nodes = step.launch, step.srun_nodes
    if launch.kind != "deepspeed" or not nodes or {"no_ssh", "node_rank"} & set(launch.options) or launch.is_open():
        return
    change = step.cure(step.layout.gpus_per_node, command=launch.without_launcher())
    if {"hostfile", "H"} & set(launch.options):
        step.say("D532", "srun starts deepspeed on each of %d nodes, and each of them starts workers on all nodes" %
                 nodes, change)
    else:
        step.say("D513", "deepspeed has no hostfile, on %d nodes" % nodes, change)


# what rollcall tells the tasks
TOLD_IN_TASKS = re.compile(r"\$\{?(NODE_RANK|PET_NNODES)\b")


def server_numbers(step):
    """A server of models on several nodes: its numbers, and what the batch shell makes of the variables in them."""
    launch, job, nodes = step.launch, step.job, step.srun_nodes
    if launch.kind not in SERVERS or not nodes:
        return
    options, count, title = launch.options, launch.number("nnodes") or 0, launch.title()
    size = (launch.number("tensor_parallel_size", "tp_size", "tp") or 1) * (
        launch.number("pipeline_parallel_size", "pp_size", "pp") or 1)
    first = SERVERS[launch.kind][0]
    early = [name for name in TOLD_IN_TASKS.findall(" ".join(launch.words)) if name not in job.variables]
    if early and not {"bash", "sh"} & set(launch.wrappers):
        step.say("D515", "the batch shell expands $%s, before srun starts the tasks" % early[0])
    elif launch.unknown:
        return
    elif "nnodes" not in options and size > (step.layout.gpus_per_node or size):
        step.say("D513", "%s has no --nnodes, and its %d GPUs are more than a node has" % (title, size))
    elif count > 1 and options.get("node_rank", "0") == "0":
        step.say("D512", "%s is node 0 on all %d nodes" % (title, nodes))
    elif count > 1 and not {first, "nccl_init_addr"} & set(options):
        step.say("D404", "%s has no --%s, so each node waits for itself" % (title, first.replace("_", "-")))
    elif count and count != nodes:
        step.say("D512", "--nnodes=%d, but the step has %s" % (count, counted(nodes, "node")), "--nnodes=%d" % nodes)


ONE_EACH = re.compile(
    r"^(map_gpu|mask_gpu|single:\d+|per_task:\d+|closest|.*\bverbose,(single|per_task|closest))", re.I)


def sizes(step):
    """Options that contradict each other."""
    options = step.layout.options
    tasks, nodes, per_node = [options.number(name) for name in ("ntasks", "nodes", "ntasks-per-node")]
    needed = (per_node or 0) * (nodes or 1)
    if tasks and tasks < needed:
        step.say("D507", "--ntasks=%d, but --ntasks-per-node=%d%s" % (
            tasks, per_node, " on %d nodes" % nodes if (nodes or 1) > 1 else ""),
                 "--ntasks=%d" % needed, step.line_of("ntasks-per-node"))
    if "cpus-per-task" in options and "exclusive" in options and \
            not {"nodes", "ntasks", "ntasks-per-node", "ntasks-per-gpu"} & set(options):
        step.say("D506", "-c without a number of tasks, on whole nodes: Slurm starts as many as fit", "-n 1",
                 step.line_of("cpus-per-task"))


def gpus(step):
    layout, options = step.layout, step.layout.options
    if step.launch.kind not in ("python", "console") or step.srun is None:
        return
    per_node, count = layout.tasks_per_node, layout.gpus_per_node
    if per_node and count and per_node > count and "ntasks-per-gpu" not in options:
        step.say("D412", "%d tasks a node, but %s" % (per_node, counted(count, "GPU")), "--ntasks-per-node=%d" % count,
                 step.line_of("ntasks-per-node"))
    bind = options.get("gpu-bind", "")
    # rollcall makes cuda:LOCAL_RANK right, and says where a cgroup hides the others
    if step.has_rollcall or "allow-task-sharing" in options.get("gres-flags", ""):
        return
    nearest = "g" in options.get("accel-bind", "") and bind != "none"
    if step.srun_tasks and (layout.gpus_per_task == 1 and bind != "none" or ONE_EACH.match(bind) or nearest):
        name = "gpus-per-task" if layout.gpus_per_task == 1 else "accel-bind" if nearest else "gpu-bind"
        others = "other GPU" if per_node == 2 else "other %d GPUs" % (per_node - 1)
        step.say("D302", "--%s=%s hides the %s of the node from each task" % (name, options[name], others),
                 "--gpus-per-node=%d --gpu-bind=none" % per_node, step.line_of(name))


def cores(step, series):
    """A task with GPUs and data loaders has one core, or srun does not take over the cores asked of sbatch."""
    options, change = step.layout.options, "srun --cpus-per-task=$SLURM_CPUS_PER_TASK"
    named = step.srun is None or "cpus-per-task" in step.srun or any(
        name == "SRUN_CPUS_PER_TASK" for name, _, _ in step.job.exports)
    if named or not step.job.batch:
        return
    asked = step.job.options.number("cpus-per-task") or 0
    if asked > 1 and not series:
        step.say("D422", "not looked at: whether srun takes over --cpus-per-task=%d; Slurm 22.05 and 23.02 do not, and "
                 "this one's version is not known" % asked, change)
    elif asked > 1 and (22, 5) <= series < (23, 11):
        step.say("D510", "srun does not take over --cpus-per-task=%d: each task has one core" % asked, change)
    elif step.layout.gpus_per_node and not {"exclusive", "cpus-per-gpu", "mem-per-cpu", "cpus-per-task"} & set(options):
        workers = data_loaders(step)
        if workers and workers > 1:
            step.say("D511", "each task has one core, for itself and %d data loader workers" % workers,
                     "--cpus-per-task=%d" % (workers + 1))


def data_loaders(step):
    for source, call in step.program.calls() if step.program else ():
        if call.last == "DataLoader" and "num_workers" in call.keywords:
            number = step.program.number(source, call.keywords["num_workers"], step.launch.arguments)
            if number:
                return number
    return None


def trainer_sizes(step):
    """Trainer(devices=, num_nodes=) against the step."""
    launch, layout, program = step.launch, step.layout, step.program
    options, tasks = layout.options, layout.tasks_per_node
    sees_all = not {"gpu-bind", "accel-bind"} & set(options) and (tasks == 1 or not layout.gpus_per_task)
    # sbatch that is told of no task sets no SLURM_NTASKS: Lightning then starts a node's workers itself
    is_told = step.srun is not None or bool({"ntasks", "ntasks-per-node", "ntasks-per-gpu"} & set(options))
    starts_own = tasks == 1 and step.has_rollcall or not is_told or launch.starts_workers()
    for source, call in program.calls(*TRAINERS, *FABRICS):
        if call.open:
            continue
        size, said, number = devices(program, source, call, layout.gpus_per_node if sees_all else None,
                                     launch.arguments)
        if (number or 0) > 0 and tasks not in (None, number) and not starts_own:
            step.report("D501", source.path, size.lineno, "%s, but %s a node (%s)" % (
                said, counted(tasks, "task"), step.place), step.ask(number))
        nodes = call.argument(None, "num_nodes")
        count = 1 if nodes is None else program.number(source, nodes, launch.arguments)
        if count and layout.nodes and count != layout.nodes and not launch.is_part:
            step.report("D502", source.path, getattr(nodes, "lineno", call.line), "num_nodes=%d%s, but %s (%s)" % (
                count, ", the default" if nodes is None else "", counted(layout.nodes, "node"), step.place),
                        "num_nodes=%d" % layout.nodes)


def spawned(step):
    """mp.spawn in several tasks of a node, or on several nodes with the size of one."""
    launch, tasks = step.launch, step.srun_tasks
    for source, call in step.program.calls("torch.multiprocessing.spawn", "torch.multiprocessing.start_processes"):
        if tasks:
            step.report("D503", source.path, call.line, "%d tasks a node (%s) each spawn workers for all GPUs" % (
                tasks, step.place), step.cure(1))
        elif launch.starts_workers():
            step.report("D503", source.path, call.line, "%s starts workers (%s), and each spawns workers again" % (
                launch.title(), step.place), step.cure(1, command=launch.without_launcher()))
        return
    for source, call in step.program.calls(*TRAINERS, *FABRICS):
        strategy = call.argument(None, "strategy", "accelerator")
        if tasks and str(literal(strategy)).startswith(("ddp_spawn", "ddp_notebook", "ddp_fork")):
            step.report("D503", source.path, strategy.lineno, "%d tasks a node (%s) each spawn workers: strategy=%s" % (
                tasks, step.place, literal(strategy)), 'strategy="ddp"')


def idle(step):
    """One task a node, several GPUs, and a script that is one process of many."""
    layout, program = step.layout, step.program
    if step.launch.kind != "python" or step.srun is None or layout.tasks_per_node != 1 or \
            (layout.gpus_per_node or 0) < 2 or any(command.words[0] == "ray" for command in step.job.commands):
        return
    starters = ("spawn", "start_processes", "Process", "Trainer", "Fabric", "notebook_launcher")
    spawns = any(call.last in starters for _, call in program.calls())
    source, call = next(program.calls(*INIT), (None, None))
    if source and not spawns and not program.says("DataParallel"):
        step.report("D505", source.path, call.line, "one task a node (%s), so one of its %d GPUs is used" % (
            step.place, layout.gpus_per_node), step.ask(layout.gpus_per_node))


# where one is set, somebody has decided how steps end
DECIDES = {"SLURM_KILL_BAD_EXIT", "SLURM_WAIT", "PET_MAX_RESTARTS", "PET_NNODES"}
# in slurm.conf; WaitTime is srun's --wait
KILLS = re.compile(r"^(KillOnBadExit\s*=\s*1|WaitTime\s*=\s*[1-9])", re.M)


def goes_on(step):
    """srun lets the other tasks of a training go on when one fails, and nobody has said so."""
    launch, layout = step.launch, step.layout
    given = {name for name, _, _ in step.job.exports} | set(os.environ)
    if step.srun is None or step.report.shows_line or (layout.ntasks or 0) < 2 or launch.is_part or \
            launch.goes_on() or "ddp" in layout.options or DECIDES & given or \
            step.job.has_option and "ROLLCALL" in given or ENDS & set(step.srun) or any(
                value[:1] == "K" for value in step.srun.values()):  # -lK
        return
    if ("rollcall" in launch.wrappers or launch.starts_workers() or step.program and launch.kind == "python" and waits(
            step.program, layout.gpus_per_node)) and not KILLS.search(scontrol("show", "config")):
        step.say("D538", "%d tasks, and when one fails the others go on" % layout.ntasks,
                 step.typed(["srun", "-K"] + launch.typed[1:]))


def check(step, series):
    for find in (sizes, gpus, several_launchers, torchrun_numbers, machine_ranks, deepspeed_everywhere, server_numbers):
        find(step)
    cores(step, series)
    if step.program and step.launch.kind != "mpirun":
        for find in (trainer_sizes, spawned, idle):
            find(step)
    goes_on(step)
