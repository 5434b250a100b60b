# SPDX-License-Identifier: BSD-3-Clause
"""starters.py - stand-ins that start processes: sbatch, salloc, srun, mpirun, ssh."""
import os
import re
import shlex

import hosts
import slurmvalues
from allocation import Allocation, Refused, Step, spread
from director import MARK
from slurmoptions import SALLOC, SBATCH, UNKNOWN, directives, inherited, number, parts, take


def refuse(director, request, error):
    director.report("D615", request.at, "%s: %s" % (request.name, error))
    request.reply.error("%s: error: %s\n" % (request.name, error))
    return 1


def doubt(director, request, at, options):
    """Mark an option that Slurm does not have."""
    if UNKNOWN in options:
        director.mark(at, "%s: Slurm has no option %s; a site's plugin may" % (request.name, options.pop(UNKNOWN)))


def make_job(director, request, options, before=0):
    doubt(director, request, request.at, options)
    job = Allocation(options, director.series, 4242 + len(director.jobs), before)
    job.folder = request.cwd
    job.array = array_of(options.get("array", ""))
    director.jobs.append(job)
    return job


def array_of(text):
    """The numbers of --array=0-7:2%4, None without one."""
    found = []
    for part in text.split("%")[0].split(","):
        numbers = re.match(r"^(\d+)(?:-(\d+)(?::(\d+))?)?$", part)
        if numbers:
            first, last, step = (int(number) if number else None for number in numbers.groups())
            found.extend(range(first, (first if last is None else min(last, first + 100000)) + 1, step or 1))
    return found or None


def without_slurm(environment):
    return {name: value for name, value in environment.items() if not name.startswith(("SLURM_", "SLURMD_"))}


def sbatch(director, request, place):
    """Rehearses the job that would be submitted."""
    options, words = take(request.argv[1:], True)
    text, argv = None, words
    if "wrap" in options:
        text, argv = "#!/bin/sh\n" + options["wrap"], ["sh", "-c", options["wrap"]]
    elif not words:
        text = request.reply.stdin()
        argv = ["bash", "-c", text]
    else:
        path = os.path.join(request.cwd, words[0])
        try:
            text = director.read(path)
        except OSError as error:
            return refuse(director, request, "%s: %s" % (words[0], error.strerror))
        if "\r\n" in text:
            return refuse(director, request, "Batch script contains DOS line breaks (\\r\\n)")
        if not text.startswith("#!"):
            return refuse(director, request, "%s does not begin with #!" % words[0])
        argv = shlex.split(text.split("\n")[0][2:]) + [path] + words[1:]
    components, foreign = directives(text)
    if foreign and not any(components):
        return refuse(director, request, "%s: lines of %s are of another scheduler" % (words[0], foreign))
    given = {**inherited(request.environment, SBATCH), **options}
    try:
        jobs = []
        for component in components:
            doubt(director, request, os.path.basename(words[0]) if words else request.at, component)
            options = {**component, **(given if not jobs else {})}
            jobs.append(make_job(director, request, options, sum(len(job.nodes) for job in jobs)))
    except Refused as error:
        return refuse(director, request, error)
    job = jobs[0]
    job.parts = jobs
    name = os.path.basename(words[0]) if words else "wrap" if "wrap" in options else "sbatch"
    for part in jobs:
        part.name = part.options.get("job-name") or name
    wish = given.get("export") or components[0].get("export")
    environment = slurmvalues.exported(request.environment, wish)
    environment.update(slurmvalues.batch(job))
    if wish and "ALL" not in wish.split(","):  # sbatch loads the user's login environment
        environment = {**{name: os.environ[name] for name in LOGIN if name in os.environ}, **environment}
    if wish:
        environment["SLURM_EXPORT_ENV"] = wish
        if wish != "ALL":
            environment["SLURM_GET_USER_ENV"] = "1"
    if len(jobs) > 1:
        environment.update(slurmvalues.components(jobs))
    launch = director.launch("batch", request.at, request.argv, place)
    if words:
        director.scripts[os.path.basename(words[0])] = path
    folder = os.path.join(request.cwd, job.options.get("chdir") or "")
    # the job's output is no output of sbatch
    output = os.path.join(director.folder, "tmp", "slurm-%d.out" % job.job)
    argv = ["bash", "-c", 'exec "$@" > "$0" 2>&1', output, *argv]
    status = request.reply.run([(place_of(job, launch, place), folder, argv, environment)])
    if status:
        director.note(os.path.basename(words[0]) if words else request.at, "the script ends with status %d%s" % (
            status, director.last_line(output)))
    if "parsable" in options:
        request.reply.out("%d\n" % job.job)
    elif request.piped or director.chatty:
        request.reply.out("Submitted batch job %d\n" % job.job)
    return 0


LOGIN = ("HOME", "USER", "LOGNAME", "SHELL", "PATH", "LANG", "TERM")


def place_of(job, launch, place):
    return place.changed(job=job, host=job.nodes[0], launch=launch, task=None, node=0, ddp=None, agent=None)


def salloc(director, request, place):
    options, words = take(request.argv[1:])
    try:
        job = make_job(director, request, {**inherited(request.environment, SALLOC), **options})
    except Refused as error:
        return refuse(director, request, error)
    job.parts, job.name = [job], options.get("job-name") or "interactive"
    if not words:
        return refuse(director, request, "there is no command to rehearse: salloc -N2 COMMAND")
    launch = director.launch("salloc", request.at, request.argv, place)
    inside = place.changed(job=job, host="login", launch=launch)
    return request.reply.run([(inside, request.cwd, words, {**request.environment, **slurmvalues.shell(job)})])


def srun(director, request, place):
    """One child a task, with Slurm's variables."""
    groups = [take(words) for words in parts(request.argv[1:])]
    if any("\ue000" in word for word in request.argv[1:len(request.argv) - len(groups[-1][1])]):
        found = MARK.search(" ".join(request.argv))
        director.mark(request.at, "srun has options that are not known here (from %s)" % director.unknown[
            int(found.group(1))][0])
        return 0
    job = place.job
    try:
        if job is None:  # srun makes the job
            jobs = []
            for options, _ in groups:
                jobs.append(make_job(director, request, dict(options), sum(len(job.nodes) for job in jobs)))
            job = jobs[0]
            job.parts = jobs
            for part, (options, words) in zip(jobs, groups):
                part.name = options.get("job-name") or os.path.basename((words or ["srun"])[0])
            place = place.changed(job=job)
            environment = {**without_slurm(request.environment), **slurmvalues.shell(job)}
            if len(jobs) > 1:
                environment.update(slurmvalues.components(jobs))
        else:
            environment = request.environment
        children = start_step(director, request, place, groups, environment)
    except Refused as error:
        return refuse(director, request, error)
    return request.reply.run(children)


def start_step(director, request, place, groups, environment):
    job, steps = place.job, []
    for options, words in groups:
        doubt(director, request, request.at, options)
        chosen = [number(part, 0) for part in options.get("het-group", options.get("pack-group", "")).split(",") if part]
        for index in chosen or [len(steps) if len(groups) > 1 else 0]:
            if index >= len(job.parts):
                raise Refused("the job has no component %d" % index)
            seen = environment if len(job.parts) == 1 or index == 0 else of_component(environment, index)
            steps.append((Step(job.parts[index], options, seen), words))
    if not steps[-1][1]:
        raise Refused("there is no command")
    for step, _ in steps:
        for text in step.notes:
            director.note(request.at, text)
    job.steps += 1
    launch = director.launch("srun", request.at, request.argv, place, steps[0][0])
    nodes = [node for step, _ in steps for node in step.nodes]
    counts = [count for step, _ in steps for count in step.counts]
    launch.nodes, launch.counts = nodes, counts
    whole = (nodes, counts) if len(steps) > 1 else None
    children, ranks, first = [], 0, 0
    for step, words in steps:
        words = words or steps[-1][1]
        programs = read_multiple(director, request, words[0], step.tasks) if "multi-prog" in step.options else None
        for rank, node, local in step.task_places():
            values = slurmvalues.task(step, job.steps - 1, environment, (rank, node, local), (ranks, first), whole)
            ddp = None if programs else ddp_of(step.options, job, values)
            task = place.changed(job=job, host=step.nodes[node], launch=launch, task=rank + ranks, node=node + first,
                                 ddp=ddp)
            folder = step.options.get("chdir") or request.cwd
            argv = programs[rank] if programs else words
            values.update(director.core(task, ddp, values, argv) if ddp is not None else {})
            children.append((task, folder, argv, values))
        ranks, first = ranks + step.tasks, first + len(step.nodes)
    launch.skipped = ranks - len(children)
    return children


PRELOAD = "librollcall-preload.so"


def ddp_of(options, job, values):
    """The options of --ddp, of srun, of the job or of ROLLCALL; "" also for the preload library. None: without rollcall."""
    if "ddp" in options or "ddp" in job.options:
        return options.get("ddp", job.options.get("ddp", ""))
    is_on = values.get("ROLLCALL", "off") not in ("", "off") or PRELOAD in values.get("LD_PRELOAD", "")
    return "" if is_on else None


def of_component(environment, index):
    """What srun --het-group=INDEX reads: the names of that component."""
    end = "_HET_GROUP_%d" % index
    return {**{name: value for name, value in environment.items() if name not in (
        "SLURM_NTASKS", "SLURM_NPROCS", "SLURM_NTASKS_PER_NODE", "SLURM_JOB_NUM_NODES", "SLURM_GPUS_PER_NODE")},
            **{name[:-len(end)]: value for name, value in environment.items() if name.endswith(end)}}


def read_multiple(director, request, name, tasks):
    """The command of each rank of --multi-prog's file."""
    commands = {}
    try:
        lines = director.read(os.path.join(request.cwd, name)).replace("\\\n", " ").splitlines()
    except OSError as error:
        raise Refused("%s: %s" % (name, error.strerror)) from None
    for line in lines:
        ranks, *words = shlex.split(line, comments=True) or [""]
        for part in ranks.split(",") if words else ():
            low, _, high = part.partition("-")
            if part != "*" and not (low.isdecimal() and (high or low).isdecimal()):
                raise Refused("%s: %s is no range of tasks" % (name, part))
            which = range(tasks) if part == "*" else range(int(low), min(int(high or low), tasks - 1) + 1)
            for index, rank in enumerate(which):
                commands.setdefault(rank, [word.replace("%t", str(rank)).replace("%o", str(index)) for word in words])
    if set(range(tasks)) - set(commands):
        raise Refused("%s has no program for task %d" % (name, min(set(range(tasks)) - set(commands))))
    return commands


VALUES_OF_MPIRUN = set("""-n -np --n --np -c -N -host --host -H -hostfile --hostfile -machinefile --machinefile -f
    -ppn --ppn -perhost --npernode -npernode --map-by -map-by --bind-to -bind-to --rank-by -rank-by -wdir --wdir
    --output-filename -output-filename --report-bindings-file --prefix --tag-output-file -pernode-count
    --mca-params -l-file -launcher -bootstrap -rmk -iface -hosts --oversubscribe-limit --timeout --cpus-per-proc
    --cpus-per-rank --launch-agent --path -rf --rankfile -am --output --stdin --stream-buffering""".split())
COUNTS = ("-n", "-np", "--n", "--np", "-c")
HOSTS = ("-host", "--host", "-H", "-hosts")
A_NODE = ("-N", "-ppn", "--ppn", "-perhost", "--npernode", "-npernode")


def of_mpirun(director, request):
    """(options, {name: value} of -x and -genv, names that are kept, the command)."""
    words, options, given, kept = list(request.argv[1:]), {}, {}, []
    while words and words[0].startswith("-"):
        word = words.pop(0)
        if word in ("-x", "-env", "-genv") or word == "-mca-env":
            name, sign, value = words.pop(0).partition("=") if words else ("", "", "")
            if word != "-x":
                given[name] = value if sign else words.pop(0)
            elif sign:
                given[name] = value
            else:
                kept.append(name)
        elif word in ("--mca", "-mca", "--prtemca", "--pmixmca", "--gmca"):
            words = words[2:]
        elif word in VALUES_OF_MPIRUN:
            options[word] = words.pop(0) if words else ""
        elif "=" in word and word.split("=")[0] in VALUES_OF_MPIRUN:
            options.__setitem__(*word.split("=", 1))
        else:
            options[word] = ""
    if ":" in words:
        raise Refused("several programs (A : B)")
    if not words:
        raise Refused("there is no command")
    for name, value in options.items():
        if "\ue000" in value:
            raise Refused("%s has a value that is not known here" % name)
    return options, given, kept, words


def pick(options, names):
    return next((options[name] for name in names if name in options), None)


def slots(director, request, place, options):
    """[(node, slots)] that mpirun may use."""
    listed = pick(options, HOSTS)
    file = pick(options, ("-hostfile", "--hostfile", "-machinefile", "--machinefile", "-f"))
    if listed:
        pairs = [part.partition(":") for part in listed.split(",")]
        return [(name, int(count) if count.isdecimal() else None) for name, _, count in pairs]
    if file:
        try:
            lines = director.read(os.path.join(request.cwd, file)).splitlines()
        except OSError as error:
            raise Refused("%s: %s" % (file, error.strerror)) from None
        rows = [line.replace(":", " slots=").split() for line in lines if line.split("#")[0].strip()]
        return [(row[0], next((int(word.split("=")[1]) for word in row[1:] if word.split("=")[-1].isdecimal()), None))
                for row in rows]
    if place.job:
        return list(zip(place.job.nodes, place.job.counts))
    return [(place.host, os.cpu_count() or 1)]


def mpirun(director, request, place):
    """One child a process, with the variables of Open MPI or of MPICH."""
    try:
        options, given, kept, words = of_mpirun(director, request)
        nodes = slots(director, request, place, options)
        count, each = number(pick(options, COUNTS)), number(pick(options, A_NODE))
        if options.get("--map-by", options.get("-map-by", "")).startswith("ppr:"):
            each = number(options.get("--map-by", options.get("-map-by"))[4:])
    except Refused as error:
        return refuse(director, request, error)
    is_round = "node" in (options.get("--map-by"), options.get("-map-by")) or "--bynode" in options or "-bynode" in options
    total = sum(number or 1 for _, number in nodes)
    count = count or (each * len(nodes) if each else total)
    if each:
        counts = [max(0, min(each, count - each * index)) for index in range(len(nodes))]
    elif is_round:
        counts = spread(count, len(nodes))
    else:
        counts, left = [], count
        for _, number_of in nodes:
            counts.append(min(left, number_of or (count if len(nodes) == 1 else -(-count // len(nodes)))))
            left -= counts[-1]
        counts[-1] += left
    used = [(name, number_of) for (name, _), number_of in zip(nodes, counts) if number_of]
    launch = director.launch("mpirun", request.at, request.argv, place)
    launch.nodes, launch.counts = [name for name, _ in used], [number_of for _, number_of in used]
    is_hydra = request.name.startswith("mpiexec.hydra") or any(
        name in options for name in ("-ppn", "--ppn", "-perhost", "-f", "-bootstrap", "-genvall", "-iface"))
    children, rank = [], 0
    for index, (host, here) in enumerate(used):
        for local in range(here):
            if count <= 64 or index in (0, 1, len(used) - 1):
                # plain names reach other nodes only through Slurm's daemons or -x; MPICH hands all of them on
                values = {**request.environment, **given}
                where = {"rank": rank, "size": count, "local": local, "here": here}
                values.update(hydra(where) if is_hydra else openmpi(where, len(used), director.series))
                task = place.changed(host=host, launch=launch, task=rank, node=index, ddp=None,
                                     facts=[] if is_hydra else pmix(where, index, launch))
                if PRELOAD in values.get("LD_PRELOAD", ""):
                    values.update(director.core(task, "", values, words))
                children.append((task, options.get("-wdir") or request.cwd, words, values))
            rank += 1
    launch.skipped = rank - len(children)
    return request.reply.run(children)


def pmix(where, node, launch):
    """What Open MPI's PMIx server says to a process."""
    rows = {"map": "(vector,%s)" % ",".join("(%d,1,%d)" % pair for pair in enumerate(launch.counts)),
            "tasks": hosts.compress_counts(launch.counts), "host": launch.nodes[0], "node": node,
            "rank": where["rank"], "size": where["size"], "local_rank": where["local"]}
    return ["@pmix=%s=%s" % row for row in rows.items()]


def hydra(where):
    return {"PMI_RANK": str(where["rank"]), "PMI_SIZE": str(where["size"]), "PMI_FD": "9",
            "MPI_LOCALRANKID": str(where["local"]), "MPI_LOCALNRANKS": str(where["here"])}


def openmpi(where, nodes, series):
    values = {"OMPI_COMM_WORLD_RANK": where["rank"], "OMPI_COMM_WORLD_SIZE": where["size"],
              "OMPI_COMM_WORLD_LOCAL_RANK": where["local"], "OMPI_COMM_WORLD_LOCAL_SIZE": where["here"],
              "OMPI_COMM_WORLD_NODE_RANK": where["local"], "OMPI_UNIVERSE_SIZE": where["size"],
              "PMIX_RANK": where["rank"], "PMIX_NAMESPACE": "prterun-n1-4711@1" if series >= (24, 11) else "1234"}
    if series < (24, 11):
        values["OMPI_MCA_orte_num_nodes"] = nodes
    return {name: str(value) for name, value in values.items()}


SSH_VALUES = set("BbcDEeFIiJLlmOopQRSWw")


def ssh(director, request, place):
    """The command on another node, in a login environment: without the variables of the job."""
    words = list(request.argv[1:])
    while words and words[0].startswith("-") and len(words[0]) > 1:
        word = words.pop(0)
        if word[1] in SSH_VALUES and len(word) == 2 and words:
            words.pop(0)
    if not words:
        return 0
    host = words.pop(0).split("@")[-1]
    if not words:
        return refuse(director, request, "there is no command for %s" % host)
    remote(director, request, place, [host], words)
    return 0


def pdsh(director, request, place):
    options, words = {}, list(request.argv[1:])
    while words and words[0].startswith("-"):
        options[words[0][:2]] = words[0][2:] or words.pop(1 if len(words) > 1 else 0)
        words.pop(0)
    remote(director, request, place, hosts.expand(options.get("-w", "")), words)
    return 0


def remote(director, request, place, names, words):
    launch = director.launch(request.name, request.at, request.argv, place)
    launch.nodes, launch.counts = names, [1] * len(names)
    names_kept = ("PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "TERM")
    environment = {name: request.environment[name] for name in names_kept if name in request.environment}
    children = [(place.changed(host=host, launch=launch, task=index, node=index, ddp=None),
                 request.environment.get("HOME", request.cwd), ["sh", "-c", " ".join(words)],
                 {**environment, "HOSTNAME": host}) for index, host in enumerate(names)]
    if children:
        request.reply.run(children)


STARTERS = {"sbatch": sbatch, "salloc": salloc, "srun": srun, "ssh": ssh, "pdsh": pdsh}
STARTERS.update(dict.fromkeys(("mpirun", "mpiexec", "mpiexec.hydra", "prterun", "orterun"), mpirun))
