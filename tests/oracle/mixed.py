# SPDX-License-Identifier: BSD-3-Clause
"""Random launches of MPI's launchers and of srun, alone and inside each other, with all that either sets.

A kind is a function of a generator that returns a Drawn: the tasks of the innermost launch, which must get its
identity, and the launch around it. What nobody can know from the variables is here, too (Drawn.is_open).
"""

from dataclasses import dataclass, field

import families
import names
from layouts import Layout, arbitrary, block, cyclic, plane, slurm_tasks

SHAPES = ("block", "block", "cyclic", "plane", "arbitrary")
PMI = ("none", "none", "pmi2", "cray", "cray of 22.05", "pmix")


@dataclass
class Drawn:
    tasks: list
    layout: Layout
    how: str = ""               # which launchers, for the text of a failure
    outer: object = None        # the layout of the launch around this one
    start: object = None        # its task that started this one
    shadow: set = field(default_factory=set)  # ranks whose variables fit the opposite nesting as well

    def is_open(self, task):
        """Whether a launch with the opposite nesting gives this very environment to one of its tasks."""
        return task.rank in self.shadow


def draw_layout(rng, shapes=SHAPES, most=5):
    nodes = rng.choice((1, 2, 2, 3, 3, 4, 5, 6))
    pick = rng.random()
    if pick < 0.4:
        counts = [rng.randint(1, most)] * nodes
    elif pick < 0.55:  # -m pack: full nodes, then the rest
        full = rng.randint(1, most)
        counts = [full] * (nodes - 1) + [rng.randint(1, full)]
    else:
        counts = [rng.randint(1, most) for _ in range(nodes)]
    shape = rng.choice(shapes)
    turn = rng.randint(2, 3)
    ranks = {"block": lambda: block(counts), "cyclic": lambda: cyclic(counts), "plane": lambda: plane(counts, turn),
             "arbitrary": lambda: arbitrary(rng, counts)}[shape]()
    # Slurm sorts its nodes; mpiexec takes them as they are given
    hosts = names.order(names.make(rng, nodes))
    return Layout(hosts, ranks, f"plane={turn}" if shape == "plane" else shape, hosts, job=rng.randint(1, 10**6),
                  step=rng.randint(0, 40))


def mpirun4(rng, layout):
    rank_file = {}
    if layout.distribution == "arbitrary":
        rank_file = rng.choice(({"OMPI_MCA_orte_rankfile": "rf"}, {"OMPI_MCA_rmaps": "seq"}))
    tasks = families.openmpi4(rng, layout).tasks
    for task in tasks:
        task.env.update(rank_file)
        task.starts = ("orted -mca ess env",)
    return tasks


def hydra(rng, layout):
    return families.hydra(rng, layout).tasks


def cray(layout, task, old):
    """mpi/cray_shasta (mpi_cray_shasta.c, mpi_p_slurmstepd_task); that of 22.05 sets no PMI_RANK (measured)."""
    there = len(layout.ranks[task.node])
    both = {"PALS_APID": f"{layout.job}.{layout.step}", "PALS_APINFO": "/var/spool/slurmd/apinfo", "PALS_NODEID": str(task.node),
            "PALS_RANKID": str(task.rank), "PALS_SPOOL_DIR": "/var/spool/slurmd"}
    return both if old else {**both, "PALS_LOCAL_RANKID": str(task.local), "PMI_JOBID": str(layout.job), "PMI_RANK": str(task.rank), "PMI_SIZE": str(layout.size),
            "PMI_LOCAL_RANK": str(task.local), "PMI_LOCAL_SIZE": str(there), "PMI_UNIVERSE_SIZE": str(layout.size),
            "PMI_CONTROL_PORT": "20026,20027", "PMI_SHARED_SECRET": "6149852154"}


def step(rng, layout, pmi):
    """Tasks of srun, with the PMI that it gave them."""
    facts = {"distribution": True, "preserve": rng.random() < 0.1, "per_node": rng.choice(("given", "absent")),
             "pmix": pmi == "pmix", "task_hosts": layout.distribution == "arbitrary", "caller": "exec"}
    tasks = slurm_tasks(rng, layout, {}, facts)
    for task in tasks:
        task.starts = (f"slurmstepd: [{layout.job}.{layout.step}]",)
        task.env["@host"] = layout.hosts[task.node]
        if pmi == "pmi2":  # mpi_pmi2.c
            task.env.update({"PMI_FD": "9", "PMI_JOBID": f"{layout.job}.{layout.step}", "PMI_RANK": str(task.rank),
                             "PMI_SIZE": str(layout.size)})
        elif pmi.startswith("cray"):
            task.env.update(cray(layout, task, pmi != "cray"))
    return tasks


def put_around(start, tasks):
    for task in tasks:
        task.env = {**start.env, **task.env}
        task.starts += start.starts


def in_cluster(rng, layout, other):
    """Of one job, on some of its nodes."""
    layout.job, layout.step = other.job, rng.choice([n for n in range(40) if n != other.step])


# Alone


def openmpi4(rng):
    layout = draw_layout(rng)
    return Drawn(mpirun4(rng, layout), layout)


def openmpi5(rng):
    # no rank file, of which no task is told: that of two nodes, with mpirun on a third one, may look like --map-by node
    layout = draw_layout(rng, SHAPES[:-1])
    return Drawn(families.openmpi5(rng, layout).tasks, layout)


def by_hand(rng):
    """A step of srun's for which somebody exported Hydra's names, for another library."""
    layout, pmi = draw_layout(rng), rng.choice(("none", "pmi2", "cray", "pmix"))
    tasks = step(rng, layout, pmi)
    own_pmi, both = rng.random() < 0.5, rng.random() < 0.3
    for task in tasks:
        task.env["MPI_LOCALRANKID"] = str(task.local)
        if own_pmi and "PMI_RANK" not in task.env:
            task.env.update({"PMI_RANK": str(task.rank), "PMI_SIZE": str(layout.size)})
        if both and own_pmi:
            task.env["MPI_LOCALNRANKS"] = str(len(layout.ranks[task.node]))
    return Drawn(tasks, layout, f"--mpi={pmi}")


# mpiexec in a task of srun, and srun in a task of mpiexec: Hydra writes PMI_RANK, PMI_SIZE and PMI_FD, and so does srun
# with some of its kinds of PMI. Only where the values of one can be those of the other nothing tells.


def fits_hydra(rank, size, local, there):
    """Whether a task of Hydra's can have these numbers: as many ranks of its node below and above as there must be."""
    return local <= rank < size and there <= size and there - 1 - local <= size - 1 - rank


def are_steps(env):
    return env["PMI_RANK"] == env["SLURM_PROCID"] and env["PMI_SIZE"] == env["SLURM_STEP_NUM_TASKS"]


def is_hydras(env):
    return fits_hydra(*(int(env[name]) for name in ("PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS")))


def shadowed(tasks, pmi):
    if pmi not in ("pmi2", "cray"):
        return {task.rank for task in tasks}
    return {task.rank for task in tasks if are_steps(task.env) and is_hydras(task.env)}


def mpiexec(rng):
    """MPICH's or Intel MPI's over ssh or on one node, alone or inside of a task of a step."""
    layout = draw_layout(rng)
    tasks = hydra(rng, layout)
    if rng.random() < 0.2:
        return Drawn(tasks, layout)
    outer, pmi = draw_layout(rng), rng.choice(PMI)
    if rng.random() < 0.5:  # -np $SLURM_NTASKS, on the step's own nodes or on one of them
        same = block(list(map(len, outer.ranks))) if rng.random() < 0.5 else [list(range(outer.size))]
        layout = Layout(outer.hosts[:len(same)], same, "block", outer.hosts)
        tasks = hydra(rng, layout)
    start = rng.choice(step(rng, outer, pmi))
    put_around(start, tasks)
    return Drawn(tasks, layout, f"in srun --mpi={pmi}, rank {start.rank} of {outer.size}", outer, start, shadowed(tasks, pmi))


def mpiexec_by_srun(rng):
    """Its proxies are a step of srun's, inside of a task of another step; MPICH 4.3 hands on what that task had."""
    layout = draw_layout(rng)
    proxies = Layout(layout.hosts, block([1] * len(layout.hosts)), "block", layout.hosts, job=layout.job)
    started, around = step(rng, proxies, "none"), {}
    if rng.random() < 0.8:
        outer = draw_layout(rng, ("block", "cyclic"))
        outer.job, proxies.step = layout.job, outer.step + 1
        around, started = rng.choice(step(rng, outer, rng.choice(PMI))).env, step(rng, proxies, "none")
    tasks = hydra(rng, layout)
    newer = rng.random() < 0.5
    port = rng.randint(30000, 50000)
    proxy = f"hydra_pmi_proxy --control-port {layout.hosts[0]}:{port} --rmk slurm --launcher slurm --proxy-id -1"
    for task in tasks:
        inner = started[task.node]
        task.env = {**inner.env, **around, **task.env} if newer else {**around, **inner.env, **task.env}
        task.starts = (proxy, *inner.starts)
    return Drawn(tasks, layout, "proxies by srun", shadow=set(range(layout.size)))


def srun_in_mpiexec(rng):
    outer, layout, pmi = draw_layout(rng), draw_layout(rng), rng.choice(PMI)
    if rng.random() < 0.3:  # as many tasks
        layout = Layout(layout.hosts[:1], [list(range(outer.size))], "block", layout.hosts[:1], job=layout.job, step=layout.step)
    start = rng.choice(hydra(rng, outer))
    tasks = step(rng, layout, pmi)
    put_around(start, tasks)
    return Drawn(tasks, layout, f"srun --mpi={pmi} in mpiexec, rank {start.rank} of {outer.size}", outer, start,
                 shadowed(tasks, pmi))


# mpirun and srun: both of them write PMIX_NAMESPACE and PMIX_RANK where srun has PMIx, else nothing that both write


def srun_in_mpirun(rng):
    outer, layout, pmi = draw_layout(rng, SHAPES[:-1]), draw_layout(rng), rng.choice(PMI)
    written = mpirun4(rng, outer) if rng.random() < 0.5 else families.openmpi5(rng, outer).tasks
    start = rng.choice(written)
    start.env.pop("@pmix", None)
    tasks = step(rng, layout, pmi)
    put_around(start, tasks)
    return Drawn(tasks, layout, f"srun --mpi={pmi} in mpirun, rank {start.rank} of {outer.size}", outer, start,
                 set() if pmi == "pmix" else set(range(layout.size)))


def mpirun_in_srun(rng):
    outer, layout, pmi = draw_layout(rng), draw_layout(rng, SHAPES[:-1]), rng.choice(PMI)
    start = rng.choice(step(rng, outer, pmi))
    tasks = mpirun4(rng, layout) if rng.random() < 0.5 else families.openmpi5(rng, layout).tasks
    put_around(start, tasks)
    return Drawn(tasks, layout, f"mpirun in srun --mpi={pmi}, rank {start.rank} of {outer.size}", outer, start,
                 set(range(layout.size)))


def srun_in_srun(rng):
    outer, layout = draw_layout(rng), draw_layout(rng)
    in_cluster(rng, layout, outer)
    pmi, inner = rng.choice(PMI), rng.choice(PMI)
    start = rng.choice(step(rng, outer, pmi))
    tasks = step(rng, layout, inner)
    put_around(start, tasks)
    return Drawn(tasks, layout, f"srun --mpi={inner} in srun --mpi={pmi}, rank {start.rank} of {outer.size}", outer, start)


KINDS = (openmpi4, openmpi5, openmpi5, mpiexec, mpiexec, mpiexec, mpiexec_by_srun, by_hand, srun_in_mpiexec,
         srun_in_mpiexec, srun_in_mpirun, mpirun_in_srun, srun_in_srun)
