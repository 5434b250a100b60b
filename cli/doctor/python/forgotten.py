# SPDX-License-Identifier: BSD-3-Clause
"""forgotten.py - srun forgotten: a batch script that runs its program itself, once, on the first node."""
import os

from agree import TRAINERS
from ranks import INIT, starts_workers

# What srun may start beside the training, and what reaches other nodes without srun.
HELPERS = {"hostname", "echo", "printf", "date", "env", "printenv", "nvidia-smi", "rocm-smi", "ls", "cp", "mv", "rm",
           "mkdir", "cat", "tar", "rsync", "true", "sleep", "id", "whoami", "uname", "lscpu", "free", "df", "ibstat",
           "ip", "wc", "pwd", "numactl", "taskset", "find", "sbcast", "chmod", "ulimit", "export", "module", "which",
           "sync", "dcgmi", "kill"}
OTHERS = {"ssh", "pdsh", "clush", "ibrun", "jsrun", "aprun", "flux", "parallel", "ray", "dask", "sbatch", "srun_multi",
          "horovodrun", "pssh", "mpirun.lsf", "charmrun", "prun", "torchx", "docker", "kubectl", "xargs"}
STARTERS = ("ray", "dask", "submitit", "parsl", "paramiko", "fabric", "horovod", "dask_jobqueue", "subprocess")


def is_helper(command):
    name = os.path.basename(command.words[0])
    quick = len(command.words) > 1 and command.words[1] in ("-c", "--version", "-V")
    return name in HELPERS or quick and name.startswith("python")


def is_reached(job, launches):
    """Whether the script starts something on other nodes, by srun or otherwise."""
    return any(command.srun is not None and not is_helper(command) or os.path.basename(command.words[0]) in OTHERS
               for command in job.commands) or any(launch.kind == "mpirun" for launch in launches)


def waits(program):
    """Whether a program is one process of several, and starts none of the others."""
    if starts_workers(program):
        return False
    for source in program.sources:
        for call in source.calls:
            if call.name in TRAINERS:
                number = program.number(source, call.argument(None, "devices"))
                return number is not None and number > 1
    return any(program.calls(*INIT))


def starts_others(program):
    return program is not None and (program.imports_any(*STARTERS) or program.says("srun", "mpirun"))


def finds_nodes(launch):
    """Whether a launcher reaches the other nodes by itself, over ssh, or may: its configuration is not looked at."""
    if launch.kind == "deepspeed":
        return bool({"hostfile", "H", "launcher", "include", "i"} & set(launch.options)) or launch.is_open()
    if launch.kind == "accelerate":
        return bool({"config_file", "deepspeed_hostfile", "mpirun_hostfile"} & set(launch.options)) or launch.is_open()
    return launch.kind not in ("python", "torchrun", "launch")


def several_nodes(job, step, nodes, report):
    launch = step.launch
    if finds_nodes(launch) or starts_others(step.program):
        return
    words = launch.command.words
    report("D514", job.path, launch.command.line,
           "%d nodes, but this runs on the first one alone: there is no srun" % nodes,
           "srun --ddp " + " ".join(words[:3] if launch.kind == "python" else [launch.title(), "SCRIPT"]))


def several_tasks(job, step, whole, report):
    """Several tasks of one node. Without the program it may be meant so, but for as many tasks as GPUs."""
    launch, program, tasks = step.launch, step.program, whole.tasks_per_node
    if launch.kind != "python" or not tasks or tasks < 2 or starts_others(program):
        return
    if waits(program) if program else tasks == whole.gpus_per_node:
        report("D525", job.path, launch.command.line, "%d tasks, but this runs once: there is no srun" % tasks,
               "srun --ddp " + " ".join(launch.command.words[:3]))


def check(job, steps, report):
    if not job.batch or not steps.all or is_reached(job, steps.launches):
        return
    step, whole = steps.all[-1], steps.whole
    if whole.nodes and whole.nodes > 1:
        several_nodes(job, step, whole.nodes, report)
    elif whole.nodes == 1:
        several_tasks(job, step, whole, report)
