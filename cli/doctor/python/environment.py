# SPDX-License-Identifier: BSD-3-Clause
"""environment.py - variables of another job, which srun takes for options of its own, and caches that nodes share.

sbatch copies all SLURM_* into a new job, with --export=NONE as well (Slurm 22.05 to 26.05, src/common/env.c,
env_array_merge_slurm). In a job it is typed in a shell of salloc's or of srun --pty.
"""
import os
import re

from words import bare, scontrol

# Those that Slurm sets for a job or step and srun reads (src/srun/opt.c, env_vars), without SLURM_. Others are the
# user's, or always the new job's.
NAMES = """CPU_BIND CPU_FREQ_REQ CPUS_PER_GPU DISTRIBUTION GPUS GPUS_PER_NODE GPUS_PER_SOCKET GPUS_PER_TASK GPU_BIND
    GPU_FREQ MEM_BIND MEM_PER_CPU MEM_PER_GPU MEM_PER_NODE NPROCS NTASKS NTASKS_PER_CORE NTASKS_PER_GPU NTASKS_PER_NODE
    NTASKS_PER_TRES OVERCOMMIT THREADS_PER_CORE TRES_BIND TRES_PER_TASK""".split()
# The options that replace it, where they are called otherwise, and more with which sbatch or slurmctld sets it itself
# (set_envs, set_env_from_opts; gres_job_state_validate).
CALLED = {"CPU_FREQ_REQ": "cpu-freq", "MEM_PER_NODE": "mem", "NPROCS": "ntasks"}
TASKS = {"ntasks-per-node", "ntasks-per-gpu"}
MORE = {"NPROCS": TASKS, "NTASKS": TASKS, "TRES_BIND": {"gpu-bind"},
        "TRES_PER_TASK": {"cpus-per-task", "gpus-per-task"}}
MEMORY = {"mem", "mem-per-cpu", "mem-per-gpu"}
# What scontrol show job calls it.
FIELDS = {"CPUS_PER_GPU": "CpusPerTres", "GPUS": "TresPerJob", "GPUS_PER_NODE": "TresPerNode",
          "GPUS_PER_SOCKET": "TresPerSocket", "GPU_BIND": "TresBind", "GPU_FREQ": "TresFreq",
          "MEM_PER_CPU": "MinMemoryCPU", "MEM_PER_GPU": "MemPerTres", "MEM_PER_NODE": "MinMemoryNode",
          "NTASKS_PER_NODE": "NtasksPerN:B:S:C", "TRES_BIND": "TresBind", "TRES_PER_TASK": "TresPerTask"}


COPIED = "of the job of this shell, and sbatch copies them"


def is_at_terminal():
    """Whether somebody may type sbatch in a job here: a batch script has no terminal."""
    try:
        os.close(os.open("/dev/tty", os.O_RDONLY | os.O_NOCTTY))
    except OSError:
        return False
    return "SLURM_JOB_ID" in os.environ


def say(report, name, path, variables, what, change):
    found = ["SLURM_" + variable for variable in variables if os.environ.get("SLURM_" + variable)]
    if found:
        report(name, path, 0, "%s: %s" % (", ".join(found), what), change.replace("NAMES", " ".join(found)))


def counts(text):
    """[4] of "a100:4" and "gres/gpu:4", [1] of "gres/gpu"."""
    return [int((re.findall(r"\d+$", part) or [1])[0]) for part in text.split(",")]


def is_own(variable, text):
    """Whether the job has asked for what a variable says, by slurmctld's text of the job."""
    value, found = os.environ.get("SLURM_" + variable, ""), re.search(r"\s%s=(\S*)" % FIELDS[variable], text)
    said = found.group(1) if found else "0"
    if variable.startswith("GPUS"):
        return counts(",".join(part for part in said.split(",") if "gpu" in part) or "0") == counts(value)
    return said.split(":")[0] == value if variable == "NTASKS_PER_NODE" else re.match(r"0\D*$", said) is None


def foreign():
    """In a batch script, what its job has not asked for. SLURM_CPU_BIND_TYPE is set for tasks alone (setup_env)."""
    text = scontrol("show", "job", os.environ["SLURM_JOB_ID"])
    is_one = len(re.findall(r"\bJobId=", text)) == 1  # no whole array, no components
    return [name for name in NAMES if name == "CPU_BIND" and "SLURM_CPU_BIND_TYPE" in os.environ or
            is_one and name in FIELDS and not is_own(name, text)]


# Compilers' caches: torch.compile's is below TMPDIR else, Triton's in this folder.
CACHES = {"TRITON_CACHE_DIR": os.path.join(os.environ.get("TRITON_HOME") or os.path.expanduser("~"), ".triton/cache"),
          "TORCHINDUCTOR_CACHE_DIR": ""}
EACH = re.compile("NODEID|NODENAME|PROCID|RANK|LOCALID|HOSTNAME|hostname|uname")  # a folder of each node's or task's
SHARED = {"afs", "beegfs", "ceph", "cifs", "gfs2", "gpfs", "lustre", "nfs", "nfs4", "ocfs2", "panfs", "smb3", "wekafs"}


def check_cache(report, name, folder, path, line):
    """A cache on a file system that nodes share."""
    place, kind, length = os.path.realpath(folder) + "/", "", 0
    with open("/proc/self/mounts", encoding="utf-8", errors="replace") as table:
        for row in table if folder.startswith("/") else ():
            _, point, found = row.split()[:3]
            if place.startswith(point.rstrip("/") + "/") and len(point) >= length:
                kind, length = found, len(point)
    if kind in SHARED:
        report("D308", path, line, "%s is on %s, and several nodes compile into it" % (folder, kind),
               "export %s=/tmp/%s-$USER" % (name, name.split("_")[0].lower()))


def is_default(variable):
    """Whether it says what a job gets that asks for no memory, and that slurmstepd then says again."""
    value = os.environ.get("SLURM_" + variable)
    if not value or variable not in ("MEM_PER_CPU", "MEM_PER_NODE"):
        return False
    text = scontrol("show", "config") + scontrol("show", "partition")
    return re.search(r"\bDef%s\s*=\s*%s\b" % (variable.replace("_", ""), re.escape(value)), text, re.I) is not None


def inherited(job):
    """What sbatch copies from this shell into a job, and the job neither sets nor unsets, nor its sruns replace."""
    unset = " ".join(line for line, _ in job.lines if re.search(r"\bunset\b|\s-u", line))
    sruns = [launch.srun for launch in job.commands if launch.srun is not None]
    for name in NAMES:
        option = CALLED.get(name, name.lower().replace("_", "-"))
        is_set = ({option} | MORE.get(name, set())) & set(job.options)
        is_replaced = sruns and all(option in srun for srun in sruns)
        is_unset = re.search(r"\bSLURM_%s\b" % name, unset)
        if not (is_set or is_replaced or is_unset or not MEMORY & set(job.options) and is_default(name)):
            yield name


def check_job(job, nodes, report):
    """Caches of a job, and what it inherits."""
    for name, value, line in job.exports if (nodes or 0) > 1 else ():
        if name in CACHES and not EACH.search(value):
            folder = os.path.expandvars(os.path.expanduser(job.expand_word(bare(value))))
            check_cache(report, name, folder, job.path, line)
    if job.batch and is_at_terminal():
        say(report, "D114", job.path, inherited(job), COPIED, "(unset NAMES; sbatch %s)" % os.path.basename(job.path))


def is_named_by(folder, value):
    """Whether a folder ends with a number, such as rank3, or is a host's own, such as cache/n1/triton."""
    return re.search((r"(?<!\d)%s$" if value.isdigit() else r"\b%s(/|$)") % re.escape(value), folder) is not None


def check_here(is_task, report):
    """The same of this process."""
    environ = os.environ
    own = [value for name, value in environ.items() if value and EACH.search(name)]
    nodes = environ.get("SLURM_STEP_NUM_NODES" if is_task else "SLURM_JOB_NUM_NODES", "1")
    for name, usual in CACHES.items() if nodes != "1" else ():
        folder = environ.get(name) or os.path.isdir(usual) and usual or ""
        if not any(is_named_by(folder, value) for value in own):
            check_cache(report, name, folder, "", 0)
    if is_at_terminal() and not is_task:
        say(report, "D115", "", NAMES, COPIED, "(unset NAMES; sbatch job.sh)")
    elif "SLURM_JOB_ID" in environ and not is_task:
        say(report, "D114", "", foreign(), "not what this job has asked for, but srun obeys", "unset NAMES")
