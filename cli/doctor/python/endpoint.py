# SPDX-License-Identifier: BSD-3-Clause
"""endpoint.py - where launchers are told that rank 0 is, by their arguments and by the lines that make those."""
import re

from lines import unquoted
from master import is_loopback

NAMES = ("rdzv_endpoint", "rdzv-endpoint", "master_addr", "master-addr", "main_process_ip")
ADDRESS = re.compile(r"--(rdzv[_-]endpoint|master[_-]addr|main_process_ip)[= ]+[\"']?([^\s\"']+)")
OWN_HOST = re.compile(r"\bMASTER_ADDR=[\"']?(\$\(\s*hostname[^)]*\)|`hostname[^`]*`|\$\{?(HOSTNAME|SLURMD_NODENAME)\b)")
FALLBACK = re.compile(r"\|\|\s*echo\s+[\"']?(localhost|127\.\d+\.\d+\.\d+)")
FIRST = 'MASTER_ADDR=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)'


def arguments(job, steps, report):
    """--rdzv_endpoint=localhost, or the node where srun was typed, on several nodes."""
    for step in steps.all:
        if step.launch.command.srun is None or (step.layout.nodes or 0) < 2 or "standalone" in step.launch.options:
            continue
        for name in NAMES:
            value = step.launch.options.get(name)
            if value is not None and is_loopback(re.sub(r":\d+$", "", value)):
                report("D517", job.path, step.launch.command.line, "--%s=%s on %d nodes" % (
                    name, value, step.layout.nodes), "srun --ddp %s SCRIPT" % step.launch.title())


def launch_node(job, report):
    """$SLURM_LAUNCH_NODE_IPADDR, which only the tasks of a step have, in a line that the batch shell expands."""
    for line, number in job.lines:
        found = ADDRESS.search(unquoted(line))
        if found and re.match(r"\$\{?SLURM_LAUNCH_NODE_IPADDR", found.group(2)):
            report("D518", job.path, number, "--%s is SLURM_LAUNCH_NODE_IPADDR, where sbatch or srun was typed" %
                   found.group(1), "srun --ddp torchrun SCRIPT")


def in_tasks(line):
    """The text of srun ... bash -c '...' that the tasks' shells expand, not the batch shell."""
    found = re.search(r"\bsrun\b.*?\b(?:ba)?sh\s+-\w*c\s+(['\"])", line, re.S)
    if not found:
        return ""
    inner = line[found.end():]
    if found.group(1) == "'":
        return inner
    return re.sub(r"(?<!\\)[$`]", " ", inner).replace("\\$", "$").replace("\\`", "`")


def own_host(job, nodes, report):
    """MASTER_ADDR=$(hostname) in each task."""
    if not nodes or nodes < 2:
        return
    for line, number in job.lines + job.inner:
        text = line if (line, number) in job.inner else in_tasks(line)
        if OWN_HOST.search(text):
            report("D527", job.path, number, "each task takes its own host for MASTER_ADDR",
                   "export MASTER_ADDR=$(hostname)   (in the batch script, before srun)")


def fallback(job, nodes, report):
    for name, value, number in job.exports:
        found = FALLBACK.search(value)
        if name in ("MASTER_ADDR", "HEAD_NODE", "MASTER_IP", "head_node_ip") and found and (nodes or 0) > 1:
            report("D528", job.path, number, "%s falls back to %s" % (name, found.group(1)), FIRST)


def check(job, steps, report):
    nodes = steps.nodes()
    arguments(job, steps, report)
    launch_node(job, report)
    own_host(job, nodes, report)
    fallback(job, nodes, report)
