# SPDX-License-Identifier: BSD-3-Clause
"""script.py - a job script by itself: what sbatch or bash does not take, what its shell expands too early, an srun that
is forgotten, and signals.
"""
import difflib
import os
import re

from frameworks import DEVICES, FABRICS, NODES, TRAINERS, devices
from job import HELPERS, MODES
from launch import SERVERS
from ranks import INIT, MISSPELT, starts_workers
from shell import unquoted
from words import KNOWN, SIZES, Layout, bash_refuses, interpreter

VARIABLE = re.compile(r"(?<!\\)\$(\{?[A-Za-z_]\w*|\()")
# what these say is a text: sbatch takes it as it is
TEXTS = {"job-name", "comment", "mail-user", "wckey", "export"}
# beginnings of several options, which sbatch refuses
BEGINS = {"dpp": "ddp", "gpu": "gpus", "node": "nodes", "cpus": "cpus-per-task", "cpu": "cpus-per-task"}


def refused(job, report):
    error = bash_refuses(job.path) if job.batch and interpreter(job.text[0]) in ("bash", "sh", "") else None
    if error:
        report("D523", job.path, error[0], "bash does not take the script: %s" % error[1], "")


def ignored_directives(job, report):
    """Lines that sbatch leaves out. One that is commented out on purpose looks the same: a size that no other line
    gives, or #sbatch, is none of those."""
    given = {name for row in job.given for name in row.options}
    late_rows = [row for row in job.directives if row.ignored.startswith("line")]
    for row in job.directives:
        late = row in late_rows
        if not row.ignored or late and row is not late_rows[0]:
            continue
        text = job.text[row.line - 1].strip()
        if late or text.startswith("#sbatch") or (set(row.options) & SIZES) - given or not given:
            others = ", and %d more below" % (len(late_rows) - 1) if late and len(late_rows) > 1 else ""
            report("D520", job.path, row.line, "%s%s has no effect: %s" % (text, others, row.ignored),
                   "move it above line %s" % re.search(r"\d+", row.ignored).group() if late
                   else re.sub(r"^#\s*sbatch", "#SBATCH", text, flags=re.I))


def directive_variables(job, report):
    for row in job.given:
        for name, value in row.options.items():
            if VARIABLE.search(value) and name not in TEXTS and "'" not in value:
                report("D521", job.path, row.line, "--%s=%s: sbatch expands no variable" % (name, value),
                       "#SBATCH --%s=NUMBER, or sbatch --%s=%s %s" % (name, name, value, job.path.split("/")[-1]))


def meant(name):
    """The option that a name was meant to be; None where it may be a plugin's, or is right."""
    if name in KNOWN:
        return None
    dashed = name.replace("_", "-")
    close = [dashed] if dashed in KNOWN else difflib.get_close_matches(name, sorted(KNOWN), 1, 0.85)
    return close[0] if close else BEGINS.get(name)


MPI_TYPE = re.compile(r"^mi(x(_v\d)?|2)?$")  # what is left of -pmix and -pmi2


def options(job, report):
    """Names that Slurm does not have; srun --ddp worker, whose mode is taken for the command; srun -pmix, which asks
    for a partition."""
    rows = [(row.line, row.options, "sbatch") for row in job.given]
    rows += [(command.line, command.srun, "srun") for command in job.commands if command.srun]
    for line, names, program in rows:
        for name in names:
            right = meant(name)
            if right:
                report("D522", job.path, line, "--%s: %s has no such option" % (name, program), "--" + right)
    for command in job.commands:
        srun, word = command.srun or {}, command.words[0]
        partition = srun.get("partition", "")
        if srun.get("ddp") == "" and word in MODES:
            report("D524", job.path, command.line, "srun takes %s for the program that it starts" % word,
                   "srun --ddp=%s" % word)
        if MPI_TYPE.match(partition) and job.options.get("partition") != partition:
            report("D534", job.path, command.line, "srun -p%s asks for a partition named %s" % (partition, partition),
                   "srun --mpi=p%s" % partition)


GPU = re.compile(r"(?:^|,)(?:gres/)?gpu[:=]?([^,]*)")


def gpus_twice(job, series, report):
    """--gres=gpu beside --gpus-per-node, which sbatch and salloc set as SLURM_GPUS_PER_NODE: an error since Slurm 26.05
    (its commit 1a2bc58796), also with srun --gpus, which leaves set_by_env of the variable as it is (26.05.5)."""
    if series and series < (26, 5):
        return
    unset = any(re.search(r"(\bunset|-u)\s.*\bSLURM_GPUS_PER_NODE\b", line) for line, _ in job.lines)
    handed_on = None if unset or job.components else job.options.get(
        "gpus-per-node", None if job.batch else os.environ.get("SLURM_GPUS_PER_NODE"))
    rows = [(job.line_of("gres") or 1, job.options, "sbatch", None)]
    rows += [(command.line, command.srun, "srun", handed_on) for command in job.commands if command.srun]
    for line, given, program, variable in rows:
        found = GPU.search(given.get("gres", ""))
        other = given.get("gpus-per-node", variable)
        if found and other:
            text = "%s has --gres=%s beside %s=%s" % (
                program, given["gres"], "--gpus-per-node" if "gpus-per-node" in given else "SLURM_GPUS_PER_NODE", other)
            report("D535" if series else "D422", job.path, line, text if series else
                   "not looked at: whether %s, which Slurm 26.05 refuses; this one's version is not known" % text,
                   "%s --gpus-per-node=%s, without --gres=gpu" % (program, found.group(1) or "1"))


PER_TASK = re.compile(r"(?<!\\)\$\{?(SLURM_PROCID|SLURM_NODEID|SLURM_LOCALID)\b")
OWN = re.compile(r"\b(RANK|rank|NODE_RANK|node_rank|node-rank|machine_rank|machine-rank|LOCAL_RANK|local_rank)\b")
NUMBERS = {"RANK", "LOCAL_RANK", "NODE_RANK", "GROUP_RANK", "WORLD_SIZE"}


def is_unused(job, line, steps):
    """Whether a variable that is set here does no harm: nothing expands or exports it, or no program reads it."""
    kept = re.match(r"^(export\s+)?(\w+)=\S*$", line)
    if not kept:
        return False
    name = kept.group(2)
    others = [unquoted(other) for other, _ in job.lines if other != line]
    if any(re.search(r"\$\{?%s\b" % name, other) for other in others):
        return False
    exported = kept.group(1) or any(re.search(r"\bexport\b.*\b%s\b" % name, other) for other in others)
    programs = [step.program for step in steps.all if step.srun is not None]
    return not exported or name in NUMBERS and bool(programs) and not any(
        program is None or reads(program, name) for program in programs)


def reads(program, name):
    """Whether a program may take a number from the environment, itself or in torch."""
    if program.reads(name) or program.imports_any(*DEVICES):
        return True
    return name in ("RANK", "WORLD_SIZE") and any(
        call.argument(None, "rank" if name == "RANK" else "world_size") is None for _, call in program.calls(*INIT))


def is_right(name, steps):
    """Whether 0 is the task's own number, too: the job says one node, and where that matters one task."""
    layouts = [step.layout for step in steps.all if step.srun is not None]
    return bool(layouts) and all(layout.nodes == 1 and (name == "SLURM_NODEID" or layout.ntasks == 1)
                                 for layout in layouts)


def too_early(job, steps, report):
    """$SLURM_PROCID in the batch script, where it is 0; in a file that srun runs it would be right."""
    wrapped = any(command.srun is not None for command in job.commands)
    if not job.batch or not wrapped and "ntasks" not in job.options and "nodes" not in job.options:
        return
    if any(re.search(r"rdzv[_-]backend[= ]+[\"']?(c10d|etcd)", line) for line, _ in job.lines):
        return  # a rendezvous numbers the nodes itself
    for line, number in job.lines:
        found = PER_TASK.search(unquoted(line))
        if found and not re.match(r"^\s*(echo|printf|if|\[|elif|case)\b", line) and \
                OWN.search(line) and not is_right(found.group(1), steps) and not is_unused(job, line, steps):
            report("D515", job.path, number,
                   "the batch shell expands $%s, before srun starts the tasks" % found.group(1),
                   "srun bash -c '... $%s ...'   (single quotes)" % found.group(1))


def misspelt_variables(job, report):
    """$SLURM_JOB_NUMNODES and the like, unless the script sets them."""
    for line, number in job.lines:
        for name in re.findall(r"\$\{?(SLURM_\w+)\b(?!:?-)", line):
            if name in MISSPELT and name not in job.variables and not any(
                    re.search(r"\b%s=" % name, other) for other, _ in job.lines):
                report("D408", job.path, number, "%s is read, which Slurm does not set" % name, "$" + MISSPELT[name])


# What reaches other nodes without srun.
OTHERS = {"ssh", "pdsh", "clush", "ibrun", "jsrun", "aprun", "flux", "parallel", "ray", "dask", "sbatch", "srun_multi",
          "horovodrun", "pssh", "mpirun.lsf", "charmrun", "prun", "torchx", "docker", "kubectl", "xargs"}


INSTALL = ("pip", "pip3", "venv", "ensurepip")


def is_helper(command):
    name, first, second = (command.words + ["", ""])[:3]
    name = os.path.basename(name)
    quick = first in ("-c", "--version", "-V") or first == "-m" and second in INSTALL
    return name in HELPERS or name in INSTALL or quick and name.startswith("python")


# srun's options that say which node
PLACES = {"nodelist", "relative", "exclude", "nodefile", "distribution"}
MAY_START = re.compile(r"/|\.sh$|^(?:bash|sh|make)$")


def may_start(job, command):
    """Whether a command is a program of the site's own, or a script, in which srun may be."""
    if command.srun is not None or command.kind is not None or not MAY_START.search(command.words[0]):
        return False
    words = command.words[1:] if command.words[0] in ("bash", "sh") else command.words
    text = job.text_named(next((word for word in words if not word.startswith("-")), ""))
    return text is None or "srun" in text


def is_alone(job, launch):
    """Whether a job of several nodes starts this on one of them, whichever that is, and nothing beside it."""
    layout = Layout(job, launch.srun)
    return 1 in (layout.nodes, layout.ntasks) and launch.kind is not None and not PLACES & set(launch.srun) and \
        not launch.repeated and launch.function is None and launch.number("nnodes") in (None, 1) and \
        not job.components and (job.options.number("nodes") or 0) > 1 and not job.at_once


def is_reached(job, steps):
    """Whether the script starts something on other nodes, by srun or otherwise, or may."""
    return any(command.srun is not None and not is_helper(command) and not is_alone(job, command) or
               os.path.basename(command.words[0]) in OTHERS or may_start(job, command) for command in job.commands) or \
        any(step.launch.kind == "mpirun" or starts_others(step.program) for step in steps.all)


def waits(program, gpus):
    """Whether a program is one process of several, and starts none of the others. `gpus`: of a node."""
    if starts_workers(program):
        return False
    for source, call in program.calls(*TRAINERS, *FABRICS):
        return (devices(program, source, call, gpus)[2] or 0) > 1
    return any(program.calls(*INIT))


def starts_others(program):
    return program is not None and (program.imports_any(*NODES) or program.says("srun", "mpirun"))


def finds_nodes(launch):
    """Whether a launcher reaches the other nodes by itself, over ssh, or may: its configuration is not looked at."""
    if launch.kind == "deepspeed":
        return bool({"hostfile", "H", "launcher", "include", "i"} & set(launch.options)) or launch.is_open()
    if launch.kind == "accelerate":
        return bool({"config_file", "deepspeed_hostfile", "mpirun_hostfile"} & set(launch.options)) or launch.is_open()
    if launch.kind in SERVERS:  # Ray does, or the script numbers its servers itself
        given = set(launch.options) | set(launch.options.values())
        return launch.unknown or bool({"node_rank", "use_ray", "ray"} & given)
    return launch.kind not in ("python", "torchrun", "launch") and \
        os.path.basename(launch.words[0]) != "trtllm-llmapi-launch"


def forgotten(job, steps):
    """Of several tasks of one node without the program: it may be meant so, but for as many tasks as GPUs."""
    if not job.batch or not steps.all or is_reached(job, steps):
        return
    step, whole = steps.all[-1], steps.whole
    launch, program, tasks = step.launch, step.program, whole.tasks_per_node or 0
    if (whole.nodes or 0) > 1 and not finds_nodes(launch):
        if step.srun is None:
            step.say("D514", "%d nodes, but this runs on the first one alone: there is no srun" % whole.nodes,
                     step.cure(without=("standalone",)))
        elif program or launch.starts_workers() or launch.kind in SERVERS:
            step.say("D514", "%d nodes, but srun starts this on one, and nothing on the others" % whole.nodes,
                     "#SBATCH --nodes=1; or srun with --nodes=%d" % whole.nodes)
    elif whole.nodes == 1 and launch.kind == "python" and tasks > 1 and (
            waits(program, whole.gpus_per_node) if program else tasks == whole.gpus_per_node):
        step.say("D525", "%d tasks, but this runs once: there is no srun" % tasks)


HANDLED = {"TERM", "INT", "HUP", "QUIT"}
SIGNALS = {"1": "HUP", "2": "INT", "3": "QUIT", "10": "USR1", "12": "USR2", "15": "TERM"}
TOLD = {"USR1", "USR2"}  # rollcall's PET_SIGNALS_TO_HANDLE adds them


def signals(job, steps):
    """As torch.distributed.run has it: signals_to_handle is SIGTERM,SIGINT,SIGHUP,SIGQUIT, unless told otherwise."""
    found = re.match(r"^(?:R:)?(?:SIG)?([A-Z0-9]+)(@\d+)?$", job.options.get("signal", "").upper())  # B: the shell's
    signal = SIGNALS.get(found.group(1), found.group(1)) if found else "TERM"
    if signal in HANDLED or any("PET_SIGNALS_TO_HANDLE" in line for line, _ in job.lines):
        return
    for step in steps.all:
        if step.launch.kind == "torchrun" and step.srun is not None and "signals_to_handle" not in step.launch.options \
                and not (signal in TOLD and step.has_rollcall):
            cure = "torchrun --signals-to-handle=SIGTERM,SIGINT,SIGHUP,SIGQUIT,SIG%s" % signal
            step.say("D531", "--signal=%s ends torchrun (line %d), which handles TERM, INT, HUP and QUIT alone"
                     % (job.options["signal"], step.line), cure + ("; or " + step.cure() if signal in TOLD else ""),
                     job.line_of("signal") or 1)
            return


def check(job, steps, series, report):
    refused(job, report)
    if job.batch:
        ignored_directives(job, report)
        directive_variables(job, report)
        misspelt_variables(job, report)
        too_early(job, steps, report)
    options(job, report)
    gpus_twice(job, series, report)
    forgotten(job, steps)
    signals(job, steps)
