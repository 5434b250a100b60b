# SPDX-License-Identifier: BSD-3-Clause
"""slurmoptions.py - options of sbatch, salloc and srun: from the command line, #SBATCH lines and the environment."""
import re
import shlex

SHORT = {
    "A": "account", "a": "array", "B": "extra-node-info", "b": "begin", "C": "constraint", "c": "cpus-per-task",
    "D": "chdir", "d": "dependency", "e": "error", "F": "nodefile", "G": "gpus", "J": "job-name",
    "i": "input", "L": "licenses", "M": "clusters", "m": "distribution", "N": "nodes", "n": "ntasks", "o": "output",
    "p": "partition", "q": "qos", "r": "relative", "S": "core-spec", "T": "threads", "t": "time", "W": "wait",
    "w": "nodelist", "x": "exclude"}
FLAGS = set("E H I K O Q R X Z h k l s u v V".split()) | set("""
    bell no-bell contiguous debugger-test disable-status exact exclusive export-all help hold ignore-pbs immediate
    kill-on-bad-exit kill-on-invalid-dep label mpi-combine multi-prog no-allocate no-kill no-requeue no-shell
    overcommit overlap oversubscribe parsable preserve-env pty quiet reboot requeue share spread-job stepmgr test-only
    unbuffered usage use-min-nodes verbose version wait-all-nodes whole ddp container-remap-root
    no-container-remap-root container-mount-home no-container-mount-home container-writable container-readonly
    container-entrypoint no-container-entrypoint container-save send-libs nvmps get-user-env propagate compress bcast
    resv-ports external-launcher interactive""".split())
# `-W` takes no value in sbatch, --wait-all-nodes one after "="
OF_SBATCH = {"W", "wait"}
# of sbatch, salloc and srun of all series (src/common/slurm_opt.c), and of pyxis
KNOWN = FLAGS | OF_SBATCH | set(SHORT.values()) | set("""
    accel-bind acctg-freq batch bb bbf bcast-exclude cluster cluster-constraint comment consolidate-segments container
    container-env container-id container-image container-mounts container-name container-workdir context
    cores-per-socket cpu-bind cpu-freq cpus-per-gpu cpus-per-socket deadline delay-boot epilog exclusive export
    export-file extra gid gpu-bind gpu-freq gpus-per-node gpus-per-socket gpus-per-task gres gres-flags het-group hint
    jobid launch-cmd mail-type mail-user max-exit-timeout mcs-label mem mem-bind mem-per-cpu mem-per-gpu mincpus mpi
    msg-timeout network nice ntasks-per-core ntasks-per-gpu ntasks-per-node ntasks-per-socket ntasks-per-tres
    oom-kill-step open-mode pack-group power prefer priority profile prolog reservation segment signal slurmd-debug
    sockets-per-node spread-segments switches task-epilog task-prolog thread-spec threads-per-core time-min tmp
    tree-width tres-bind tres-per-task uid wait-for-switch wckey wrap x11""".split())
UNKNOWN = "?"  # key of an option that Slurm does not have; a site's plugin may
LETTERS = {"E": "preserve-env", "O": "overcommit", "K": "kill-on-bad-exit", "l": "label"}


def take(words, is_batch=False):
    """(options, the words after them). An option without a value has ""."""
    options, at = {}, 0
    while at < len(words):
        word = words[at]
        at += 1
        if word == "--":
            break
        if word.startswith("--"):
            name, sign, value = word[2:].partition("=")
            name = name.replace("_", "-")
            if not any(known.startswith(name) for known in KNOWN):
                options[UNKNOWN] = word
                continue
            if not sign and name not in FLAGS and not (is_batch and name in OF_SBATCH):
                value, at = "".join(words[at:at + 1]), at + 1
            options[name] = value
        elif word.startswith("-") and len(word) > 1:
            rest = word[1:]
            while rest:
                letter, rest = rest[0], rest[1:]
                if letter in FLAGS or is_batch and letter in OF_SBATCH:
                    options[LETTERS.get(letter, letter)] = ""
                    continue
                value = rest[1:] if rest.startswith("=") else rest
                if not rest:
                    value, at = "".join(words[at:at + 1]), at + 1
                options[SHORT.get(letter, letter)] = value
                rest = ""
        else:
            at -= 1
            break
    return options, words[at:]


def parts(words):
    """The components of `srun A : B`."""
    found = [[]]
    for word in words:
        if word == ":":
            found.append([])
        else:
            found[-1].append(word)
    return found


def directives(text):
    """The options of the #SBATCH lines of a script, one dictionary a component, and the first line of PBS or LSF."""
    components, foreign = [{}], None
    for line in text.splitlines():
        if re.match(r"#(PBS|BSUB|\$)\s", line):
            foreign = foreign or line.split()[0]
        if re.match(r"#SBATCH\s+(hetjob|packjob)\b", line):
            components.append({})
        elif line.startswith("#SBATCH"):
            try:
                words = shlex.split(line[7:], comments=True)
            except ValueError:
                words = line[7:].split()
            components[-1].update(take(words, True)[0])
        elif line.strip() and not line.lstrip().startswith("#"):
            break
    return components, foreign


# what sbatch and salloc, and what srun reads from the environment (their opt.c), as far as it changes a layout
SBATCH = {"SBATCH_" + name: option for name, option in (
    ("ARRAY_INX", "array"), ("CPUS_PER_TASK", "cpus-per-task"), ("EXPORT", "export"), ("GPUS", "gpus"),
    ("GPUS_PER_NODE", "gpus-per-node"), ("GPUS_PER_TASK", "gpus-per-task"), ("GRES", "gres"),
    ("JOB_NAME", "job-name"), ("NUM_NODES", "nodes"), ("NTASKS", "ntasks"), ("NTASKS_PER_NODE", "ntasks-per-node"))}
SALLOC = {name.replace("SBATCH", "SALLOC"): option for name, option in SBATCH.items()}
SRUN = {
    "SLURM_NTASKS": "ntasks", "SLURM_NPROCS": "ntasks", "SLURM_JOB_NUM_NODES": "nodes",
    "SLURM_NTASKS_PER_NODE": "ntasks-per-node", "SLURM_GPUS": "gpus", "SLURM_GPUS_PER_NODE": "gpus-per-node",
    "SLURM_GPUS_PER_TASK": "gpus-per-task", "SLURM_NTASKS_PER_GPU": "ntasks-per-gpu", "SLURM_GPU_BIND": "gpu-bind",
    "SLURM_TRES_BIND": "tres-bind", "SLURM_TRES_PER_TASK": "tres-per-task", "SLURM_DISTRIBUTION": "distribution",
    "SLURM_EXPORT_ENV": "export", "SLURM_CPUS_PER_TASK": "cpus-per-task", "SLURM_GRES": "gres"}
# srun of 22.05 to 23.02 did not read it (RELEASE_NOTES of 22.05 and 23.11)
NOT_READ = {(22, 5): ("SLURM_CPUS_PER_TASK", "SLURM_TRES_BIND", "SLURM_TRES_PER_TASK")}


def inherited(environment, names, series=None):
    return {option: environment[name] for name, option in names.items()
            if environment.get(name) and name not in NOT_READ.get(series, ())}


def number(text, default=None):
    """The first number of 4, 2-4 or a100:4."""
    found = re.search(r"(?:^|:)(\d+)", text or "")
    return int(found.group(1)) if found else default


NO_GPU = ("shard", "cpu", "mem", "bb", "license", "nic", "mps")


def gpus_of(text, is_gres=False):
    """The GPUs of --gres (is_gres), --gpus-per-node and the like: "gpu:a100:2,nvme:3" has 2. None if there are none."""
    total = None
    for part in (text or "").split(","):
        words = re.split(r"[:=/]", re.sub(r"\(.*", "", part))
        if words[0] == "gres":
            words = words[1:]
        if words and (words[0] == "gpu" or not is_gres and len(words) <= 2 and words[-1].isdecimal() and words[0] not in NO_GPU):
            total = (total or 0) + (int(words[-1]) if words[-1].isdecimal() else 1)
    return total


def is_known(text):
    return "\ue000" not in text
