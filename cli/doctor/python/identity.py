# SPDX-License-Identifier: BSD-3-Clause
"""identity.py - programs that take their rank from variables which nothing in the job sets."""
import ast
import glob
import os
import re

from agree import TRAINERS
from ranks import INIT, starts_workers
from source import Unreadable, guarded, literal, text_of, within

# Something in the job, or in the program, sets or may set the variables.
SETS = re.compile(r"\bRANK=|\bPET_|\bROLLCALL|rollcall|task-prolog|\bSLURM_TASK_PROLOG")
OWN_WAYS = ("idr_torch", "submitit", "ezpz", "ignite", "mmengine", "mmcv", "composer", "horovod", "deepspeed", "ray",
            "jax", "lightning", "pytorch_lightning", "lightning_fabric", "accelerate", "colossalai", "torchx",
            "hostlist", "dask", "transformers", "megatron", "nemo", "fairseq", "mpi4py", "hydra", "pytorchltr",
            "torchlaunch")


def is_env(source, program, call):
    """Whether init_process_group reads RANK and WORLD_SIZE."""
    method = call.argument(1, "init_method")
    given = [call.argument(None, name) for name in ("rank", "world_size", "store")]
    return not call.open and not any(given) and (
        method is None or all(literal(value) == "env://" for value in program.values(source, method)))


def is_certain(call):
    """Whether a call is made whatever the environment says: in no condition but `if __name__ == ...`."""
    return not within(call.stack, ast.Try, ast.ExceptHandler, ast.IfExp, ast.While) and not any(
        isinstance(node, ast.If) and not any(getattr(part, "id", "") == "__name__" for part in ast.walk(node.test))
        for node in call.stack)


def called_certainly(program, source, call, depth=3):
    """As is_certain(), for the functions that it is in, too."""
    if not is_certain(call):
        return False
    function = next((node for node in reversed(call.stack) if isinstance(node, ast.FunctionDef)), None)
    if function is None:
        return True
    calls = [(other, inner) for other in program.sources for inner in other.calls if inner.last == function.name or
             inner.name.split(".")[-1] == function.name]
    return depth > 0 and any(called_certainly(program, other, inner, depth - 1) for other, inner in calls)


def sets_rank(program):
    """Whether the program itself sets RANK, or leaves it to a library that may."""
    return any(program.settings("RANK", "WORLD_SIZE")) or program.imports_any(*OWN_WAYS) or any(
        call.name in ("os.environ.setdefault", "os.putenv", "os.environ.update") for source in program.sources
        for call in source.calls) or program.reads("SLURM_PROCID", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK") or \
        bool(starts_workers(program)) or program.is_test()


def needs_rank(program):
    """(source, line) of the call that ends without RANK, or None."""
    if sets_rank(program):
        return None
    for source, call in program.calls(*INIT):
        if is_env(source, program, call) and called_certainly(program, source, call) and \
                not guarded(call.stack, "environ", "getenv"):
            return source, call.line
    return None


def is_default():
    """Whether the cluster's plugin acts where nobody has asked for it."""
    folder = os.path.dirname(os.environ.get("SLURM_CONF", "/etc/slurm/slurm.conf"))
    for path in [os.path.join(folder, "plugstack.conf")] + glob.glob(os.path.join(folder, "plugstack.conf.d", "*")):
        try:
            if re.search(r"^\s*(optional|required)\s.*rollcall.*\bdefault=(?!off)", text_of(path), re.M):
                return True
        except Unreadable:
            continue
    return False


def is_given(job, step):
    """Whether anything in the job may set the variables for its tasks."""
    options, command = step.layout.options, step.launch.command
    if command.srun is not None and ({"ddp", "task-prolog", "prolog", "multi-prog"} & set(options) or is_default()):
        return True
    return "rollcall" in command.wrappers or "RANK" in command.variables or "RANK=" in options.get("export", "") or \
        any(SETS.search(line) for line, _ in job.lines + job.inner) or \
        any(name in os.environ for name in ("ROLLCALL", "RANK"))


def env_method(job, step, report):
    launch, program = step.launch, step.program
    plain = launch.kind == "python" and launch.command.srun is not None
    if not plain and (launch.kind != "mpirun" or launch.inner != "python"):
        return
    where = needs_rank(program)
    if where and not is_given(job, step):
        report("D529", where[0].path, where[1], "RANK is expected, but %s sets none (%s:%d)" % (
            "srun" if plain else "mpirun", os.path.basename(job.path), launch.command.line),
            "srun --ddp python SCRIPT" if plain else "mpirun rollcall exec -- python SCRIPT")


def lightning_by_mpirun(job, step, report):
    """Lightning takes a job of Slurm's for its launcher; the variables of the batch script say rank 0 to all."""
    launch, program = step.launch, step.program
    if launch.kind != "mpirun" or launch.inner != "python" or not job.is_slurm() or is_given(job, step):
        return
    if program.says("MPIEnvironment", "SLURM_NTASKS", "LightningEnvironment", "cluster_environment") or \
            job.options.get("job-name") in ("bash", "interactive") or any(
                re.search(r"\bSLURM_(JOB_NAME|NTASKS)\b", line) for line, _ in job.lines):
        return
    for source in program.sources:
        for call in source.calls:
            if call.name in TRAINERS:
                report("D530", source.path, call.line,
                       "mpirun starts this, but Lightning takes its rank from Slurm (%s:%d)" % (
                           os.path.basename(job.path), launch.command.line), "mpirun rollcall exec -- python SCRIPT")
                return


def option_without_srun(job, report):
    """#SBATCH --ddp in a job whose tasks mpirun starts."""
    if "ddp" not in job.options or any(command.srun is not None for command in job.commands):
        return
    for command in job.commands:
        if os.path.basename(command.words[0]) in ("mpirun", "mpiexec") and "rollcall" not in " ".join(command.words):
            report("D526", job.path, command.line, "#SBATCH --ddp acts in srun's tasks, but mpirun starts these",
                   "mpirun rollcall exec -- COMMAND")
            return


def check(job, steps, report):
    option_without_srun(job, report)
    for step in steps.all:
        if step.program:
            env_method(job, step, report)
            lightning_by_mpirun(job, step, report)
