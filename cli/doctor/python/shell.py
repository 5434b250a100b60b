# SPDX-License-Identifier: BSD-3-Clause
"""shell.py - a job script by itself: what its shell expands too early, and which values it fixes."""
import re

from lines import unquoted
from master import is_loopback, not_concrete

PER_TASK = re.compile(r"(?<!\\)\$\{?(SLURM_PROCID|SLURM_NODEID|SLURM_LOCALID)\b")


def too_early(job, report):
    """$SLURM_PROCID in the batch script, where it is 0; in a file that srun runs it would be right."""
    wrapped = any(command.srun is not None for command in job.commands)
    if not job.batch or not wrapped and "ntasks" not in job.options and "nodes" not in job.options:
        return
    for line, number in job.lines:
        found = PER_TASK.search(unquoted(line))
        if not found or re.match(r"^\s*(echo|printf|if|\[|elif|case)\b", line):
            continue
        # a rendezvous numbers the nodes itself; and a variable that is never used or exported does no harm
        kept = re.match(r"^(\w+)=\S*$", line)
        if re.search(r"rdzv[_-]backend[= ]+(c10d|etcd)", line) or kept and not any(
                re.search(r"\$\{?%s\b|\bexport\b.*\b%s\b" % (kept.group(1), kept.group(1)), unquoted(other))
                for other, _ in job.lines):
            continue
        if re.search(r"\b(RANK|rank|NODE_RANK|node_rank|node-rank|machine_rank|machine-rank|LOCAL_RANK|local_rank)\b|"
                     r"--node_rank|--machine_rank|RANK=", line):
            report("D515", job.path, number,
                   "the batch shell expands $%s, before srun starts the tasks" % found.group(1),
                   "srun bash -c '... $%s ...'   (single quotes)" % found.group(1))

def masters(job, nodes, report):
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
        elif name == "GLOO_SOCKET_IFNAME" and not_concrete(plain):
            report("D420", job.path, number, 'GLOO_SOCKET_IFNAME is "%s"' % plain, "export GLOO_SOCKET_IFNAME=ib0")

def check(job, nodes, report):
    too_early(job, report)
    masters(job, nodes, report)
