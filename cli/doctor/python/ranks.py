# SPDX-License-Identifier: BSD-3-Clause
"""ranks.py - ranks and sizes: what a script says of them that the launcher knows better, programs whose rank nothing in
the job sets, and what each rank does that only one should do, or each a part of.
"""
import ast
import os
import re

from frameworks import DATA, DEVICES, FABRICS, FILES, RANKS, TRAINERS
from source import UNKNOWN, constant, guarded, is_main_guard, literal, mentions, within

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
    """Whether the script starts the worker processes itself."""
    return any(call.name in SPAWN or call.name.endswith(".multiprocessing.spawn") or call.last == "Process" and any(
        other.name.endswith("multiprocessing.get_context") for other in source.calls)
        for source, call in program.calls())


def misspelt(program, report):
    for source in program.sources:
        for name in sorted(MISSPELT.keys() & source.reads.keys()):
            report("D408", source.path, source.reads[name],
                   "%s is read, which Slurm does not set" % name, 'os.environ["%s"]' % MISSPELT[name])


def variables(node, source):
    """The variables of the environment in an expression, through names that are assigned once."""
    parts = list(ast.walk(node))
    for part in list(parts):
        rows = source.assigned.get(source.dotted(part), [])
        if len(rows) == 1 and rows[0][0] is not node:
            parts.extend(ast.walk(rows[0][0]))
    return {source.variable(part) for part in parts}


def by_hand(program, report):
    """rank = SLURM_NODEID * GPUs + SLURM_LOCALID: right only for even layouts in blocks."""
    if starts_workers(program):
        return
    for source in program.sources:
        for node in source.nodes(ast.BinOp):
            for left, right in ((node.left, node.right), (node.right, node.left)):
                is_sum = isinstance(node.op, ast.Add) and isinstance(left, ast.BinOp) and isinstance(left.op, ast.Mult)
                names = variables(left, source) & {"SLURM_NODEID", "NODE_RANK", "GROUP_RANK"} if is_sum else ()
                if names and variables(right, source) & {"SLURM_LOCALID", "LOCAL_RANK"}:
                    report("D407", source.path, node.lineno, "a rank is computed of %s and the local rank" %
                           sorted(names)[0], 'rank = int(os.environ["RANK"])')
                    return


def sizes(program, report):
    """What is passed to init_process_group."""
    if starts_workers(program) or program.is_test():
        return
    for source, call in program.calls(*INIT):
        size = call.argument(None, "world_size")
        if size is None:
            continue
        value, backend = program.number(source, size), literal(call.argument(0, "backend"))
        if value is not None and value > 1:
            report("D416", source.path, size.lineno,
                   "init_process_group is given world_size=%d, whatever the launch" % value,
                   "dist.init_process_group(%s)" % ('"%s"' % backend if isinstance(backend, str) else ""))
        for part in program.values(source, size):
            if isinstance(part, ast.Call) and source.dotted(part.func) == "torch.cuda.device_count" and \
                    literal(call.argument(None, "rank")) is UNKNOWN:
                report("D417", source.path, part.lineno,
                       "the world size is the number of GPUs that this process sees",
                       'world_size = int(os.environ["WORLD_SIZE"])')


def replaced(source, default):
    """Whether --local_rank defaults to None, and the script tests for that."""
    return (default is None or constant(default) is None) and any(
        mentions(node.left, "local_rank") and any(constant(value) is None for value in node.comparators)
        for node in source.nodes(ast.Compare))


def local_rank_option(program, report):
    """--local_rank in a script that does not read LOCAL_RANK: only torch.distributed.launch passed the option."""
    if starts_workers(program) or program.imports_any(*DEVICES) or not any(program.calls(*INIT)) or \
            program.says("LOCAL_RANK", "SLURM_LOCALID"):
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


# Something in the job, or in the program, sets or may set the variables.
SETS = re.compile(r"\bRANK=|\bPET_|\bROLLCALL|rollcall|task-prolog|\bSLURM_TASK_PROLOG")


def is_env(source, program, call):
    """Whether init_process_group reads RANK and WORLD_SIZE."""
    method = call.argument(1, "init_method")
    return not call.open and call.argument(None, "rank", "world_size", "store") is None and (
        method is None or all(literal(value) == "env://" for value in program.values(source, method)))


def is_certain(stack):
    """Whether a place is reached whatever the environment says: in no condition but `if __name__ == ...`."""
    return not within(stack, ast.Try, ast.ExceptHandler, ast.IfExp, ast.While) and not any(
        isinstance(node, ast.If) and not is_main_guard(node) for node in stack)


def sets_rank(program):
    """Whether the program itself sets RANK, or leaves it to a library that may."""
    return any(program.settings("RANK", "WORLD_SIZE")) or program.imports_any(*RANKS) or \
        any(program.calls("os.environ.setdefault", "os.environ.update")) or \
        program.reads("SLURM_PROCID", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK") or \
        starts_workers(program) or program.is_test()


def needs_rank(program):
    """(source, call) for each call that ends without RANK."""
    for source, call in program.calls(*INIT) if not sets_rank(program) else ():
        if is_env(source, program, call) and program.is_reached(call.stack, is_certain) and \
                not guarded(call.stack, "environ", "getenv"):
            yield source, call


def is_given(job, step):
    """Whether anything in the job may set the variables for its tasks."""
    options, launch = step.layout.options, step.launch
    if step.srun is not None and {"ddp", "task-prolog", "prolog", "multi-prog"} & set(options):
        return True
    return "rollcall" in launch.wrappers or "RANK=" in options.get("export", "") or \
        any(SETS.search(line) for line in launch.typed + [line for line, _ in job.lines + job.inner]) or \
        any(name in os.environ for name in ("ROLLCALL", "RANK"))


def env_method(job, step):
    plain = step.launch.kind == "python" and step.srun is not None
    if not plain and step.launch.inner != "python" or is_given(job, step):
        return
    for source, call in needs_rank(step.program):
        step.report("D529", source.path, call.line, "RANK is expected, but %s sets none (%s)" % (
            "srun" if plain else "mpirun", step.place), step.cure() if plain else step.by_mpirun())
        return


def lightning_by_mpirun(job, step):
    """Lightning takes a job of Slurm's for its launcher; the variables of the batch script say rank 0 to all."""
    program = step.program
    if step.launch.inner != "python" or not job.given or is_given(job, step):
        return
    if program.says("MPIEnvironment", "SLURM_NTASKS", "LightningEnvironment", "cluster_environment") or \
            job.options.get("job-name") in ("bash", "interactive") or any(
                re.search(r"\bSLURM_(JOB_NAME|NTASKS)\b", line) for line, _ in job.lines):
        return
    for source, call in program.calls(*TRAINERS, *FABRICS):
        step.report("D530", source.path, call.line, "mpirun starts this, but Lightning takes its rank from Slurm (%s)" %
                    step.place, step.by_mpirun())
        return


BY_NODE = re.compile(r"\b(RANK|WORLD_SIZE)=[\"']?\$\{?(SLURM_NODEID|SLURM_NNODES|SLURM_JOB_NUM_NODES)\b")


def by_node(job, steps, report):
    """RANK=$SLURM_NODEID or WORLD_SIZE=$SLURM_NNODES for several tasks a node."""
    tasks = max((step.srun_tasks for step in steps.all if step.launch.kind == "python"), default=0)
    for line, number in job.lines + job.inner if tasks else ():
        found = BY_NODE.search(line)
        # a batch shell expands RANK too early: D515
        if found and (found.group(1) != "RANK" or (line, number) in job.inner or "srun" in line[:found.start()]):
            report("D512", job.path, number, "%s=$%s, but %d tasks a node" % (*found.groups(), tasks),
                   "%s=$%s" % (found.group(1), "SLURM_PROCID" if found.group(1) == "RANK" else "SLURM_NTASKS"))


def option_without_srun(job, report):
    """#SBATCH --ddp in a job whose tasks mpirun starts."""
    if "ddp" not in job.options or any(command.srun is not None for command in job.commands):
        return
    for command in job.commands:
        if os.path.basename(command.words[0]) in ("mpirun", "mpiexec") and "rollcall" not in " ".join(command.words):
            report("D526", job.path, command.line, "#SBATCH --ddp acts in srun's tasks, but mpirun starts these",
                   "mpirun rollcall exec -- COMMAND")
            return


def option_behind(job, step):
    """srun python train.py --ddp, where --ddp is no word of the program. Returns whether that is so."""
    arguments = [] if step.srun is None or "ddp" in step.layout.options else step.launch.arguments
    given = next((word for word in arguments if word.split("=")[0] == "--ddp"), None)
    if given and not step.program.says("ddp"):
        step.say("D537", "%s comes after the program, which gets it" % given,
                 "srun %s%s python SCRIPT" % ("" if job.has_option else "-K rollcall exec ", given))
    return given


DDP = ("torch.nn.parallel.DistributedDataParallel", "torch.nn.parallel.distributed.DistributedDataParallel",
       "torch.distributed.fsdp.FullyShardedDataParallel", "torch.distributed.fsdp.fully_shard")
RANK_WORDS = ("rank", "world", "replica")
LOADER = ("torch.utils.data.DataLoader", "torch.utils.data.dataloader.DataLoader")
# Parts of names in a program that divides its data in a way of its own, or that has another library do it.
DIVIDES = ("sampler", "shard", "iterabledataset", "split", "webdataset", "wds", "ffcv", "dali", "streaming", "subset",
           "partition", "get_worker_info", "scatter")


def speaks_of(node, words):
    """Whether an expression has a name or text with one of these words in it."""
    names = [getattr(part, "id", None) or getattr(part, "attr", None) or constant(part) for part in ast.walk(node)]
    return any(word in name.lower() for name in names if isinstance(name, str) for word in words)


def is_divided(program):
    names = {word.lower() for source in program.sources for word in source.words} | {
        str(entry.item).lower() for source in program.sources for entry in source.imports}
    return program.imports_any(*DATA) or program.is_test() or any(
        part in name for part in DIVIDES for name in names)


def undivided(program, report):
    if not any(program.calls(*INIT)) or not any(program.calls(*DDP)) or is_divided(program):
        return
    for source, call in program.calls(*LOADER):
        data = call.argument(0, "dataset")
        if data is None or call.open or constant(call.argument(None, "shuffle")) is not True:
            continue
        if not any(speaks_of(value, RANK_WORDS) for value in program.values(source, data)):
            report("D424", source.path, call.line, "each rank reads all of the data: no sampler divides them",
                   "DataLoader(dataset, sampler=DistributedSampler(dataset), ...)")
            return


FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
# What a condition asks where one rank is to write.
ASKS = ("rank", "main", "master", "primary", "proc", "save", "leader", "chief", "coordinator", "gpu", "local", "zero",
        "device", "node")


def leaves_early(function):
    """Whether a function returns or raises for the other ranks: if rank != 0: return."""
    return any(isinstance(node, ast.If) and speaks_of(node.test, ASKS) and any(
        isinstance(inner, (ast.Return, ast.Raise)) for inner in node.body) for node in ast.walk(function))


def asks(node):
    """What a statement asks before its block is run, as expressions."""
    if isinstance(node, (ast.If, ast.IfExp, ast.While)):
        return [node.test]
    if isinstance(node, ast.With):
        return node.items
    return node.decorator_list if isinstance(node, FUNCTIONS) else []


def is_for_all(stack):
    """Whether all ranks come to a place."""
    return not any(isinstance(node, FUNCTIONS) and leaves_early(node) or any(
        speaks_of(asked, ASKS) for asked in asks(node)) for node in stack)


def saved_by_all(program, report):
    if not any(program.calls(*INIT)) or not any(program.calls(*DDP[:2])) or program.imports_any(*FILES) or \
            program.is_test():
        return
    for source, call in program.calls("torch.save"):
        file = call.argument(1, "f")
        files = program.values(source, file) if file is not None else []
        if files and not any(speaks_of(value, ASKS) or isinstance(value, ast.Call) and "IO" in source.dotted(value.func)
                             for value in files) and program.is_reached(call.stack, is_for_all):
            report("D425", source.path, call.line, "every rank writes this file",
                   "if dist.get_rank() == 0: torch.save(...)")
            return


def check_program(program, report):
    for find in (misspelt, by_hand, sizes, local_rank_option, undivided, saved_by_all):
        find(program, report)


def check_job(job, steps, report):
    option_without_srun(job, report)
    by_node(job, steps, report)
    for program, line in job.behind_exec:
        report("D536", job.path, line, "rollcall exec is in front of %s" % program,
               "%s rollcall exec -- COMMAND" % program.replace("srun", "srun -K"))
    for step in steps.all:
        if step.program and not option_behind(job, step):
            env_method(job, step)
            lightning_by_mpirun(job, step)
