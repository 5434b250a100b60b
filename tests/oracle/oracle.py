# SPDX-License-Identifier: BSD-3-Clause
"""What every task of a launch must see, written from the design alone.

expect(launch) answers for all tasks at once, from the layout that the
environments were made of. Nothing here parses a launcher's variable.
"""

from dataclasses import dataclass, field

WORKER = ("RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "NODE_RANK", "GROUP_RANK", "GROUP_WORLD_SIZE",
          "MASTER_ADDR", "MASTER_PORT")
LAUNCHER = ("MASTER_ADDR", "MASTER_PORT", "NODE_RANK", "PET_NNODES", "PET_NODE_RANK", "PET_NPROC_PER_NODE",
            "PET_MASTER_ADDR", "PET_MASTER_PORT", "PET_RDZV_ID", "PET_RDZV_CONF")
NOT_IN_LAUNCHER = ("RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "GROUP_RANK", "TORCHELASTIC_RUN_ID")
LOOPBACK = ("localhost", "::1", "0.0.0.0", "::", "LocalHost")
STAMP = "ROLLCALL_SCOPE"
DAEMONS = ("orted", "prted", "hydra_pmi_proxy", "hydra_bstrap_proxy", "pmi_proxy")


@dataclass
class Seen:
    """One task's environment as it must be afterwards."""
    values: dict = field(default_factory=dict)   # name: value
    absent: set = field(default_factory=set)
    absent_prefixes: tuple = ()
    identity: dict = field(default_factory=dict)
    hold: bool = False
    master: set = field(default_factory=set)     # names and addresses of the host of RANK 0
    port_free: bool = False                      # the port is rollcall's choice
    repaired: dict = field(default_factory=dict)  # if it changes, then to this
    messages: set = field(default_factory=set)    # of this task, beside those of all


@dataclass
class Expected:
    status: str                    # resolved, contradiction
    mode: str
    tasks: list = field(default_factory=list)
    messages: set = field(default_factory=set)  # ids that must be there, in every task


def starts_workers(argv):
    """torchrun and its like: mode launcher."""
    if not argv:
        return False
    if argv[0] in ("torchrun", "accelerate", "deepspeed", "composer"):
        return True
    return argv[:2] == ["python", "-m"] and argv[2] in ("torch.distributed.run", "torch.distributed.launch")


def asked(launch):
    """Mode, order and nproc: the command line before the variable, off before everything."""
    mode, order, nproc = None, "launcher", None
    for text in (launch.options, launch.variable):
        if not text:
            continue
        words = text.split(",")
        if "=" not in words[0]:
            mode = mode or words.pop(0)
        for word in words:
            key, value = word.split("=")
            if key == "order":
                order = value
            else:
                nproc = int(value)
    if "off" in (launch.options, launch.variable):
        mode = "off"
    return (None if mode == "auto" else mode), order, nproc


def decide(launch):
    counts = list(map(len, launch.layout.ranks))
    gpus = launch.layout.gpus or 0
    mode = asked(launch)[0]
    if mode == "off":
        return "none"
    if launch.argv and launch.argv[0] in DAEMONS:
        return "none"
    if "SUBMITIT_EXECUTOR" in launch.user and mode is None:
        return "none"
    if mode:
        return mode
    if starts_workers(launch.argv):
        return "launcher"
    if max(counts) > 1:
        return "worker"
    return "launcher" if gpus > 1 else "worker"


def handled(env):
    """What torchrun hands on to its workers: more than its default, or the user's own list."""
    theirs = env.get("PET_SIGNALS_TO_HANDLE")
    if theirs and STAMP not in env:
        return theirs
    return ",".join("SIG" + name for name in ("TERM", "INT", "HUP", "QUIT", "USR1", "USR2"))


def number(layout, order):
    """RANK of each of the launcher's ranks, and NODE_RANK of each node."""
    by_lowest = sorted(range(len(layout.hosts)), key=lambda node: layout.ranks[node][0])
    node_rank = {node: place for place, node in enumerate(by_lowest)}
    if order == "node":
        flat = [rank for node in by_lowest for rank in layout.ranks[node]]
        return {theirs: ours for ours, theirs in enumerate(flat)}, node_rank
    return {rank: rank for rank in range(layout.size)}, node_rank


def good_port(text):
    return text.isascii() and text.isdigit() and text == str(int(text)) and 1024 <= int(text) <= 65535


def master_of(launch, host):
    """Which MASTER_ADDR and MASTER_PORT of the user's can work, and what is said of those that can't."""
    user, layout, messages = launch.user, launch.layout, set()
    addr = user.get("MASTER_ADDR") or None
    if addr and len(layout.hosts) > 1 and (addr in LOOPBACK or addr.startswith("127.")):
        addr = None
        messages.add("RC401")
    elif addr and addr != host and addr in layout.job_hosts and launch.kind == "slurm":
        # mpirun's ranks don't know for certain where rank 0 is: the user may be right
        addr = None
        messages.add("RC402")
    port = user.get("MASTER_PORT") or None
    if port and not good_port(port):
        port = None
        messages.add("RC403")
    return addr, port, messages


LISTS = ("CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL")


def on_node(launch, task):
    """Slurm's count of the node's devices, where there is one: an outer Slurm's speaks of the same node, or more."""
    count = int(task.env.get("SLURM_GPUS_ON_NODE", 0))
    return max(count, launch.layout.gpus or 0) if count else None


def own_alone(launch, task):
    """The task's own device where it is to see that one alone, as device 0; in these layouts all see the same list."""
    devices, there = launch.layout.gpus or 0, len(launch.layout.ranks[task.node])
    # outside of Slurm Lightning takes its rank from LOCAL_RANK, which must not be 0 in several tasks
    if launch.kind != "slurm" or not 0 < devices < there:
        return None
    # with several devices for more tasks, a count that is not theirs is of something else
    if devices > 1 and on_node(launch, task) and on_node(launch, task) != devices:
        return None
    return str(task.local % devices)


def fill_agent(launch, s, task, counts, node, nproc):
    """What torchrun takes its arguments from."""
    named = set((launch.argv or [])[1:])
    backend = {"--rdzv_backend=c10d", "c10d", "--rdzv_backend=etcd"} & named
    s.values["PET_NNODES"] = str(len(counts))
    if backend:  # it numbers the nodes itself, and warns of a node rank
        s.absent.add("PET_NODE_RANK")
    else:
        s.values["PET_NODE_RANK"] = str(node)
    if node == 0 and not backend:  # the endpoint's own node hosts the store
        s.values["PET_RDZV_CONF"] = "is_host=1"
    else:
        s.absent.add("PET_RDZV_CONF")
    wanted = nproc or task.env.get("PET_NPROC_PER_NODE") or launch.layout.gpus  # the user's own stays
    if wanted:
        s.values["PET_NPROC_PER_NODE"] = str(wanted)
    else:
        s.absent.add("PET_NPROC_PER_NODE")
    torchrun = starts_workers(launch.argv) and launch.argv[0] in ("torchrun", "python")
    if {"--nnodes=999", "999", "--num_machines=999"} & named or (len(counts) == 1 and not torchrun):
        # steps that meet have no id in common but the user's
        if "PET_RDZV_ID" in task.env and STAMP not in task.env:
            s.values["PET_RDZV_ID"] = task.env["PET_RDZV_ID"]
        else:
            s.absent.add("PET_RDZV_ID")
    elif launch.facts.get("run_id", "") is not None:  # None: the launcher names no launch
        s.values["PET_RDZV_ID"] = launch.facts.get("run_id") or f"{launch.layout.job}.{launch.layout.step}"


def expect(launch):
    layout, mode = launch.layout, decide(launch)
    _, order, nproc = asked(launch)
    if mode == "none":
        return Expected("resolved", "none", [Seen() for _ in launch.tasks])
    counts = list(map(len, layout.ranks))
    if not launch.told and launch.kind == "slurm":
        return Expected("contradiction", "none", messages={"RC106"})
    if mode == "launcher" and max(counts) > 1:
        return Expected("contradiction", "none", messages={"RC302"})

    ours, node_rank = number(layout, order if mode == "worker" else "launcher")
    first = layout.where[0]  # RANK 0 is the launcher's rank 0 in both orders
    host = layout.hosts[first]
    addresses = launch.facts.get("addresses", {}).get(host, set())
    addr, port, messages = master_of(launch, host)
    if not launch.told and not addr:
        return Expected("contradiction", "none", messages={"RC404"})
    even = len(set(counts)) == 1
    if mode == "worker" and not even:
        messages.add("RC301")

    if "MASTER_ADDR" in launch.facts.get("left over", {}):
        messages.add("RC417")

    seen = []
    for task in launch.tasks:
        node = node_rank[task.node]
        identity = {"rank": ours[task.rank], "local_rank": task.local, "node_rank": node, "world_size": layout.size,
                    "local_world_size": counts[task.node], "nnodes": len(counts) if counted(launch) else None}
        s = Seen(identity=identity, hold=ours[task.rank] == 0, port_free=port is None)
        s.master = {addr} if addr else {host} | addresses
        if len(counts) == 1 and launch.kind != "slurm":
            s.master.add("127.0.0.1")
        if port:
            s.values["MASTER_PORT"] = port
        s.values["NODE_RANK"] = str(node)
        # JAX numbers its device by the local rank: wrong for a task's only one, and for a task with several
        devices = layout.gpus or 0
        own = own_alone(launch, task)
        if mode == "launcher" and devices > 1:
            s.values["JAX_LOCAL_DEVICE_IDS"] = ",".join(map(str, range(devices)))
        elif mode == "worker" and (own is not None or devices == 1 < counts[task.node]):
            s.values["JAX_LOCAL_DEVICE_IDS"] = "0"
        else:
            s.absent.add("JAX_LOCAL_DEVICE_IDS")
        if mode == "worker":
            s.values.update({
                "RANK": str(ours[task.rank]), "WORLD_SIZE": str(layout.size), "LOCAL_RANK": str(task.local) if own is None else "0",
                "LOCAL_WORLD_SIZE": str(counts[task.node]), "GROUP_RANK": str(node),
            })
            if counted(launch):
                s.values["GROUP_WORLD_SIZE"] = str(len(counts))
            else:
                s.absent.add("GROUP_WORLD_SIZE")
            if own is not None:
                # one that says something else is an outer launch's, or somebody's own
                s.values.update({name: own for name in LISTS if task.env.get(name) == task.env[LISTS[0]]})
                if devices > 1:
                    s.values["CUDA_DEVICE_ORDER"] = "PCI_BUS_ID"
            if devices and on_node(launch, task) and counts[task.node] > on_node(launch, task):
                s.messages.add("RC902")
            s.absent_prefixes = ("PET_", "TORCHELASTIC_")
            if max(counts) == 1:  # its script may start torchrun, or be one of several that do
                s.absent_prefixes = ("TORCHELASTIC_",)
                if len(counts) > 1:
                    fill_agent(launch, s, task, counts, node, None)
            right = {
                "SLURM_PROCID": task.rank if launch.kind == "slurm" else ours[task.rank], "SLURM_LOCALID": task.local,
                "SLURM_NODEID": int(task.env["SLURM_NODEID"]) if launch.kind == "slurm" else node,
                "SLURM_NTASKS": layout.size, "SLURM_NPROCS": layout.size, "SLURM_STEP_NUM_TASKS": layout.size,
                "SLURM_NNODES": len(counts), "SLURM_STEP_NUM_NODES": len(counts),
            }
            if even:
                right["SLURM_NTASKS_PER_NODE"] = counts[0]
            # the allocation's number, which may be the launch's, is the only one there is
            if not counted(launch) and task.env.get("SLURM_JOB_NUM_NODES") != str(len(counts)):
                del right["SLURM_NNODES"]
                if task.env.get("SLURM_NNODES") != str(len(counts)):
                    s.absent.add("SLURM_NNODES")
            s.repaired = {name: str(value) for name, value in right.items()}
            # Lightning refuses SLURM_NTASKS without it (frameworks 1.1)
            if even and "SLURM_NTASKS" in task.env:
                s.values["SLURM_NTASKS_PER_NODE"] = str(counts[0])
            name = task.env.get("SLURM_JOB_NAME")
            if task.env.get("ROLLCALL_SLURM_JOB_NAME") and name == "bash":
                name = s.values["SLURM_JOB_NAME"] = task.env["ROLLCALL_SLURM_JOB_NAME"]  # hidden by an outer launch
            if own is not None and name in ("bash", "interactive"):
                s.values["SLURM_JOB_NAME"] = "srun"  # Lightning would count from LOCAL_RANK
            s.absent.add("ROLLCALL_SLURM_JOB_NAME")
            for name in ("SLURM_PROCID", "SLURM_LOCALID", "SLURM_NTASKS"):
                if name in task.env:
                    s.values[name] = str(right[name])
        else:
            fill_agent(launch, s, task, counts, node, nproc)
            s.values["PET_SIGNALS_TO_HANDLE"] = handled(task.env)
            if task.env.get("SLURM_JOB_NAME", "bash") != "bash":
                s.values["SLURM_JOB_NAME"] = "bash"
                s.values["ROLLCALL_SLURM_JOB_NAME"] = task.env["SLURM_JOB_NAME"]
            s.absent.update(NOT_IN_LAUNCHER)
        seen.append(s)
    return Expected("resolved", mode, seen, messages)


def counted(launch):
    """Whether its tasks are told how many nodes there are, by more than their own sizes."""
    return launch.facts.get("counted", True)


def worker_names(launch):
    return tuple(name for name in WORKER if name != "GROUP_WORLD_SIZE" or counted(launch))
