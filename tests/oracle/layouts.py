# SPDX-License-Identifier: BSD-3-Clause
"""Random launches: who runs where, and the environment that each task's launcher gives it.

A Layout is the truth, made first: the hosts in the launcher's order and the
launcher's ranks on each. The environments are written from it the way
slurmstepd and Open MPI 4.1's mpirun were seen to write them, never the other
way round, so the truth does not depend on anybody's reading of a variable.
"""

from dataclasses import dataclass, field

import names


@dataclass
class Layout:
    hosts: list            # in the launcher's order
    ranks: list            # the launcher's ranks on each host, ascending
    distribution: str      # block, cyclic, plane=K, arbitrary, network, components
    job_hosts: list        # the whole allocation, in Slurm's order
    job: int = 42
    step: int = 0
    gpus: object = None    # on each node, or None: no word about GPUs
    components: list = field(default_factory=list)  # of srun A : B, in their order: indices of hosts

    @property
    def size(self):
        return sum(map(len, self.ranks))

    @property
    def where(self):
        """The index of the host of each rank."""
        return {rank: node for node, there in enumerate(self.ranks) for rank in there}


@dataclass
class Task:
    env: dict
    rank: int              # the launcher's
    node: int              # index in layout.hosts
    local: int
    pid: int = 0
    certain: bool = False
    starts: tuple = ()     # command lines of its launcher's processes, where they differ from task to task


@dataclass
class Launch:
    """All tasks of one launch and what is asked of rollcall."""
    kind: str                     # slurm, openmpi
    layout: Layout
    tasks: list
    options: object = None        # as after --ddp=
    variable: object = None       # ROLLCALL
    argv: object = None
    told: bool = True             # False: nothing says where rank 0 is (arbitrary without a map)
    user: dict = field(default_factory=dict)  # what the user or an older shell exported
    facts: dict = field(default_factory=dict)  # how the environments were written, for a failure's text

    def __str__(self):
        return (f"{self.kind} {self.layout.distribution} tasks={names.counts(list(map(len, self.layout.ranks)))} "
                f"hosts={names.compress(self.layout.hosts)} gpus={self.layout.gpus} options={self.options} "
                f"ROLLCALL={self.variable} argv={self.argv} user={self.user} {self.facts}")


# Who runs where


def sizes(rng, nodes, most=8):
    """Tasks of each node; mostly even."""
    pick = rng.random()
    if pick < 0.3:
        return [1] * nodes
    if pick < 0.7:
        return [rng.randint(1, most)] * nodes
    if pick < 0.85:  # what Slurm makes of a count that does not divide: full nodes, then the rest
        full = rng.randint(1, most)
        return [full] * (nodes - 1) + [rng.randint(1, full)]
    return [rng.randint(1, most) for _ in range(nodes)]


def block(counts):
    ranks, first = [], 0
    for n in counts:
        ranks.append(list(range(first, first + n)))
        first += n
    return ranks


def plane(counts, size):
    """Rounds over the nodes, `size` tasks at a time; a full node is passed over (_task_layout_plane)."""
    ranks, rank = [[] for _ in counts], 0
    while rank < sum(counts):
        for there, n in zip(ranks, counts):
            for _ in range(min(size, n - len(there))):
                there.append(rank)
                rank += 1
    return ranks


def cyclic(counts):
    return plane(counts, 1)


def arbitrary(rng, counts):
    """Any task on any node, as a host file may say."""
    nodes = [node for node, n in enumerate(counts) for _ in range(n)]
    rng.shuffle(nodes)
    ranks = [[] for _ in counts]
    for rank, node in enumerate(nodes):
        ranks[node].append(rank)
    return ranks


def by_network(rng, counts):
    """Slurm 26.05's block: nodes by their switches, in the list's order on each (_task_layout_topo)."""
    switch = [rng.randrange(rng.choice((1, 2, 3))) for _ in counts]
    order = sorted(range(len(counts)), key=lambda node: switch[node])
    ranks = [[] for _ in counts]
    for node, there in zip(order, block([counts[node] for node in order])):
        ranks[node] = there
    return ranks


def in_components(rng, counts):
    """srun A : B: each component a block, on nodes that need not be in the order of the list."""
    order = list(range(len(counts)))
    rng.shuffle(order)
    components = []
    while order:
        take = rng.randint(1, 3)
        components.append(sorted(order[:take]))
        order = order[take:]
    flat = [node for nodes in components for node in nodes]
    ranks = [[] for _ in counts]
    for node, there in zip(flat, block([counts[node] for node in flat])):
        ranks[node] = there
    return ranks, components


def how_many(rng):
    return rng.choice((1, 1, 2, 2, 2, 3, 3, 4, 4, 5, 6, 7, 8, 9, 10, 12, 16, rng.randint(17, 64)))


def slurm_layout(rng):
    nodes = how_many(rng)
    spare = rng.choice((0, 0, 0, 1, 2, 5)) if nodes < 60 else 0
    job_hosts = names.order(names.make(rng, nodes + spare))
    if rng.random() < 0.1:  # whatever sorted it: the list is the truth
        rng.shuffle(job_hosts)
    chosen = sorted(rng.sample(range(nodes + spare), nodes))
    hosts = [job_hosts[i] for i in chosen]
    counts = sizes(rng, nodes, 8 if nodes <= 16 else 3)
    distribution = rng.choice(("block", "block", "cyclic", "plane", "arbitrary", "network", "components"))
    components = []
    if distribution == "block" or nodes == 1:
        ranks, distribution = block(counts), "block"
    elif distribution == "network":
        ranks = by_network(rng, counts)
    elif distribution == "components":
        ranks, components = in_components(rng, counts)
    elif distribution == "cyclic":
        ranks = cyclic(counts)
    elif distribution == "plane":
        size = rng.randint(1, 5)
        ranks, distribution = plane(counts, size), f"plane={size}"
    else:
        ranks = arbitrary(rng, counts)
    return Layout(hosts, ranks, distribution, job_hosts, job=rng.choice((1, 42, 481516, 2**26 + 11)),
                  step=rng.choice((0, 0, 1, 2, 3, 19, 250)), gpus=rng.choice((None, None, 0, 1, 2, 4, 8)),
                  components=components)


# slurmstepd


def process_mapping(layout):
    """pack_process_mapping's text: runs of (first node, nodes, tasks on each), in order of rank."""
    node = layout.where
    bars, rank, size = [], 0, layout.size
    taken = [0] * len(layout.hosts)

    def run(at):
        """Consecutive ranks on this node from its next one on."""
        there, i = layout.ranks[at], taken[at]
        n = 1
        while i + n < len(there) and there[i + n] == there[i] + n:
            n += 1
        return n

    while rank < size:
        first = at = node[rank]
        depth = run(at)
        while (at < len(layout.hosts) and taken[at] < len(layout.ranks[at])
               and layout.ranks[at][taken[at]] == rank and run(at) == depth):
            taken[at] += depth
            rank += depth
            at += 1
        bars.append(f",({first},{at - first},{depth})")
    return "(vector" + "".join(bars) + ")"


def host_list(rng, hosts):
    other = names.odometer(hosts)
    return other if other and rng.random() < 0.5 else names.compress(hosts)


def login_shell(rng):
    """What is in every environment."""
    env = {"PATH": "/usr/bin:/bin", "HOME": "/home/alice", "LANG": "C.UTF-8", "SHELL": "/bin/bash", "USER": "alice"}
    if rng.random() < 0.2:
        env.update({"RANK_X": "9", "LOCAL_RANKS": "9", "slurm_procid": "9", "BASH_FUNC_ml%%": "() {  echo\n}",
                    "XSLURM_PROCID": "9", "SLURM_PROCID_": "9", "WORLD": "9", "PETS": "dog"})
    return env


def job_environment(rng, layout):
    return {
        "SLURM_CLUSTER_NAME": "cluster", "SLURM_CONF": "/etc/slurm/slurm.conf",
        "SLURM_JOB_ID": str(layout.job), "SLURM_JOBID": str(layout.job), "SLURM_JOB_NAME": "train",
        "SLURM_JOB_NODELIST": host_list(rng, layout.job_hosts), "SLURM_NODELIST": names.compress(layout.job_hosts),
        "SLURM_JOB_NUM_NODES": str(len(layout.job_hosts)), "SLURM_JOB_PARTITION": "gpu", "SLURM_JOB_USER": "alice",
        "SLURM_JOB_CPUS_PER_NODE": names.counts([32] * len(layout.job_hosts)), "SLURM_SUBMIT_HOST": "login1",
        "SLURM_SUBMIT_DIR": "/home/alice", "SLURM_PRIO_PROCESS": "0", "SLURM_UMASK": "0022",
    }


def gpu_environment(layout):
    if layout.gpus is None:
        return {}
    if layout.gpus == 0:
        return {"CUDA_VISIBLE_DEVICES": "NoDevFiles"}
    devices = ",".join(map(str, range(layout.gpus)))
    return {"CUDA_VISIBLE_DEVICES": devices, "SLURM_GPUS_ON_NODE": str(layout.gpus), "SLURM_JOB_GPUS": devices,
            "SLURM_STEP_GPUS": devices, "GPU_DEVICE_ORDINAL": devices, "ROCR_VISIBLE_DEVICES": devices}


def slurm_tasks(rng, layout, user, facts, only=None):
    """The environment of every task of a step (on the nodes in `only`), as srun and slurmstepd put it together."""
    counts = list(map(len, layout.ranks))
    size, nodes = layout.size, len(layout.hosts)
    step = {**login_shell(rng), **job_environment(rng, layout)}
    step.update({
        "SLURM_STEP_ID": str(layout.step), "SLURM_STEPID": str(layout.step),
        "SLURM_STEP_NODELIST": host_list(rng, layout.hosts), "SLURM_STEP_NUM_NODES": str(nodes),
        "SLURM_STEP_NUM_TASKS": str(size), "SLURM_STEP_TASKS_PER_NODE": names.counts(counts),
        "SLURM_STEP_LAUNCHER_PORT": "38119", "SLURM_SRUN_COMM_HOST": "10.0.1.17", "SLURM_SRUN_COMM_PORT": "38119",
        "SLURM_LAUNCH_NODE_IPADDR": "10.0.1.17", "SLURM_NTASKS": str(size), "SLURM_NPROCS": str(size),
        "SLURM_NNODES": str(nodes), "SLURM_TASKS_PER_NODE": names.counts(counts),
        "SLURM_CPU_BIND": "quiet,none", "SLURM_TOPOLOGY_ADDR_PATTERN": "node",
    })
    step.update(gpu_environment(layout))
    blocks = layout.distribution in ("block", "network", "components")
    if not blocks or facts["distribution"]:
        step["SLURM_DISTRIBUTION"] = "block" if blocks else layout.distribution.split("=")[0]
    if facts.get("network"):  # Slurm 26.05 and switches
        step.update({"SLURM_JOB_SLUID": "sC1DM82MWGZB00", "SLURM_TOPOLOGY_ADDR_PATTERN": "switch.node"})
    if layout.components:
        step["SLURM_HET_SIZE"] = str(len(layout.components))
        group = facts["named"]
        for i, component in enumerate(layout.components if group else ()):
            step[f"SLURM_JOB_NODELIST_{group}_GROUP_{i}"] = names.compress([layout.hosts[n] for n in component])
            step[f"SLURM_JOB_ID_{group}_GROUP_{i}"] = str(layout.job + i)
    if layout.distribution.startswith("plane"):
        step["SLURM_DIST_PLANESIZE"] = layout.distribution.split("=")[1]
    if facts["preserve"]:  # srun -E, a het step: these keep the job's values
        stale = rng.choice((1, size + 1, 3 * size, 128))
        step.update({"SLURM_NTASKS": str(stale), "SLURM_NPROCS": str(stale), "SLURM_NNODES": str(len(layout.job_hosts)),
                     "SLURM_TASKS_PER_NODE": names.counts([stale] * len(layout.job_hosts))})
        if rng.random() < 0.3 and not layout.components:
            # a step of one of the job's components
            step.update({"SLURM_HET_SIZE": "2", "SLURM_JOB_ID_HET_GROUP_0": str(layout.job),
                         "SLURM_JOB_NODELIST_HET_GROUP_0": "other[1-3]",
                         "SLURM_JOB_NODELIST_HET_GROUP_1": host_list(rng, layout.job_hosts)})
    if facts["per_node"] == "given" and len(set(counts)) == 1:
        step["SLURM_NTASKS_PER_NODE"] = str(counts[0])
    if facts["pmix"]:
        step["SLURM_PMIX_MAPPING_SERV"] = process_mapping(layout)
        step["SLURM_PMIXP_ABORT_AGENT_PORT"] = "40123"
    if facts["task_hosts"]:
        where = layout.where
        step["SLURM_ROLLCALL_TASK_HOSTS"] = (f'{step["SLURM_JOB_ID"]}.{step["SLURM_STEP_ID"]} ' +
                                             ",".join(str(where[r]) for r in range(size)))
    stale = facts.get("stale")
    if stale:  # an outer step's, whose PMIx this one has not
        step.update({"SLURM_PMIX_MAPPING_SERV": process_mapping(stale),
                     "PMIX_NAMESPACE": f"slurm.pmix.{layout.job}.{layout.step + 1}",
                     "PMIX_RANK": str(rng.randrange(layout.size))})
    step.update(user)
    place = {node: i for i, node in enumerate(n for component in layout.components for n in component)}

    tasks = []
    for node, ranks in enumerate(layout.ranks):
        if only is not None and node not in only:
            continue
        for local, rank in enumerate(ranks):
            env = dict(step)
            pid = 70000 + 100 * local + node
            env.update({
                "SLURM_PROCID": str(rank), "SLURM_LOCALID": str(local),
                "SLURM_NODEID": str(place.get(node, node)), "SLURM_GTIDS": ",".join(map(str, ranks)), "SLURM_TASK_PID": str(pid),
                "SLURM_CPUS_ON_NODE": "32", "SLURMD_NODENAME": layout.hosts[node],
                "SLURM_TOPOLOGY_ADDR": layout.hosts[node],
            })
            if facts["pmix"]:
                space = f"slurm.pmix.{layout.job}.{layout.step}"
                uri = f"{space}.{node};tcp4://127.0.0.1:41871"
                env.update({"PMIX_NAMESPACE": space, "PMIX_RANK": str(rank), "PMIX_SERVER_URI41": uri,
                            "PMIX_SERVER_URI4": uri, "PMIX_SERVER_URI3": uri, "PMIX_SERVER_URI2": uri,
                            "PMIX_HOSTNAME": layout.hosts[node], "PMIX_VERSION": "4.2.2",
                            "PMIX_SERVER_TMPDIR": f"/var/spool/slurmd/pmix.{layout.job}.{layout.step}/"})
            how = facts["caller"]
            tasks.append(Task(env, rank, node, local, pid=pid + (7 if how == "below a shell" else 0),
                              certain=how == "plugin"))
    return tasks


# Launchers that are given a rendezvous of the user's. No step has 999 nodes: those meet with other steps.
ELSEWHERE = "elsewhere.example:23458"
NAMED = (
    ["torchrun", "--rdzv_backend=c10d", "--rdzv-endpoint", ELSEWHERE, "train.py"],
    ["torchrun", "--nnodes=999", "--rdzv-backend", "c10d", "--rdzv_endpoint=" + ELSEWHERE, "train.py"],
    ["torchrun", "--nnodes", "999", "--node_rank", "$NODE", "--master_addr=elsewhere.example", "train.py"],
    ["python", "-m", "torch.distributed.run", "--rdzv_backend=etcd", "--rdzv_endpoint=$ETCD", "train.py"],
    ["accelerate", "launch", "--num_machines=999", "--machine_rank", "$NODE", "--main_process_ip", "$HEAD", "train.py"],
)


def left_over(rng, layout):
    """What an older shell, a batch script or an image exported: never this step's identity."""
    user = {}
    if rng.random() < 0.25:
        user.update({"RANK": "7", "LOCAL_RANK": "3", "WORLD_SIZE": "16"})
    if rng.random() < 0.1:
        user.update({"NODE_RANK": "5", "GROUP_RANK": "5", "LOCAL_WORLD_SIZE": "9", "GROUP_WORLD_SIZE": "9"})
    if rng.random() < 0.1:
        user["RANK"] = rng.choice(("", "x", "-1", "007"))
    if rng.random() < 0.15:
        user.update({"PET_NNODES": "4", "PET_NODE_RANK": "3", "PET_MASTER_ADDR": "elsewhere", "PET_RDZV_ID": "none"})
    if rng.random() < 0.1:
        user["TORCHELASTIC_USE_AGENT_STORE"] = "True"
    if rng.random() < 0.1:
        user["PET_SIGNALS_TO_HANDLE"] = rng.choice(("SIGTERM", "SIGTERM,SIGCONT", ""))
    pick = rng.random()
    if pick < 0.05:
        user["MASTER_ADDR"] = rng.choice(("127.0.0.1", "localhost", "::1", "127.0.1.1", "0.0.0.0", "::", "LocalHost"))
    elif pick < 0.1:
        user["MASTER_ADDR"] = rng.choice(layout.hosts)
    elif pick < 0.15:
        user["MASTER_ADDR"] = rng.choice(("10.1.2.3", "fd00::7", "ib-master.example.org"))
    elif pick < 0.18:
        user["MASTER_ADDR"] = ""
    elif pick < 0.22:
        user["MASTER_ADDR"] = rng.choice(layout.job_hosts)
    pick = rng.random()
    if pick < 0.1:
        user["MASTER_PORT"] = rng.choice(("29500", "1024", "65535", "23456"))
    elif pick < 0.15:
        user["MASTER_PORT"] = rng.choice(("", "0", "65536", "x", "-1", " 29500", "29500 ", "029500"))
    return user


def options(rng, launch):
    """What is asked of rollcall, in either place."""
    text = rng.choice((None,) * 8 + ("auto", "", "worker", "worker", "launcher", "launcher,nproc=3", "order=node",
                                     "worker,order=node", "auto,order=given", "off"))
    if text is not None and rng.random() < 0.3:
        launch.variable = text
    else:
        launch.options = text


def slurm_launch(rng):
    layout = slurm_layout(rng)
    facts = {
        "distribution": rng.random() < 0.5, "preserve": rng.random() < 0.12,
        "per_node": rng.choice(("given", "absent")), "pmix": rng.random() < 0.4, "task_hosts": False,
        "caller": rng.choice(("plugin", "exec", "below a shell")),
    }
    told = True
    facts["network"] = layout.distribution == "network" or (layout.distribution != "block" and not layout.components
                                                            and rng.random() < 0.3)
    if layout.components:
        facts["named"] = rng.choice(("HET", "PACK", None))
        told = facts["pmix"] or facts["named"] is not None
    elif layout.distribution in ("arbitrary", "network"):
        way = rng.choice(("pmix", "hosts", "both", "none"))
        facts["pmix"] = way in ("pmix", "both")
        facts["task_hosts"] = way in ("hosts", "both")
        told = way != "none" or len(layout.hosts) == 1
    if not facts["pmix"] and rng.random() < 0.2:
        counts = list(map(len, layout.ranks))
        facts["stale"] = Layout(layout.hosts, arbitrary(rng, counts), "arbitrary", layout.job_hosts)
    launch = Launch("slurm", layout, [], told=told, user=left_over(rng, layout), facts=facts)
    options(rng, launch)
    if launch.variable is not None:
        launch.user["ROLLCALL"] = launch.variable
    launch.argv = rng.choice((None, ["python", "train.py"], ["python", "train.py"], ["bash", "-c", "exec python train.py"],
                              ["torchrun", "train.py"], ["python", "-m", "torch.distributed.run", "train.py"], ["orted"]))
    if rng.random() < 0.1:
        launch.argv = rng.choice(NAMED)
    if launch.argv == ["orted"] and rng.random() < 0.7:
        launch.argv = ["./a.out", "torchrun"]
    launch.tasks = slurm_tasks(rng, layout, launch.user, facts)
    return launch
