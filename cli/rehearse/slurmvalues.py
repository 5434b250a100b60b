# SPDX-License-Identifier: BSD-3-Clause
"""slurmvalues.py - which variables Slurm sets for a batch script and for a task: one table for all series.

From src/common/env.c (env_array_for_batch_job, env_array_for_step, setup_env, set_env_from_opts), src/sbatch/opt.c and
src/slurmd/slurmstepd of 22.05.8, 24.11.5 and 26.05.3.
"""
import os
import pwd

import hosts

OLDEST, NEWEST = (0, 0), (99, 99)
# variables of GPUs that every vendor's gres sets if gres.conf has no AutoDetect
GPU_LISTS = ("CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "ZE_AFFINITY_MASK", "GPU_DEVICE_ORDINAL")


def user():
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return str(os.getuid())


def joined(values):
    return None if values is None else ",".join(map(str, values))


def of_option(name):
    return lambda job: job.options.get(name)


def tres(job):
    """SLURM_TRES_PER_TASK, which has replaced SLURM_GPUS_PER_TASK."""
    given = job.options.get("gpus-per-task")
    found = ["cpu=%s" % job.cpus_per_task] if job.cpus_per_task else []
    found += [job.options["tres-per-task"]] if "tres-per-task" in job.options else []
    return ",".join(found + (["gres/gpu=%s" % given.replace(":", "=")] if given else [])) or None


def tres_bind(job):
    return job.options.get("tres-bind") or (
        "gres/gpu:per_task:%s" % job.options["gpus-per-task"] if "gpus-per-task" in job.options else None)


# name, first series, last series, value of a job (None: not set)
JOB = (
    ("SLURM_CLUSTER_NAME", OLDEST, NEWEST, lambda job: "cluster"),
    ("SLURM_JOB_ID", OLDEST, NEWEST, lambda job: job.job),
    ("SLURM_JOBID", OLDEST, NEWEST, lambda job: job.job),
    ("SLURM_JOB_NAME", OLDEST, NEWEST, lambda job: job.name),
    ("SLURM_JOB_NODELIST", OLDEST, NEWEST, lambda job: hosts.compress(job.nodes)),
    ("SLURM_NODELIST", OLDEST, NEWEST, lambda job: hosts.compress(job.nodes)),
    ("SLURM_JOB_NUM_NODES", OLDEST, NEWEST, lambda job: len(job.nodes)),
    ("SLURM_NNODES", OLDEST, NEWEST, lambda job: len(job.nodes)),
    ("SLURM_JOB_PARTITION", OLDEST, NEWEST, lambda job: job.options.get("partition") or "batch"),
    ("SLURM_JOB_ACCOUNT", OLDEST, NEWEST, of_option("account")),
    ("SLURM_JOB_QOS", OLDEST, NEWEST, lambda job: job.options.get("qos") or "normal"),
    ("SLURM_JOB_CPUS_PER_NODE", OLDEST, NEWEST, lambda job: hosts.compress_counts([job.cpus] * len(job.nodes))),
    ("SLURM_TASKS_PER_NODE", OLDEST, NEWEST, lambda job: hosts.compress_counts(job.counts)),
    ("SLURM_NTASKS", OLDEST, NEWEST, lambda job: job.tasks),
    ("SLURM_NPROCS", OLDEST, NEWEST, lambda job: job.tasks),
    ("SLURM_NTASKS_PER_NODE", OLDEST, NEWEST, lambda job: job.per_node),
    ("SLURM_CPUS_PER_TASK", OLDEST, NEWEST, lambda job: job.cpus_per_task),
    ("SLURM_NTASKS_PER_GPU", OLDEST, NEWEST, of_option("ntasks-per-gpu")),
    ("SLURM_GPUS", OLDEST, NEWEST, of_option("gpus")),
    ("SLURM_GPUS_PER_NODE", OLDEST, NEWEST, of_option("gpus-per-node")),
    ("SLURM_GPUS_PER_TASK", OLDEST, (22, 5), of_option("gpus-per-task")),
    ("SLURM_TRES_PER_TASK", (23, 11), NEWEST, tres),
    ("SLURM_TRES_BIND", (23, 11), NEWEST, tres_bind),
    ("SLURM_GPU_BIND", OLDEST, (22, 5), of_option("gpu-bind")),
    ("SLURM_JOB_EXCLUSIVE", (26, 5), NEWEST, lambda job: "NODE" if "exclusive" in job.options else "NO"),
    ("SLURM_JOB_OVERSUBSCRIBE", (26, 5), NEWEST, lambda job: "NO" if "exclusive" in job.options else "OK"),
    ("SLURM_DISTRIBUTION", OLDEST, NEWEST, of_option("distribution")),
    ("SLURM_SUBMIT_DIR", OLDEST, NEWEST, lambda job: job.folder),
    ("SLURM_SUBMIT_HOST", OLDEST, NEWEST, lambda job: "login"),
    ("SLURM_ARRAY_JOB_ID", OLDEST, NEWEST, lambda job: job.job if job.array else None),
    ("SLURM_ARRAY_TASK_ID", OLDEST, NEWEST, lambda job: job.array and job.array[0]),
    ("SLURM_ARRAY_TASK_COUNT", OLDEST, NEWEST, lambda job: job.array and len(job.array)),
    ("SLURM_ARRAY_TASK_STEP", OLDEST, NEWEST, lambda job: 1 if job.array else None),
    ("SLURM_ARRAY_TASK_MIN", OLDEST, NEWEST, lambda job: job.array and job.array[0]),
    ("SLURM_ARRAY_TASK_MAX", OLDEST, NEWEST, lambda job: job.array and job.array[-1]),
)
# of the batch script only: slurmd's
BATCH = (
    ("ENVIRONMENT", OLDEST, NEWEST, lambda job: "BATCH"),
    ("HOSTNAME", OLDEST, NEWEST, lambda job: job.nodes[0]),
    ("SLURMD_NODENAME", OLDEST, NEWEST, lambda job: job.nodes[0]),
    ("SLURM_NODEID", OLDEST, NEWEST, lambda job: 0),
    ("SLURM_PROCID", OLDEST, NEWEST, lambda job: 0),
    ("SLURM_LOCALID", OLDEST, NEWEST, lambda job: 0),
    ("SLURM_GTIDS", OLDEST, NEWEST, lambda job: 0),
    ("SLURM_STEP_ID", (26, 5), NEWEST, lambda job: -5),
    ("SLURM_STEPID", (26, 5), NEWEST, lambda job: -5),
    ("SLURM_TASK_PID", OLDEST, NEWEST, lambda job: 4711),
    ("SLURM_CPUS_ON_NODE", OLDEST, NEWEST, lambda job: job.cpus),
    ("SLURM_JOB_USER", OLDEST, NEWEST, lambda job: user()),
    ("SLURM_JOB_UID", OLDEST, NEWEST, lambda job: os.getuid()),
    ("SLURM_JOB_GID", OLDEST, NEWEST, lambda job: os.getgid()),
    ("SLURM_WORKING_CLUSTER", OLDEST, NEWEST, lambda job: "cluster:login:6817:9728:109"),
    ("SLURM_JOB_START_TIME", (23, 11), NEWEST, lambda job: 1800000000),
    ("SLURM_JOB_END_TIME", (23, 11), NEWEST, lambda job: 1800003600),
    ("SLURM_OOM_KILL_STEP", (24, 5), NEWEST, lambda job: 0),
    ("SLURM_NODE_ALIASES", OLDEST, (22, 5), lambda job: "(null)"),
    ("SLURM_GPUS_ON_NODE", OLDEST, NEWEST, lambda job: job.gpus or None),
    ("SLURM_JOB_GPUS", OLDEST, NEWEST, lambda job: joined(range(job.gpus)) or None),
) + tuple((name, OLDEST, NEWEST, lambda job: joined(range(job.gpus)) or None) for name in GPU_LISTS)


def read_table(table, job):
    """The variables of a table for a job's series."""
    values = {name: value(job) for name, first, last, value in table if first <= job.series <= last}
    return {name: str(value) for name, value in values.items() if value is not None}


def batch(job):
    return read_table(JOB + BATCH, job)


def shell(job):
    """Of salloc's shell on the login node."""
    return read_table(JOB, job)


def components(jobs):
    """A job of several components: their variables by number, as the batch script has them."""
    values = {"SLURM_HET_SIZE": str(len(jobs))}
    for number, job in enumerate(jobs):
        values.update({"%s_HET_GROUP_%d" % pair: value for pair, value in (
            ((name, number), value) for name, value in read_table(JOB, job).items())})
    return values


def exported(environment, wish):
    """The environment that srun --export=WISH hands on. NIL and NONE keep Slurm's own names."""
    words = (wish or "ALL").split(",")
    if words[0] in ("NONE", "NIL"):
        return {name: value for name, value in environment.items() if name.startswith(("SLURM_", "SPANK_"))}
    kept = dict(environment) if "ALL" in words else {
        name: value for name, value in environment.items()
        if name.startswith(("SLURM_", "SPANK_")) or name in words}
    kept.update(word.split("=", 1) for word in words if "=" in word)
    return kept


def task(step, number, environment, place, offset=(0, 0), whole=None):
    """The environment of one task. whole: (nodes, counts) of all components of an `srun A : B`, offset: (ranks, nodes)
    before this one."""
    rank, node, local = place
    nodes, counts = whole or (step.nodes, step.counts)
    values = exported(environment, step.options.get("export"))
    listed, tasks, spread = hosts.compress(nodes), sum(counts), hosts.compress_counts(counts)
    values.update(SLURM_STEP_ID=number, SLURM_STEPID=number, SLURM_STEP_NODELIST=listed,
                  SLURM_STEP_NUM_NODES=len(nodes), SLURM_STEP_NUM_TASKS=tasks, SLURM_STEP_TASKS_PER_NODE=spread,
                  SLURM_STEP_LAUNCHER_PORT=40000, SLURM_SRUN_COMM_PORT=40000, SLURM_SRUN_COMM_HOST="10.0.0.1",
                  SLURM_LAUNCH_NODE_IPADDR="10.0.0.1", SLURM_UMASK="0022", SLURM_CPUS_ON_NODE=max(counts),
                  SLURM_NODEID=node + offset[1], SLURM_PROCID=rank + offset[0], SLURM_LOCALID=local,
                  SLURM_TASK_PID=5000 + rank, SLURMD_NODENAME=step.nodes[node], HOSTNAME=step.nodes[node])
    if "preserve-env" not in step.typed and not whole:
        values.update(SLURM_NTASKS=tasks, SLURM_NPROCS=tasks, SLURM_NNODES=len(nodes), SLURM_TASKS_PER_NODE=spread)
    values.setdefault("SLURM_JOB_NODELIST", listed)
    values["SLURM_GTIDS"] = joined(sorted(other + offset[0] for other, where, _ in step.task_places() if where == node))
    values["SLURM_DISTRIBUTION"] = step.options.get("distribution") or (
        "cyclic" if step.tasks <= len(step.nodes) else "block")
    if "cpus-per-task" in step.options:
        values["SLURM_CPUS_PER_TASK"] = step.options["cpus-per-task"]
    if "ntasks-per-node" in step.typed and step.per_node:
        values["SLURM_NTASKS_PER_NODE"] = step.per_node
    if step.series >= (23, 11) and step.bind:
        values["SLURM_TRES_BIND"] = "gres/gpu:" + step.bind
        if "gpus-per-task" in step.typed:
            cores = "cpu=%s," % step.typed["cpus-per-task"] if "cpus-per-task" in step.typed else ""
            values["SLURM_TRES_PER_TASK"] = cores + "gres/gpu=" + step.typed["gpus-per-task"].replace(":", "=")
    set_gpus(values, step, local)
    return {name: str(value) for name, value in values.items()}


def set_gpus(values, step, local):
    gpus = step.gpus_of_task(local)
    for name in GPU_LISTS + ("SLURM_GPUS_ON_NODE", "SLURM_STEP_GPUS"):
        values.pop(name, None)
    if gpus is None or step.bind == "none" and not step.gpus:
        return
    values["SLURM_GPUS_ON_NODE"] = step.gpus
    text = "\ue0000\ue001" if gpus == "" else joined(gpus)
    values.update(dict.fromkeys(GPU_LISTS + ("SLURM_STEP_GPUS",), text))
    if step.bind:
        values["SLURMD_TRES_BIND"] = ("gres/gpu:%s" if step.series >= (23, 11) else "gpu:%s") % step.bind
