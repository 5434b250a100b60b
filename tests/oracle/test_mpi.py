# SPDX-License-Identifier: BSD-3-Clause
"""MPI's launchers on layouts that a task's variables need not tell: all tasks are right, or the launch does not start.

Open MPI's uneven maps, mpiexec inside of a task of an srun step, and Hydra's names that people export by hand for
another library; with the process tree in sight and without it. A line says how many tasks were right, refused, wrong.

ROLLCALL_TASKS=100000 draws that many tasks each time, as `tests/run --all` does. ROLLCALL_SEED draws others
(conftest.py).
"""

import collections
import itertools
import os

import pytest

import families
import names
from conftest import generator
from layouts import Layout, arbitrary, block, cyclic, login_shell, plane, slurm_tasks
from stream import apply, request

TASKS = int(os.environ.get("ROLLCALL_TASKS") or (100000 if os.environ.get("ROLLCALL_ALL") == "yes" else 6000))
MASTER = "10.200.0.1"  # of the user's: without it most of what is not sure of the node lacks the host of RANK 0, too
SHAPES = ("block", "block", "cyclic", "plane=2", "arbitrary")


def draw_layout(rng, shapes=SHAPES):
    nodes = rng.choice((1, 2, 2, 3, 3, 4, 5, 6))
    counts = [rng.randint(1, 4)] * nodes if rng.random() < 0.4 else [rng.randint(1, 5) for _ in range(nodes)]
    shape = rng.choice(shapes)
    ranks = {"block": lambda: block(counts), "cyclic": lambda: cyclic(counts), "plane=2": lambda: plane(counts, 2),
             "arbitrary": lambda: arbitrary(rng, counts)}[shape]()
    hosts = names.order(names.make(rng, nodes))
    return Layout(hosts, ranks, shape, hosts, job=rng.randint(1, 10**6), step=rng.randint(0, 40))


# Each returns the tasks and their layout


def openmpi4(rng):
    layout = draw_layout(rng)
    rank_file = {}
    if layout.distribution == "arbitrary":
        rank_file = rng.choice(({"OMPI_MCA_orte_rankfile": "rf"}, {"OMPI_MCA_rmaps": "seq"}))
    tasks = families.openmpi4(rng, layout).tasks
    for task in tasks:
        task.env.update(rank_file)
        task.starts = ("orted -mca ess env",)
    return tasks, layout


def openmpi5(rng):
    # no rank file, of which no task is told: that of two nodes, with mpirun on a third one, may look like --map-by node
    layout = draw_layout(rng, SHAPES[:-1])
    return families.openmpi5(rng, layout).tasks, layout


def hydra(rng, layout):
    return families.hydra(rng, layout).tasks


def step(rng, layout):
    """A task of srun, with the PMI that it gave them, as it hands its environment on."""
    facts = {"distribution": True, "preserve": rng.random() < 0.1, "per_node": rng.choice(("given", "absent")),
             "pmix": False, "task_hosts": layout.distribution == "arbitrary", "caller": "exec"}
    tasks = slurm_tasks(rng, layout, {}, facts)
    pmi2 = rng.random() < 0.5
    for task in tasks:
        task.starts = (f"slurmstepd: [{layout.job}.{layout.step}]",)
        if pmi2:
            task.env.update({"PMI_FD": "9", "PMI_JOBID": f"{layout.job}.{layout.step}", "PMI_RANK": str(task.rank),
                             "PMI_SIZE": str(layout.size)})
    return tasks


def mpiexec(rng):
    """MPICH's or Intel MPI's over ssh or on one node, alone or inside of a task of a step."""
    layout = draw_layout(rng)
    tasks = hydra(rng, layout)
    if rng.random() < 0.8:
        outer = draw_layout(rng, ("block", "cyclic"))
        if rng.random() < 0.5:  # -np $SLURM_NTASKS, on the step's own nodes or on one of them
            same = block(list(map(len, outer.ranks))) if rng.random() < 0.5 else [list(range(outer.size))]
            layout = Layout(outer.hosts[:len(same)], same, "block", outer.hosts)
            tasks = hydra(rng, layout)
        start = rng.choice(step(rng, outer))
        for task in tasks:
            task.env = {**start.env, **task.env}
            task.starts += start.starts
    return tasks, layout


def mpiexec_by_srun(rng):
    """Its proxies are a step of srun's, inside of a task of another step; MPICH 4.3 hands on what that task had."""
    layout = draw_layout(rng)
    proxies = Layout(layout.hosts, block([1] * len(layout.hosts)), "block", layout.hosts, job=layout.job)
    started, around = step(rng, proxies), {}
    if rng.random() < 0.8:
        outer = draw_layout(rng, ("block", "cyclic"))
        outer.job, proxies.step = layout.job, outer.step + 1
        around, started = rng.choice(step(rng, outer)).env, step(rng, proxies)
    tasks = hydra(rng, layout)
    newer = rng.random() < 0.5
    port = rng.randint(30000, 50000)
    proxy = f"hydra_pmi_proxy --control-port {layout.hosts[0]}:{port} --rmk slurm --launcher slurm --proxy-id -1"
    for task in tasks:
        inner = started[task.node]
        task.env = {**inner.env, **around, **task.env} if newer else {**around, **inner.env, **task.env}
        task.starts = (proxy, *inner.starts)
    return tasks, layout


def by_hand(rng):
    """A step of srun's for which somebody exported Hydra's names, for another library."""
    layout = draw_layout(rng)
    tasks = step(rng, layout)
    own_pmi, both = rng.random() < 0.5, rng.random() < 0.3
    for task in tasks:
        task.env["MPI_LOCALRANKID"] = str(task.local)
        if own_pmi and "PMI_FD" not in task.env:
            task.env.update({"PMI_RANK": str(task.rank), "PMI_SIZE": str(layout.size)})
        if both and own_pmi:
            task.env["MPI_LOCALNRANKS"] = str(len(layout.ranks[task.node]))
    return tasks, layout


KINDS = (openmpi4, openmpi5, openmpi5, mpiexec, mpiexec, mpiexec_by_srun, by_hand)


def launches(rng, most):
    drawn = 0
    while drawn < most:
        kind = rng.choice(KINDS)
        tasks, layout = kind(rng)
        common = login_shell(rng)
        if rng.random() < 0.6:
            common["MASTER_ADDR"] = MASTER
        for task in tasks:
            task.env = {**common, **task.env}
        drawn += len(tasks)
        yield kind.__name__, layout, tasks


def is_right(task, layout, answer):
    identity = answer["identity"]
    want = {"rank": task.rank, "local_rank": task.local, "world_size": layout.size,
            "local_world_size": len(layout.ranks[task.node])}
    return identity["nnodes"] in (None, len(layout.hosts)) and {name: identity[name] for name in want} == want


def meeting(task, answer):
    """Where a task goes: all of a launch to one port, as tasks of one launcher."""
    after = apply(task.env, answer)
    return answer["launcher"], after["MASTER_ADDR"], after["MASTER_PORT"]


def verdict_of(layout, tasks, answers):
    """A launch of which one task refuses does not start: its launcher ends the others.

    "alike": each node of an uneven launch has a number of tasks that divides the size. So each task takes its launch
    for an even one, and may be wrong about the node's number, which nothing that it sees tells.
    """
    if any(answer["status"] != "resolved" for answer in answers):
        return "refused"
    if not all(is_right(task, layout, answer) for task, answer in zip(tasks, answers)) or \
            len(set(map(meeting, tasks, answers))) > 1:
        return "wrong"
    places = {(task.node, answer["identity"]["node_rank"]) for task, answer in zip(tasks, answers)}
    if sorted(place for _, place in places) == list(range(len(layout.hosts))) and (layout.where[0], 0) in places:
        return "right"
    counts = set(map(len, layout.ranks))
    return "alike" if len(counts) > 1 and not any(layout.size % n for n in counts) else "wrong"


@pytest.mark.parametrize("tree", ("with", "without"))
def test_mpi(core, capsys, tree):
    rng = generator("mpi", tree)
    verdicts, wrong = collections.Counter(), []
    drawn = launches(rng, TASKS)
    while some := list(itertools.islice(drawn, 200)):
        answers = iter(core.ask(
            request(task.env, ["python", "train.py"], "worker", task.pid, "",
                    ["@ancestor=" + line for line in task.starts] if tree == "with" else ())
            for _, _, tasks in some for task in tasks))
        for kind, layout, tasks in some:
            theirs = list(itertools.islice(answers, len(tasks)))
            verdict = verdict_of(layout, tasks, theirs)
            verdicts[verdict] += len(tasks)
            if verdict == "wrong":
                wrong.append((kind, layout, tasks, theirs))
    with capsys.disabled():
        print(f"\n{verdicts.total()} tasks {tree} the process tree: {verdicts['right']} right, "
              f"{verdicts['refused']} refused, {verdicts['wrong']} wrong, "
              f"{verdicts['alike']} of uneven launches that look even from each node")
    assert not wrong, f"{len(wrong)} launches, the first: {wrong[0]}"
    assert verdicts["alike"] < 0.003 * TASKS and verdicts["right"] > TASKS / 3
