# SPDX-License-Identifier: BSD-3-Clause
"""servers.py - servers of models, one a node: vLLM and SGLang. What a server is of its nodes it reads from options
alone (vLLM 0.33.0 vllm/engine/arg_utils.py, SGLang 0.5.23 sglang/srt/arg_groups/fields/parallel.py).
"""
import math
import re

from words import counted

# the option that says where the first one is, and how it gets its value on each node (lib/resolve/programs.def)
SERVERS = {
    "vllm": ("master_addr", "--master-addr $MASTER_ADDR --master-port $MASTER_PORT "
                            "$(test $NODE_RANK = 0 || echo --headless)"),
    "sglang": ("dist_init_addr", "--dist-init-addr $MASTER_ADDR:$MASTER_PORT"),
}
SIZES = (("tensor_parallel_size", "tp_size", "tp"), ("pipeline_parallel_size", "pp_size", "pp"))
OWN = ("nnodes", "node_rank", "master_addr", "master_port", "dist_init_addr", "nccl_init_addr", "headless")
TOLD_IN_TASKS = re.compile(r"\$\{?(NODE_RANK|PET_NNODES)\b")


def told(launch, words):
    """The command that a task starts to tell a server its place."""
    return ["sh", "-c", "%s --nnodes $PET_NNODES --node-rank $NODE_RANK %s" % (
        " ".join(words), SERVERS[launch.kind][1])]


def finds_nodes(launch):
    """Whether Ray reaches the other nodes, or the script numbers its servers itself."""
    return launch.unknown or "ray" in launch.options.values() or bool({"node_rank", "use_ray"} & set(launch.options))


def check(step, report):
    """A server on several nodes: its numbers, and what the batch shell makes of the variables in them."""
    launch, job, nodes = step.launch, step.job, step.srun_nodes()
    if launch.kind not in SERVERS or not nodes:
        return
    options, count, title = launch.options, launch.number("nnodes") or 0, launch.title()
    gpus = math.prod(launch.number(*names) or 1 for names in SIZES)
    first = SERVERS[launch.kind][0]
    early = [name for name in TOLD_IN_TASKS.findall(" ".join(launch.command.words)) if name not in job.variables]
    if early and not {"bash", "sh"} & set(launch.command.wrappers):
        report("D515", job.path, step.line, "the batch shell expands $%s, before srun starts the tasks" % early[0],
               step.cure())
    elif launch.unknown:
        return
    elif "nnodes" not in options and gpus > (step.layout.gpus_per_node or gpus):
        report("D513", job.path, step.line, "%s has no --nnodes, and its %d GPUs are more than a node has" % (
            title, gpus), step.cure())
    elif count > 1 and options.get("node_rank", "0") == "0":
        report("D512", job.path, step.line, "%s is node 0 on all %d nodes" % (title, nodes), step.cure())
    elif count > 1 and not {first, "nccl_init_addr"} & set(options):
        report("D404", job.path, step.line, "%s has no --%s, so each node waits for itself" % (
            title, first.replace("_", "-")), step.cure())
    elif count and count != nodes:
        report("D512", job.path, step.line, "--nnodes=%d, but the step has %s" % (count, counted(nodes, "node")),
               "--nnodes=%d" % nodes)
