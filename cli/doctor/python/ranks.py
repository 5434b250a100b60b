# SPDX-License-Identifier: BSD-3-Clause
"""ranks.py - what a script says of ranks and sizes that the launcher knows better."""
import ast

from source import constant, literal, mentions, UNKNOWN

INIT = ("torch.distributed.init_process_group", "torch.distributed.distributed_c10d.init_process_group")
SPAWN = ("torch.multiprocessing.spawn", "torch.multiprocessing.start_processes", "multiprocessing.Process",
         "torch.multiprocessing.Process", "ray.init", "accelerate.notebook_launcher", "notebook_launcher",
         "torch.multiprocessing.Pool", "multiprocessing.Pool")

# Names that no version of Slurm sets, and the names that were meant.
MISSPELT = {
    "SLURM_LOCAL_ID": "SLURM_LOCALID", "SLURM_LOCAL_RANK": "SLURM_LOCALID", "SLURM_RANK": "SLURM_PROCID",
    "SLURM_PROC_ID": "SLURM_PROCID", "SLURM_NODE_ID": "SLURM_NODEID", "SLURM_NODE_RANK": "SLURM_NODEID",
    "SLURM_WORLD_SIZE": "SLURM_NTASKS", "SLURM_N_TASKS": "SLURM_NTASKS", "SLURM_NUM_TASKS": "SLURM_NTASKS",
    "SLURM_GLOBAL_RANK": "SLURM_PROCID", "SLURM_NNODE": "SLURM_NNODES", "SLURM_JOB_NUMNODES": "SLURM_JOB_NUM_NODES",
}


def starts_workers(program):
    """Where the script starts the worker processes itself, or None."""
    for source in program.sources:
        for call in source.calls:
            if call.name in SPAWN or call.name.endswith(".multiprocessing.spawn") or call.last == "Process" and any(
                    other.name.endswith("multiprocessing.get_context") for other in source.calls):
                return source, call
    return None


def misspelt(program, report):
    for source in program.sources:
        for name in sorted(source.reads):
            if name in MISSPELT:
                report("D408", source.path, source.reads[name][0],
                       "%s is read, which Slurm does not set" % name, 'os.environ["%s"]' % MISSPELT[name])


def variables(node, program, source):
    """The variables of the environment in an expression, through names that are assigned once."""
    found = set()
    for part in ast.walk(node):
        if isinstance(part, ast.Call) and source.dotted(part.func) in ("os.getenv", "os.environ.get") and part.args:
            found.add(constant(part.args[0]))
        name = source.environment_name(part)
        if name:
            found.add(name)
        if isinstance(part, (ast.Name, ast.Attribute)):
            rows = source.assigned.get(source.dotted(part), [])
            if len(rows) == 1 and rows[0][0] is not node:
                for inner in ast.walk(rows[0][0]):
                    if isinstance(inner, ast.Call) and inner.args and source.dotted(inner.func) in (
                            "os.getenv", "os.environ.get"):
                        found.add(constant(inner.args[0]))
                    name = source.environment_name(inner)
                    if name:
                        found.add(name)
    return found


def by_hand(program, report):
    """rank = SLURM_NODEID * GPUs + SLURM_LOCALID: right only for even layouts in blocks."""
    if starts_workers(program):
        return
    for source in program.sources:
        for node in source.sums:
            for left, right in ((node.left, node.right), (node.right, node.left)):
                if not isinstance(left, ast.BinOp) or not isinstance(left.op, ast.Mult):
                    continue
                names = variables(left, program, source)
                if names & {"SLURM_NODEID", "NODE_RANK", "GROUP_RANK"} and variables(right, program, source) & {
                        "SLURM_LOCALID", "LOCAL_RANK"}:
                    report("D407", source.path, node.lineno, "a rank is computed of %s and the local rank" % sorted(
                        names & {"SLURM_NODEID", "NODE_RANK", "GROUP_RANK"})[0], 'rank = int(os.environ["RANK"])')
                    return


def sizes(program, report):
    """What is passed to init_process_group."""
    if starts_workers(program) or program.is_test():
        return
    for source, call in program.calls(*INIT):
        size = call.argument(None, "world_size")
        rank = call.argument(None, "rank")
        if size is None:
            continue
        value = program.number(source, size)
        if value is not None and value > 1:
            report("D416", source.path, size.lineno,
                   "init_process_group is given world_size=%d, whatever the launch" % value,
                   without(call, "init_process_group", source))
        for part in program.values(source, size):
            if isinstance(part, ast.Call) and source.dotted(part.func) == "torch.cuda.device_count" and not (
                    rank is not None and literal(rank) is not UNKNOWN):
                report("D417", source.path, part.lineno,
                       "the world size is the number of GPUs that this process sees",
                       'world_size = int(os.environ["WORLD_SIZE"])')


def without(call, name, source):
    backend = call.argument(0, "backend")
    value = literal(backend) if backend is not None else UNKNOWN
    return 'dist.%s("%s")' % (name, value) if isinstance(value, str) else "dist.%s()" % name


def replaced(source, default):
    """Whether --local_rank defaults to None, and the script tests for that."""
    return (default is None or constant(default) is None) and any(
        mentions(node.left, "local_rank") and any(constant(value) is None for value in node.comparators)
        for node in source.comparisons)


def local_rank_option(program, report):
    """--local_rank in a script that does not read LOCAL_RANK: only torch.distributed.launch passed the option."""
    if starts_workers(program) or program.reads("LOCAL_RANK", "SLURM_LOCALID", "OMPI_COMM_WORLD_LOCAL_RANK") or \
            program.imports_any("deepspeed", "transformers", "accelerate", "lightning", "pytorch_lightning",
                                "colossalai", "mmengine", "mmcv", "apex", "timm", "megatron", "horovod"):
        return
    if program.says("LOCAL_RANK", "SLURM_LOCALID") or not any(program.calls(*INIT)):
        return
    for source in program.sources:
        row = source.options.get("local_rank")
        if not row or not any("local" in name for name in row[0]) or replaced(source, row[1]):
            continue
        stored = [name for name in source.assigned if name.endswith(".local_rank")]
        if not stored and any("local_rank" in source.words for source in program.sources):
            report("D415", source.path, row[2], "the local rank comes from --local_rank alone",
                   'parser.add_argument("--local-rank", "--local_rank", type=int, '
                   'default=int(os.environ["LOCAL_RANK"]))')
            return


def check(program, report):
    misspelt(program, report)
    by_hand(program, report)
    sizes(program, report)
    local_rank_option(program, report)
