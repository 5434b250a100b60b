# SPDX-License-Identifier: BSD-3-Clause
"""answers.py - stand-ins that print what they would print on that node, and programs that start another one."""
import os
import re

import hosts
import slurmvalues
from agents import of_python

ADDRESS = "10.0.0.%d"


def number_of(host):
    found = re.search(r"(\d+)$", host)
    return int(found.group(1)) % 254 if found else 250


def hostname(director, request, place):
    options = "".join(word for word in request.argv[1:] if word.startswith("-"))
    text = ADDRESS % number_of(place.host) if re.search(r"-i|-I|ip", options) else place.host
    request.reply.out(text + "\n")


def nodes_of(request, place):
    return request.environment.get("SLURM_JOB_NODELIST") or (hosts.compress(place.job.nodes) if place.job else "")


def scontrol(director, request, place):
    words = [word for word in request.argv[1:] if not word.startswith("-")]
    if words[:1] == ["show"] and words[1:2] and words[1] in ("hostnames", "hostname", "hostlist", "hostlistsorted"):
        text = words[2] if len(words) > 2 else nodes_of(request, place)
        names = hosts.expand(text)
        if "\ue000" in text:
            request.reply.out(text + "\n")
        elif words[1].startswith("hostl"):
            request.reply.out(hosts.compress(re.split(r"[,\s]+", text.strip())) + "\n")
        else:
            request.reply.out("".join(name + "\n" for name in names))
    elif words[:2] == ["show", "job"] and place.job:
        request.reply.out("JobId=%d JobName=%s\n   NumNodes=%d NumTasks=%d\n   NodeList=%s\n   BatchHost=%s\n" % (
            place.job.job, place.job.name, len(place.job.nodes), place.job.tasks or len(place.job.nodes),
            hosts.compress(place.job.nodes), place.job.nodes[0]))
    elif words[:2] == ["show", "node"] and len(words) > 2:
        request.reply.out("NodeName=%s NodeAddr=%s NodeHostName=%s\n" % (words[2], words[2], words[2]))
    elif words[:1] not in (["requeue"], ["update"], ["hold"], ["release"]):
        return unknown(director, request, place)


def squeue(director, request, place):
    if place.job and any(word in ("%N", "%B") for word in " ".join(request.argv).replace('"', " ").split()):
        request.reply.out(hosts.compress(place.job.nodes) + "\n")
        return 0
    return unknown(director, request, place)


def nvidia_smi(director, request, place):
    words = request.argv[1:]
    gpus = place.job.gpus if place.job else 0
    joined = " ".join(words)
    if "-L" in words or "--list-gpus" in words:
        lines = ["GPU %d: NVIDIA H100 (UUID: GPU-%08d)" % (index, index) for index in range(gpus)]
    elif "--query-gpu" in joined:
        fields = re.search(r"--query-gpu[= ](\S+)", joined).group(1).split(",")
        known = {"index": "%d", "name": "NVIDIA H100", "gpu_name": "NVIDIA H100", "count": str(gpus),
                 "uuid": "GPU-%08d", "gpu_uuid": "GPU-%08d"}
        if any(field not in known for field in fields):
            return unknown(director, request, place)
        lines = [", ".join(known[field] % index if "%" in known[field] else known[field] for field in fields)
                 for index in range(gpus)]
    else:
        return 0 if not request.piped else unknown(director, request, place)
    request.reply.out("".join(line + "\n" for line in lines))
    return 0


def nproc(director, request, place):
    job = place.job
    value = request.environment.get("SLURM_CPUS_PER_TASK") if place.task is not None else job and str(job.cpus)
    request.reply.out("%s\n" % (value or os.cpu_count() or 1))


def which(director, request, place):
    for word in request.argv[1:]:
        if not word.startswith("-"):
            request.reply.out("/usr/bin/%s\n" % os.path.basename(word))


def whoami(director, request, place):
    joined = " ".join(request.argv[1:])
    if request.name == "id" and "u" in joined and "n" not in joined:
        request.reply.out("%d\n" % os.getuid())
    else:
        request.reply.out(slurmvalues.user() + "\n")


def uname(director, request, place):
    joined = "".join(request.argv[1:])
    texts = {"": "Linux", "-s": "Linux", "-n": place.host, "-m": os.uname().machine, "-p": os.uname().machine}
    request.reply.out(texts.get(joined, "Linux %s" % place.host) + "\n")


def silent(director, request, place):
    """What a script needs no answer from."""
    return 0


def unknown(director, request, place):
    """Its output is not known: a mark where the script reads it."""
    if request.piped:
        request.reply.out(director.mark(request.at, "the output of `%s`" % " ".join(request.argv)[:80]) + "\n")
    return 0


# names of wrappers: options with a value in the next word, operands before the command
WRAPPERS = {
    "numactl": ("-N -C -m -i -p -P -w --cpunodebind --physcpubind --membind --interleave --preferred", 0),
    "taskset": ("", 1), "chrt": ("-T -P -D", 1), "ionice": ("-n --classdata", 0), "hwloc-bind": ("", "--"),
    "nsys": ("-o -t -s -c -e -f -w -x --output --trace --sample --capture-range --stats --export --delay --duration "
             "--force-overwrite --trace-fork-before-exec --cuda-memory-usage --gpu-metrics-device", 1),
    "ncu": ("-o -k -c -s --set --section --metrics --target-processes --export --kernel-name --launch-count", 0),
    "perf": ("-e -o -r -F -g -c -C", 1), "strace": ("-e -o -p -s", 0), "ltrace": ("-e -o", 0),
    "valgrind": ("", 0), "gdb": ("-ex -x", 0), "catchsegv": ("", 0), "unbuffer": ("", 0), "tini": ("", 0),
    "dumb-init": ("", 0), "sudo": ("-u -g", 0), "flock": ("-w -E", 1), "prlimit": ("", 0), "setarch": ("", 1),
    "conda": ("-n -p --name --prefix --cwd", 1), "mamba": ("-n -p --name --prefix", 1),
    "micromamba": ("-n -p --name --prefix -r", 1), "uv": ("--with --python -p --project --directory --env-file "
                                                          "--extra --group --with-editable --package", 1),
    "poetry": ("-C -P", 1), "pixi": ("-e --environment --manifest-path", 1), "pipenv": ("", 1), "pdm": ("-p", 1),
    "hatch": ("", 1), "spack": ("", 1), "xvfb-run": ("-n -s -e -f -p -w", 0), "stress-ng": ("", 0),
    "rocprof": ("-i -o", 0), "rocprofv3": ("-o -d", "--"), "omniperf": ("", "--"), "tau_exec": ("-T -f", 0),
    "vtune": ("-collect -r -knob", "--"), "dlprof": ("", 0), "coverage": ("", 1), "gosu": ("", 1),
}
CONTAINERS = {
    "apptainer": ("-B --bind -H --home -W --workdir --env --env-file --pwd --overlay -S --scratch --mount -o "
                  "--network --app --security", 2),
    "shifter": ("--image -V --volume -m --module --env -e --entrypoint -w --workdir", 0),
    "podman": ("-v --volume -e --env -w --workdir --name --device --gpus --network --ipc --shm-size -u --user "
               "--mount --entrypoint --ulimit --env-file --hooks-dir --security-opt --cap-add --group-add", 2),
    "enroot": ("-m --mount -e --env -c --conf --rc", 2),
    "ch-run": ("-b --bind -c --cd --set-env --join-pid --join-tag", 1),
}
CONTAINERS["singularity"] = CONTAINERS["apptainer"]
CONTAINERS["docker"] = CONTAINERS["podman-hpc"] = CONTAINERS["podman"]


def split(words, values, operands):
    """(its own words, the command behind them)."""
    values, own, words = values.split(), [], list(words)
    if operands == "--":
        at = words.index("--") + 1 if "--" in words else len(words)
        return words[:at], words[at:]
    while words and (words[0].startswith("-") or operands):
        word = words.pop(0)
        own.append(word)
        if word == "--":
            break
        if not word.startswith("-"):
            operands -= 1
        elif word in values and words:
            own.append(words.pop(0))
    return own, words[1:] if words[:1] == ["--"] else words


def run_behind(director, request, place, words, environment=None):
    if not words:
        return 0
    return request.reply.run([(place, request.cwd, words, environment or request.environment)])


def wrapper(director, request, place):
    own, words = split(request.argv[1:], *WRAPPERS[request.name])
    verbs = {"conda": "run", "mamba": "run", "micromamba": "run", "uv": "run", "poetry": "run", "pixi": "run",
             "pipenv": "run", "pdm": "run", "hatch": "run", "coverage": "run", "nsys": "profile launch",
             "perf": "record stat", "spack": ""}
    verb = next((word for word in own if not word.startswith("-")), "")
    if request.name in verbs and verb not in verbs[request.name].split():
        return unknown(director, request, place)
    if words and words[0].endswith(".py"):
        words.insert(0, "python")
    return run_behind(director, request, place, words)


def container(director, request, place):
    own, words = split(request.argv[1:], *CONTAINERS[request.name])
    verb = next((word for word in own if not word.startswith("-")), "")
    if CONTAINERS[request.name][1] == 2 and verb not in ("exec", "run", "start"):
        return unknown(director, request, place)
    kept, environment = request.environment, dict(request.environment)
    prefixes = {"apptainer": ("APPTAINERENV_", "SINGULARITYENV_"), "singularity": ("SINGULARITYENV_",)}
    given = [own[index + 1] for index, word in enumerate(own[:-1]) if word in ("--env", "-e", "--set-env")]
    given += [word.split("=", 1)[1] for word in own if re.match(r"(--env|-e|--set-env)=", word)]
    if {"--cleanenv", "-e", "-c", "--containall", "-C"} & set(own) and request.name in prefixes or \
            request.name in ("docker", "podman", "podman-hpc") and "--env-host" not in own:
        environment = {name: kept[name] for name in ("PATH", "HOME") if name in kept}
        environment.update({name: kept[name] for name in given if name in kept})
    for prefix in prefixes.get(request.name, ()):
        environment.update({name[len(prefix):]: value for name, value in kept.items() if name.startswith(prefix)})
    for part in given:
        environment.update(word.split("=", 1) for word in part.split(",") if "=" in word)
    return run_behind(director, request, place.changed(container=True), words, environment)


def rollcall(director, request, place):
    """rollcall exec [OPTION]... -- COMMAND: what the core would set for this task."""
    words = request.argv[1:]
    if words[:1] != ["exec"]:
        return unknown(director, request, place)
    ddp = ""
    words = words[1:]
    while words and words[0].startswith("-") and words[0] != "--":
        if words[0].startswith("--ddp="):
            ddp = words[0][6:]
        words = words[1:]
    words = words[1:] if words[:1] == ["--"] else words
    environment = {**request.environment, **director.core(place, ddp, request.environment, words)}
    return run_behind(director, request, place.changed(ddp=ddp), words, environment)


PYTHON = re.compile(r"^(python|pypy|ipython)[\d.]*$")


def other(director, request, place, is_final=False):
    """A program that is none of the known ones: it is what the launch came to."""
    if PYTHON.match(request.name) and not is_final:
        status = of_python(director, request, place)
        if status is not None:
            return status
    path = os.path.join(request.cwd, request.path)
    if "/" in request.argv[0] and path.endswith(".sh") and not os.path.exists(director.inside(path)):
        director.report("D615", request.at, "%s is not here" % request.argv[0])
        return 127
    director.record(place, request)
    return unknown(director, request, place)


ANSWERS = {"hostname": hostname, "scontrol": scontrol, "squeue": squeue, "nvidia-smi": nvidia_smi, "nproc": nproc,
           "which": which, "whoami": whoami, "id": whoami, "logname": whoami, "uname": uname, "rollcall": rollcall}
ANSWERS.update(dict.fromkeys("""sleep sync kill pkill killall ulimit lscpu lsblk free df uptime scancel sacct sstat
    rocm-smi ibstat ibv_devinfo ip ifconfig module lfs git pip pip3 wget curl rsync scp tar gzip unzip zip nvidia-cuda-mps-control
    dcgmi clear tput stty ps top netstat ss lsof fuser getent nslookup dig host ping nc telnet sinfo less more
    sbcast mount umount fusermount ldconfig ldd file strings""".split(), unknown))
ANSWERS.update(dict.fromkeys(("sleep", "sync", "clear", "stty", "kill"), silent))
ANSWERS.update(dict.fromkeys(WRAPPERS, wrapper))
ANSWERS.update(dict.fromkeys(CONTAINERS, container))
