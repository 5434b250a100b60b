# SPDX-License-Identifier: BSD-3-Clause
"""Launches of every family, small ones: what each launcher writes into its tasks' environments.

Like layouts.py, from the layout to the variables, after the launchers' documents and sources (design, facts about
launchers 1.1). A family is a function of a generator and a Layout that returns tasks and

    firm     the variables tell the whole identity, so every task must be resolved; else all that are resolved
             are right, or somebody refuses
    told     they also tell the host of RANK 0, by one of `addresses`; None: perhaps
    counted  they also tell how many nodes there are; a task that has only its own sizes cannot know that
"""

from dataclasses import dataclass, field

import mpi
import names
from layouts import Layout, Task, arbitrary, block, cyclic, plane, process_mapping, slurm_tasks


@dataclass
class Family:
    write: object            # rng, layout -> Written
    shapes: tuple            # of SHAPES
    starts: tuple = ()       # the command lines between a task and what is outside of its launcher, nearest first
    order: int = 99          # where only names tell: lower is further inside


@dataclass
class Written:
    tasks: list
    firm: bool = True
    told: object = True
    counted: bool = True
    addresses: set = field(default_factory=set)
    run_id: object = None
    port: object = None        # MASTER_PORT, where the launcher or the platform sets it
    sure: bool = False         # not firm, but no task is refused


# Who runs where

SHAPES = {
    "block": lambda rng, counts: (block(counts), "block"),
    "cyclic": lambda rng, counts: (cyclic(counts), "cyclic"),
    "plane": lambda rng, counts: (plane(counts, 2), "plane=2"),
    "arbitrary": lambda rng, counts: (arbitrary(rng, counts), "arbitrary"),
}


def draw_layout(rng, shapes, gpus):
    nodes = rng.choice((1, 1, 2, 2, 2, 3, 4))
    shape = rng.choice(shapes)
    if shape == "one a node":
        counts = [1] * nodes
    elif rng.random() < 0.75:
        counts = [rng.choice((1, 2, 2, 3))] * nodes
    else:
        counts = [rng.randint(1, 3) for _ in range(nodes)]
    ranks, distribution = SHAPES["block" if shape == "one a node" else shape](rng, counts)
    hosts = names.order(names.make(rng, nodes))
    return Layout(hosts, ranks, distribution, hosts, job=rng.randint(1, 10**6), step=rng.randint(0, 40), gpus=gpus)


def everybody(layout):
    for node, ranks in enumerate(layout.ranks):
        for local, rank in enumerate(ranks):
            yield node, local, rank


def even(layout):
    return len(set(map(len, layout.ranks))) == 1


def one_node(layout):
    return len(layout.hosts) == 1


def devices(layout):
    if layout.gpus is None:
        return {}
    return {"CUDA_VISIBLE_DEVICES": ",".join(map(str, range(layout.gpus))) or "NoDevFiles"}


def written(layout, variables, **how):
    """variables(node, local, rank): the task's own."""
    tasks = [Task({**devices(layout), **variables(node, local, rank)}, rank, node, local, pid=80000 + rank)
             for node, local, rank in everybody(layout)]
    return Written(tasks, **how)


# Resource managers


def slurm(rng, layout):
    if layout.distribution == "arbitrary":
        way = rng.choice(("pmix", "hosts", "both"))
    else:
        way = rng.choice(("pmix", "none", "none"))
    facts = {"distribution": True, "preserve": rng.random() < 0.1, "per_node": rng.choice(("given", "absent")),
             "pmix": way in ("pmix", "both"), "task_hosts": way in ("hosts", "both"), "caller": "below a shell"}
    return Written(slurm_tasks(rng, layout, {}, facts), run_id=f"{layout.job}.{layout.step}")


def flux(rng, layout):
    job = f"\u0192{layout.job}"
    return written(layout, lambda node, local, rank: {
        "FLUX_JOB_ID": job, "FLUX_TASK_RANK": str(rank), "FLUX_TASK_LOCAL_ID": str(local),
        "FLUX_JOB_SIZE": str(layout.size), "FLUX_JOB_NNODES": str(len(layout.hosts)),
        "PMI_RANK": str(rank), "PMI_SIZE": str(layout.size), "PMI_FD": "12",
    }, firm=even(layout) and layout.distribution == "block", told=one_node(layout))


def pals(rng, layout):
    return written(layout, lambda node, local, rank: {
        "PALS_APID": f"apid-{layout.job}", "PALS_RANKID": str(rank), "PALS_LOCAL_RANKID": str(local),
        "PALS_LOCAL_SIZE": str(len(layout.ranks[node])), "PALS_NODEID": str(node),
        "PMI_RANK": str(rank), "PMI_SIZE": str(layout.size), "PMI_LOCAL_RANK": str(local),
        "PMI_LOCAL_SIZE": str(len(layout.ranks[node])),
    }, firm=even(layout) and layout.distribution in ("block", "cyclic"), told=one_node(layout), counted=one_node(layout),
        run_id=f"apid-{layout.job}")


def lsf(rng, layout):
    """blaunch: a task for each slot, host by host."""
    return written(layout, lambda node, local, rank: {
        "LSB_JOBID": str(layout.job), "LSB_DJOB_NUMPROC": str(layout.size), "LSF_PM_TASKID": str(rank + 1),
        "LSB_MCPU_HOSTS": " ".join(f"{host} {len(ranks)}" for host, ranks in zip(layout.hosts, layout.ranks)),
        "@host": layout.hosts[node],
    })


def pbs(rng, layout):
    """pbsdsh, with a copy of PBS_NODEFILE that all nodes see."""
    return written(layout, lambda node, local, rank: {
        "PBS_JOBID": f"{layout.job}.pbs", "PBS_NODENUM": str(node), "PBS_TASKNUM": f"4000000{rank + 1}",
        "PBS_ENVIRONMENT": "PBS_BATCH", "PBS_NODEFILE": "nodes", "@host-file": "\n".join(layout.hosts),
        "@host": layout.hosts[node],
    })


# MPI's own launchers


def openmpi4(rng, layout):
    around = rng.choice(("nothing", "nothing", "sbatch", "salloc"))
    login = around == "salloc" or rng.random() < 0.15
    layout.distribution = "node" if layout.distribution == "cyclic" else "slot"
    run = rng.randint(1, 10**6)
    facts = {"around": around, "idle": 0, "per_node": rng.random() < 0.5, "family": rng.choice(("4", "4+6", "6")),
             "mpirun": "on a login node" if login else "on the first node"}
    tasks = mpi.openmpi_tasks(rng, layout, {}, facts)
    # in openmpi-mca-params.conf, of which no task is told
    from_file = layout.distribution == "node" and rng.random() < 0.4
    for task in tasks:
        task.env["PMIX_NAMESPACE"] = str(run)
        for name in [name for name in task.env if from_file and name.startswith("OMPI_MCA_rmaps")]:
            del task.env[name]
    reached_by = mpi.addresses(0)
    told = True if one_node(layout) or not login or around != "nothing" else None
    return Written(tasks, firm=even(layout) and not from_file, told=told, addresses=reached_by, run_id=str(run))


def openmpi5(rng, layout):
    """mpirun over ssh or in a Slurm job, on the first of the nodes or beside them, some daemons without ranks.

    Without --display, nobody is told the mapping, nor whether mpirun's node carries ranks.
    """
    nodes, login = len(layout.hosts), rng.random() < 0.3
    name = f"prterun-{'login' if login else layout.hosts[0]}-{rng.randint(100, 9999)}"
    daemons = nodes + login + rng.choice((0, 0, 0, 1, 2))
    job, ess = {}, "env"
    if rng.random() < 0.3:  # srun starts a daemon on each of the job's nodes
        job, ess = {"SLURM_JOB_NUM_NODES": str(daemons - login)}, '"slurm"'
    result = written(layout, lambda node, local, rank: {
        "OMPI_COMM_WORLD_RANK": str(rank), "OMPI_COMM_WORLD_SIZE": str(layout.size),
        "OMPI_COMM_WORLD_LOCAL_RANK": str(local), "OMPI_COMM_WORLD_LOCAL_SIZE": str(len(layout.ranks[node])),
        "OMPI_COMM_WORLD_NODE_RANK": str(local), "OMPI_UNIVERSE_SIZE": str(layout.size), "OMPI_VERSION": "5.0.7",
        "PMIX_NAMESPACE": f"{name}@1", "PMIX_RANK": str(rank), "PMIX_HOSTNAME": layout.hosts[node],
        "PMIX_SERVER_URI41": f"{name}@0.{node + login};tcp4://127.0.0.1:52505", "PRTE_LAUNCHED": "1",
        "@host": layout.hosts[node], **job,
    }, firm=one_node(layout), told=True if one_node(layout) else None, counted=one_node(layout), run_id=f"{name}@1")
    asks = rng.random() < 0.5
    result.sure = asks and even(layout)
    for task in result.tasks:
        if asks:
            task.env["@pmix"] = "\n".join((
                f"rank={task.rank}", f"size={layout.size}", f"local_rank={task.local}", f"node={task.node}",
                f"map={process_mapping(layout)}", f"tasks={names.counts(list(map(len, layout.ranks)))}", f"host={layout.hosts[0]}"))
        task.starts = ("mpirun -np 4 --host n1:2 train",) if task.node + login == 0 else (
            f"prted --prtemca ess {ess} --prtemca ess_base_nspace {name}@0 --prtemca ess_base_vpid {task.node + login} "
            f"--prtemca ess_base_num_procs {daemons} --prtemca prte_hnp_uri {name}@0.0;tcp://10.0.0.1:4:16",)
    return result


def hydra(rng, layout):
    folder, extra = rng.choice((("/usr/bin", {}), ("/opt/intel/mpi/bin", {"I_MPI_MPIRUN": "mpirun"})))
    result = written(layout, lambda node, local, rank: {
        "PMI_RANK": str(rank), "PMI_SIZE": str(layout.size), "PMI_FD": "6", "MPI_LOCALRANKID": str(local),
        "MPI_LOCALNRANKS": str(len(layout.ranks[node])), "@host": layout.hosts[node],
        "GFORTRAN_UNBUFFERED_PRECONNECTED": "y", **extra,
    }, firm=even(layout) and (one_node(layout) or layout.distribution == "block"),
        told=True if one_node(layout) else None, counted=one_node(layout))
    port = rng.randint(30000, 50000)
    for task in result.tasks:
        task.starts = (f"{folder}/hydra_pmi_proxy --control-port {layout.hosts[0]}:{port} --rmk user --launcher ssh "
                       f"--proxy-id {task.node}",)
    return result


# torchrun's workers


def torchrun(rng, layout):
    run = f"run-{layout.job}"
    return written(layout, lambda node, local, rank: {
        "RANK": str(rank), "LOCAL_RANK": str(local), "WORLD_SIZE": str(layout.size),
        "LOCAL_WORLD_SIZE": str(len(layout.ranks[node])), "GROUP_RANK": str(node),
        "GROUP_WORLD_SIZE": str(len(layout.hosts)), "ROLE_RANK": str(rank), "ROLE_WORLD_SIZE": str(layout.size),
        "MASTER_ADDR": layout.hosts[0], "MASTER_PORT": "29400", "TORCHELASTIC_RUN_ID": run,
        "TORCHELASTIC_RESTART_COUNT": "0", "TORCHELASTIC_USE_AGENT_STORE": "True",
    }, run_id=run)


# Platforms that start one command on each node


def runpod(rng, layout):
    port, gpus, count = str(rng.choice((29400, 29500))), layout.gpus or 0, len(layout.hosts)
    layout.hosts = layout.job_hosts = [f"10.128.0.{node + 2}" for node in range(count)]  # known by addresses alone
    first = layout.hosts[0]
    return written(layout, lambda node, local, rank: {
        "NODE_RANK": str(node), "NUM_NODES": str(count), "NUM_TRAINERS": str(gpus), "MASTER_PORT": port,
        "PRIMARY_ADDR": first, "MASTER_ADDR": first, "PRIMARY_PORT": port, "NODE_ADDR": layout.hosts[node],
        "WORLD_SIZE": str(count * gpus), "RUNPOD_POD_ID": f"pod{node}", "HOST_NODE_ADDR": f"{first}:{port}",
    }, run_id=first, port=port)


NODE_PLATFORMS = {"runpod": runpod}

MPI = ("block", "block", "cyclic")
FAMILIES = {
    "torchrun": Family(torchrun, ("block",), ("python3 /usr/bin/torchrun --nproc-per-node=2 train.py",), 0),
    "openmpi4": Family(openmpi4, MPI, ("orted -mca ess env",), 1),
    "openmpi5": Family(openmpi5, MPI, ("prted --prtemca ess env",), 1),
    "mpich": Family(hydra, (*MPI, "plane"), (), 2),
    "flux": Family(flux, MPI, ("flux-shell 120259084288",), 1.5),
    "pals": Family(pals, MPI, ("palsd",), 7),
    "lsf": Family(lsf, ("block",), ("/opt/lsf/bin/res -d /opt/lsf/conf",), 9),
    "pbs": Family(pbs, ("one a node",), ("/opt/pbs/sbin/pbs_mom",), 10),
    "slurm": Family(slurm, (*MPI, "plane", "arbitrary"), ("slurmstepd: [42.0]",), 11),
}


# Jobs and platforms that number no processes of their own, around everything else

SURROUNDINGS = {
    "nothing": {},
    "gridengine": {"JOB_ID": "12345", "SGE_TASK_ID": "undefined", "PE_HOSTFILE": "/var/spool/sge/pe_hostfile",
                   "NHOSTS": "2", "NSLOTS": "4", "ENVIRONMENT": "BATCH", "ARC": "lx-amd64"},
    "pbs script": {"PBS_JOBID": "77.pbs", "PBS_NODENUM": "0", "PBS_TASKNUM": "1", "PBS_ENVIRONMENT": "PBS_BATCH"},
    "lsf script": {"LSB_JOBID": "77", "LSB_DJOB_NUMPROC": "4", "LSB_MCPU_HOSTS": "n1 2 n2 2"},
    "batch script": {"SLURM_JOB_ID": "9", "SLURM_JOBID": "9", "SLURM_PROCID": "0", "SLURM_LOCALID": "0", "SLURM_NODEID": "0",
                     "SLURM_NTASKS": "4", "SLURM_NPROCS": "4", "SLURM_JOB_NUM_NODES": "7", "SLURM_NNODES": "7",
                     "SLURM_JOB_NODELIST": "q[1-7]", "SLURM_NODELIST": "q[1-7]", "SLURM_TASKS_PER_NODE": "1(x7)",
                     "SLURM_GTIDS": "0", "SLURM_TASK_PID": "5005", "SLURM_JOB_NAME": "train"},
}
PLATFORMS = {
    "nothing": {},
    "kubeflow": {"KUBERNETES_SERVICE_HOST": "10.96.0.1", "PET_NNODES": "2", "PET_NODE_RANK": "1", "PET_NPROC_PER_NODE": "4",
                 "PET_MASTER_ADDR": "train-master-0", "PET_MASTER_PORT": "23456", "MASTER_ADDR": "train-master-0",
                 "MASTER_PORT": "23456", "RANK": "1", "WORLD_SIZE": "8"},
    "lws": {"LWS_LEADER_ADDRESS": "serve-0.serve.default", "LWS_GROUP_SIZE": "2", "LWS_WORKER_INDEX": "1"},
    "vertex": {"CLUSTER_SPEC": "{}", "CLOUD_ML_JOB_ID": "1234", "RANK": "1", "WORLD_SIZE": "2",
               "MASTER_ADDR": "cmle-training-master-0", "MASTER_PORT": "2222"},
    "sagemaker": {"SM_HOSTS": '["algo-1","algo-2"]', "SM_CURRENT_HOST": "algo-2", "TRAINING_JOB_NAME": "t"},
    "runpod": {"RUNPOD_POD_ID": "pod1", "PRIMARY_ADDR": "10.65.0.2", "PRIMARY_PORT": "29400", "MASTER_ADDR": "10.65.0.2",
               "MASTER_PORT": "29400", "NODE_RANK": "1", "NUM_NODES": "2", "NUM_TRAINERS": "4", "WORLD_SIZE": "8"},
    "azureml": {"AZUREML_RUN_ID": "olive", "AZUREML_NODE_COUNT": "2", "RANK": "1", "WORLD_SIZE": "4", "LOCAL_RANK": "1",
                "NODE_RANK": "0", "MASTER_ADDR": "10.0.0.4", "MASTER_PORT": "6105"},
    "by hand": {"RANK": "3", "WORLD_SIZE": "4", "LOCAL_RANK": "1", "LOCAL_WORLD_SIZE": "2", "NODE_RANK": "1", "NNODES": "2",
                "MASTER_ADDR": "10.0.0.9", "MASTER_PORT": "29501"},
}
