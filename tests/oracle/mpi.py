# SPDX-License-Identifier: BSD-3-Clause
"""Random launches of Open MPI 4.1's mpirun, as its ranks' environments were measured on three nodes.

By slot, a node's ranks follow each other; by node, they are dealt out one a
node. mpirun's own daemon is number 0, the others are numbered in the order
of the nodes; a login node's mpirun carries no ranks, and the nodes begin at
daemon 1. Inside a Slurm job every rank inherits its daemon's SLURM_*, which
are the batch script's on mpirun's node and an srun step's on the others.
"""

import names
from layouts import Launch, Layout, Task, block, cyclic, gpu_environment, how_many, job_environment, left_over, login_shell

FAMILY = 26411008


def layout_of(rng, counts, by_node):
    job_hosts = names.order(names.make(rng, len(counts)))
    ranks = cyclic(counts) if by_node else block(counts)
    return Layout(job_hosts, ranks, "node" if by_node else "slot", job_hosts, job=rng.choice((7, 4711)),
                  gpus=rng.choice((None, None, 0, 1, 2, 8)))


def address(node):
    return f"10.20.{node // 200}.{1 + node % 200}"


def uri(daemon, node, facts):
    """A daemon's contact, all its interfaces in it."""
    if facts["family"] == "6":
        return f"{FAMILY * 2}.{daemon};tcp6://[fd00:20::{node + 1:x}]:40{daemon:03d}"
    extra = {"4": "", "4+4": f",172.16.0.{node % 200 + 1}", "4+6": ""}[facts["family"]]
    six = f";tcp6://[fd00:20::{node + 1:x}]:41{daemon:03d}" if facts["family"] == "4+6" else ""
    return f"{FAMILY * 2}.{daemon};tcp://{address(node)}{extra}:40{daemon:03d}{six}"


def addresses(node):
    return {address(node), f"172.16.0.{node % 200 + 1}", f"fd00:20::{node + 1:x}"}


def slurm_around(rng, layout, node, facts):
    """What mpirun's ranks on this node see of Slurm."""
    if facts["around"] == "nothing":
        return {}
    nodes, size = len(layout.hosts), layout.size
    env = job_environment(rng, layout)
    env.update({"SLURM_NTASKS": str(size), "SLURM_NPROCS": str(size), "SLURM_NNODES": str(nodes),
                "SLURM_TASKS_PER_NODE": names.counts(list(map(len, layout.ranks)))})
    if facts["per_node"]:
        env["SLURM_NTASKS_PER_NODE"] = str(len(layout.ranks[0]))
    first_daemon_node = 0 if facts["around"] == "salloc" else 1
    if facts["around"] == "salloc":
        env["SLURM_JOB_NAME"] = "interactive"
    if node < first_daemon_node:  # the batch script
        env.update({"SLURM_PROCID": "0", "SLURM_LOCALID": "0", "SLURM_NODEID": "0", "SLURM_GTIDS": "0",
                    "SLURM_TASK_PID": "5005", "SLURMD_NODENAME": layout.hosts[0]})
        return env
    daemons = nodes - first_daemon_node
    place = node - first_daemon_node
    env.update({
        "SLURM_PROCID": str(place), "SLURM_LOCALID": "0", "SLURM_NODEID": str(place), "SLURM_GTIDS": str(place),
        "SLURM_STEP_ID": "0", "SLURM_STEPID": "0", "SLURM_NTASKS": str(daemons), "SLURM_NPROCS": str(daemons),
        "SLURM_NNODES": str(daemons), "SLURM_STEP_NUM_TASKS": str(daemons), "SLURM_STEP_NUM_NODES": str(daemons),
        "SLURM_TASKS_PER_NODE": names.counts([1] * daemons), "SLURM_STEP_TASKS_PER_NODE": names.counts([1] * daemons),
        "SLURM_STEP_NODELIST": names.compress(layout.hosts[first_daemon_node:]), "SLURM_TASK_PID": "6006",
        "SLURM_NTASKS_PER_NODE": "1", "SLURM_DISTRIBUTION": "block", "SLURMD_NODENAME": layout.hosts[node],
    })
    return env


def openmpi_tasks(rng, layout, user, facts):
    nodes = len(layout.hosts)
    offset = 0 if facts["mpirun"] == "on the first node" else 1
    base = login_shell(rng)
    base.update({
        "OMPI_UNIVERSE_SIZE": str(layout.size + facts["idle"]),  # an idle daemon's node has slots
        "OMPI_MCA_orte_num_nodes": str(nodes), "OMPI_FIRST_RANKS": "0",
        "OMPI_MCA_orte_hnp_uri": uri(0, 0 if offset == 0 else 250, facts), "OMPI_COMMAND": "python",
        "OMPI_MCA_orte_ess_num_procs": str(layout.size), "OMPI_MCA_ess_base_jobid": str(FAMILY * 2 + 1),
        "OMPI_NUM_APP_CTX": "1", "OMPI_APP_CTX_NUM_PROCS": str(layout.size), "OMPI_MCA_orte_launch": "1",
        "PMIX_NAMESPACE": str(FAMILY * 2 + 1), "PMIX_VERSION": "4.2.2rc2",
    })
    if layout.distribution == "node":
        way = rng.choice(("mapping", "ranking", "bynode"))
        base.update({"mapping": {"OMPI_MCA_rmaps_base_mapping_policy": "node"},
                     "ranking": {"OMPI_MCA_rmaps_base_ranking_policy": "node"},
                     "bynode": {"OMPI_MCA_rmaps_base_bynode": "1"}}[way])
        facts["way"] = way
    elif rng.random() < 0.6:
        policy = rng.choice(("slot", f"ppr:{len(layout.ranks[0])}:node", "core"))
        base["OMPI_MCA_rmaps_base_mapping_policy"] = policy
        facts["way"] = policy
    base.update(gpu_environment(layout) if facts["around"] != "nothing" else
                {name: value for name, value in gpu_environment(layout).items() if not name.startswith("SLURM")})
    tasks = []
    for node, ranks in enumerate(layout.ranks):
        around = slurm_around(rng, layout, node, facts)
        if node + offset > 0:  # inherited from the daemon, which mpirun's own node has none of
            around["OMPI_MCA_ess_base_num_procs"] = str(nodes + offset + facts["idle"])
        for local, rank in enumerate(ranks):
            env = {**base, **around}
            env.update({
                "OMPI_COMM_WORLD_RANK": str(rank), "OMPI_COMM_WORLD_SIZE": str(layout.size),
                "OMPI_COMM_WORLD_LOCAL_RANK": str(local), "OMPI_COMM_WORLD_LOCAL_SIZE": str(len(ranks)),
                "OMPI_COMM_WORLD_NODE_RANK": str(local), "OMPI_MCA_ess_base_vpid": str(rank),
                "OMPI_MCA_orte_ess_node_rank": str(local), "PMIX_RANK": str(rank),
                "PMIX_ID": f"{FAMILY * 2 + 1}.{rank}", "PMIX_HOSTNAME": layout.hosts[node],
                "OMPI_MCA_orte_local_daemon_uri": uri(node + offset, node, facts),
                "PMIX_SERVER_URI41": f"{FAMILY * 2}.{node + offset};tcp4://127.0.0.1:39183",
            })
            env.update(user)
            tasks.append(Task(env, rank, node, local, pid=80000 + rank))
    return tasks


def openmpi_launch(rng, counts=None, idle=None, around=None):
    """An even launch unless `counts` says otherwise; idle: daemons without ranks, besides mpirun's own."""
    counts = counts or [rng.choice((1, 1, 2, 2, 3, 4, 8))] * how_many(rng)
    layout = layout_of(rng, counts, by_node=rng.random() < 0.5)
    around = around or rng.choice(("nothing", "sbatch", "salloc"))
    facts = {
        "around": around, "idle": rng.choice((0, 0, 0, 1, 2)) if idle is None else idle, "per_node": rng.random() < 0.5, "family": rng.choice(("4", "4", "4+4", "4+6", "6")),
        "mpirun": "on a login node" if around == "salloc" or (around == "nothing" and rng.random() < 0.15)
        else "on the first node",
        "run_id": str(FAMILY * 2 + 1),
        "addresses": {host: addresses(node) for node, host in enumerate(layout.hosts)},
    }
    launch = Launch("openmpi", layout, [], user=left_over(rng, layout), facts=facts)
    launch.options = rng.choice((None,) * 8 + ("auto", "worker", "launcher", "launcher,nproc=2", "order=node", "off"))
    launch.argv = rng.choice((["python", "train.py"], ["python", "train.py"], ["torchrun", "train.py"], None))
    # nobody but the user can name a node that mpirun's own address is not of
    launch.told = len(counts) == 1 or facts["mpirun"] == "on the first node" or around != "nothing"
    launch.tasks = openmpi_tasks(rng, layout, launch.user, facts)
    return launch
