# SPDX-License-Identifier: BSD-3-Clause
"""shell.py - a job script by itself: what its shell expands too early, and which values it fixes."""
import re

from devices import LAUNCHED_BY_FRAMEWORK
from lines import unquoted
from master import is_loopback, not_concrete, speaks_gloo
from ranks import INIT, MISSPELT

PER_TASK = re.compile(r"(?<!\\)\$\{?(SLURM_PROCID|SLURM_NODEID|SLURM_LOCALID)\b")


OWN = re.compile(r"\b(RANK|rank|NODE_RANK|node_rank|node-rank|machine_rank|machine-rank|LOCAL_RANK|local_rank)\b")
NUMBERS = {"RANK", "LOCAL_RANK", "NODE_RANK", "GROUP_RANK", "WORLD_SIZE"}


def is_unused(job, line, steps):
    """Whether a variable that is set here does no harm: nothing expands or exports it, or no program reads it."""
    kept = re.match(r"^(export\s+)?(\w+)=\S*$", line)
    if not kept:
        return False
    name = kept.group(2)
    expands = re.compile(r"\$\{?%s\b" % name)
    others = [unquoted(other) for other, _ in job.lines if other != line]
    if any(expands.search(other) for other in others):
        return False
    if not kept.group(1) and not any(re.search(r"\bexport\b.*\b%s\b" % name, other) for other in others):
        return True
    programs = [step.program for step in steps.all if step.launch.command.srun is not None]
    return name in NUMBERS and bool(programs) and not any(
        program is None or reads(program, name) for program in programs)


def reads(program, name):
    """Whether a program may take a number from the environment, itself or in torch."""
    if program.reads(name) or program.imports_any(*LAUNCHED_BY_FRAMEWORK):
        return True
    return name in ("RANK", "WORLD_SIZE") and any(
        call.argument(None, "rank" if name == "RANK" else "world_size") is None for _, call in program.calls(*INIT))


def meets(job):
    """Whether a rendezvous numbers the nodes itself."""
    return any(re.search(r"rdzv[_-]backend[= ]+[\"']?(c10d|etcd)", line) for line, _ in job.lines)


def is_right(name, steps):
    """Whether 0 is the task's own number, too: the job says one node, and where that matters one task."""
    layouts = [step.layout for step in steps.all if step.launch.command.srun is not None]
    return bool(layouts) and all(layout.nodes == 1 and (name == "SLURM_NODEID" or layout.ntasks == 1)
                                 for layout in layouts)


def too_early(job, steps, report):
    """$SLURM_PROCID in the batch script, where it is 0; in a file that srun runs it would be right."""
    wrapped = any(command.srun is not None for command in job.commands)
    if not job.batch or not wrapped and "ntasks" not in job.options and "nodes" not in job.options:
        return
    for line, number in job.lines:
        found = PER_TASK.search(unquoted(line))
        if not found or re.match(r"^\s*(echo|printf|if|\[|elif|case)\b", line):
            continue
        if OWN.search(line) and not meets(job) and not is_right(found.group(1), steps) and \
                not is_unused(job, line, steps):
            report("D515", job.path, number,
                   "the batch shell expands $%s, before srun starts the tasks" % found.group(1),
                   "srun bash -c '... $%s ...'   (single quotes)" % found.group(1))


def may_speak_gloo(steps):
    return not steps.all or any(step.program is None or speaks_gloo(step.program) for step in steps.all)


def masters(job, steps, nodes, report):
    for name, value, number in job.exports:
        plain = value.strip("\"'")
        if name == "MASTER_PORT" and re.match(r"^\d+$", plain) and "exclusive" not in job.options:
            report("D516", job.path, number, "MASTER_PORT is always %s" % plain,
                   "(leave the line out: srun --ddp holds a free port)")
        elif name == "MASTER_ADDR" and is_loopback(plain) and (nodes or 0) > 1:
            report("D517", job.path, number, 'MASTER_ADDR is "%s" on %d nodes' % (plain, nodes),
                   "(leave the line out: srun --ddp sets it)")
        elif name == "MASTER_ADDR" and re.match(r"^\$\{?SLURM_(JOB_|STEP_)?NODELIST\}?$", plain):
            report("D518", job.path, number, "MASTER_ADDR is the whole list of nodes, such as n[01-04]",
                   'MASTER_ADDR=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)')
        elif name == "MASTER_ADDR" and "SLURM_LAUNCH_NODE_IPADDR" in plain:
            report("D518", job.path, number, "MASTER_ADDR is SLURM_LAUNCH_NODE_IPADDR, where sbatch or srun was typed",
                   'MASTER_ADDR=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)')
        elif name == "MASTER_ADDR" and re.search(r"\bhostname\s+(-I|--all-ip-addresses|-i\b|--ip-address)", plain) and \
                (nodes or 0) > 1:
            report("D519", job.path, number, "MASTER_ADDR is the first address that `hostname` finds",
                   'MASTER_ADDR=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)')
        elif name == "GLOO_SOCKET_IFNAME" and not_concrete(plain) and may_speak_gloo(steps):
            report("D420", job.path, number, 'GLOO_SOCKET_IFNAME is "%s"' % plain, "export GLOO_SOCKET_IFNAME=ib0")


def misspelt(job, report):
    """$SLURM_JOB_NUMNODES and the like, unless the script sets them."""
    for line, number in job.lines:
        for name in re.findall(r"\$\{?(SLURM_\w+)\b(?!:?-)", line):
            if name in MISSPELT and name not in job.variables and not any(
                    re.search(r"\b%s=" % name, other) for other, _ in job.lines):
                report("D408", job.path, number, "%s is read, which Slurm does not set" % name, "$" + MISSPELT[name])


def check(job, steps, report):
    misspelt(job, report)
    too_early(job, steps, report)
    masters(job, steps, steps.nodes(), report)
