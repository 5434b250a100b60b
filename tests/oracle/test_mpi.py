# SPDX-License-Identifier: BSD-3-Clause
"""MPI's launchers on layouts that a task's variables need not tell, and inside each other: all tasks are right, or the
launch does not start.

Launches are drawn by mixed.py; with the process tree in sight and without it. A line says how many tasks were right,
refused, wrong. ROLLCALL_LAUNCHES=200000 draws that many launches each time, as `tests/run --all` does. ROLLCALL_SEED
draws others (conftest.py).
"""

import collections
import itertools
import os

import pytest

import families
import mixed
from conftest import generator
from layouts import Layout, block, login_shell
from mixed import KINDS
from mpi import openmpi_tasks
from stream import apply, ids, request

LAUNCHES = int(os.environ.get("ROLLCALL_LAUNCHES") or (200000 if os.environ.get("ROLLCALL_ALL") == "yes" else 4000))
MASTER = "10.200.0.1"  # of the user's: without it most of what is not sure of the node lacks the host of RANK 0, too
RANKS = ("rank", "local_rank", "world_size", "local_world_size")


def launches(rng, count):
    for _ in range(count):
        kind = rng.choice(KINDS)
        drawn = kind(rng)
        common = login_shell(rng)
        if rng.random() < 0.6:
            common["MASTER_ADDR"] = MASTER
        for task in drawn.tasks:
            task.env = {**common, **task.env}
        drawn.how = f"{kind.__name__} {drawn.how}"
        yield drawn


def identity_of(layout, task):
    return {"rank": task.rank, "local_rank": task.local, "world_size": layout.size,
            "local_world_size": len(layout.ranks[task.node])}


def is_right(layout, task, answer):
    identity = answer["identity"]
    want = identity_of(layout, task)
    return identity["nnodes"] in (None, len(layout.hosts)) and {name: identity[name] for name in want} == want


def is_outer(drawn, answer):
    """The whole identity of the launch around this one, and a line that says that it may be that."""
    return drawn.start is not None and is_right(drawn.outer, drawn.start, answer) and "RC126" in ids(answer)


def meeting(task, answer):
    """Where a task goes: all of a launch to one port, as tasks of one launcher."""
    after = apply(task.env, answer)
    return answer["launcher"], after["MASTER_ADDR"], after["MASTER_PORT"]


def verdict_of(drawn, answers):
    """A launch of which one task refuses does not start: its launcher ends the others.

    "open": all tasks got the identity of the launch around this one, and a launch with the opposite nesting has the
    same variables. "alike": each node of an uneven launch has a number of tasks that divides the size. So each task
    takes its launch for an even one, and may be wrong about the node's number, which nothing that it sees tells.
    """
    layout, tasks = drawn.layout, drawn.tasks
    if any(answer["status"] != "resolved" for answer in answers):
        return "refused"
    if any(answer["mode"] != "worker" for answer in answers):
        return "wrong"
    if all(drawn.is_open(task) and is_outer(drawn, answer) for task, answer in zip(tasks, answers)):
        return "open"
    if not all(is_right(layout, task, answer) for task, answer in zip(tasks, answers)) or \
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
    drawn = launches(rng, LAUNCHES)
    while some := list(itertools.islice(drawn, 50)):
        answers = iter(core.ask(
            request(task.env, ["python", "train.py"], "worker", task.pid if tree == "with" else 12, "",
                    ["@ancestor=" + line for line in task.starts] if tree == "with" else ())
            for one in some for task in one.tasks))
        for one in some:
            theirs = list(itertools.islice(answers, len(one.tasks)))
            verdict = verdict_of(one, theirs)
            verdicts[verdict] += 1
            if verdict == "wrong":
                wrong.append((one, theirs))
    with capsys.disabled():
        print(f"\n{verdicts.total()} launches {tree} the process tree: {verdicts['right']} right, "
              f"{verdicts['refused']} refused, {verdicts['wrong']} wrong, {verdicts['open']} that nothing tells from the "
              f"opposite nesting, {verdicts['alike']} uneven ones that look even from each node")
    first = wrong and (wrong[0][0].how, wrong[0][0].layout, wrong[0][1])
    assert not wrong, f"{len(wrong)} launches, the first: {first}"
    assert verdicts["alike"] < 0.003 * LAUNCHES and verdicts["right"] > LAUNCHES / 3


# mpiexec -np 4 in each task of a step, and a step of four tasks in each task of mpiexec -np 4


ON_ONE = Layout(["n1"], [[0, 1, 2, 3]], "block", ["n1"], job=42, step=1)
SIXTEEN = Layout(["n1", "n2"], block([8, 8]), "block", ["n1", "n2"], job=42, step=1)
# rank, size and place of the task; what names the daemons and their sockets is none of these
COMPARED = ("SLURM_", "PMI_RANK", "PMI_SIZE", "MPI_LOCAL", "PALS_")


def nested(outer, inner, pmi, start, mpiexec_is_inside):
    srun, hydra = mixed.step(generator("fixed"), outer if mpiexec_is_inside else inner, pmi), mixed.hydra(
        generator("fixed"), inner if mpiexec_is_inside else outer)
    around, inside = (srun, hydra) if mpiexec_is_inside else (hydra, srun)
    return [{**around[start].env, **task.env} for task in inside]


def ask(core, environments):
    return core.ask(request(env, ["python", "train.py"], "worker", 12) for env in environments)


@pytest.mark.parametrize("pmi", ("pmi2", "cray"))
def test_mpiexec_in_a_step_that_sets_pmi(core, pmi):
    """mpiexec in a step: another size in PMI_SIZE -> the ranks of mpiexec, and no guess."""
    for start in (0, 3, 15):
        answers = ask(core, nested(SIXTEEN, ON_ONE, pmi, start, True))
        assert [a["identity"]["rank"] for a in answers] == [0, 1, 2, 3]
        assert {a["launcher"] for a in answers} == {"mpich"} and not any("RC126" in ids(a) for a in answers)


@pytest.mark.parametrize("pmi", ("pmi2", "cray"))
def test_step_in_a_task_of_mpiexec(core, pmi):
    """A step in a task of mpiexec: MPI_LOCALRANKID cannot belong to PMI_RANK -> the ranks of the step."""
    answers = ask(core, nested(SIXTEEN, ON_ONE, pmi, 5, False))
    assert [a["identity"]["rank"] for a in answers] == [0, 1, 2, 3]
    assert {a["launcher"] for a in answers} == {"slurm"}


@pytest.mark.parametrize("pmi", ("pmi2", "cray"))
@pytest.mark.parametrize("rank", range(4))
def test_one_environment_of_two_launches(core, pmi, rank):
    """The same rank and size in both launches: the environments are equal -> RC127, whichever is inside."""
    two = [nested(ON_ONE, ON_ONE, pmi, rank, inside)[rank] for inside in (True, False)]
    compared = [{name: value for name, value in env.items() if name.startswith(COMPARED)} for env in two]
    assert compared[0] == compared[1]
    for answer in ask(core, two):
        assert answer["status"] == "contradiction" and "RC127" in ids(answer) and not answer["plan"]


@pytest.mark.parametrize("pmi", ("none", "pmi2", "cray", "pmix"))
def test_names_exported_by_hand(core, pmi):
    """MPI_LOCALRANKID and MPI_LOCALNRANKS exported in a step, without Hydra -> the ranks of the step."""
    tasks = mixed.step(generator("fixed"), SIXTEEN, pmi)
    names = ({"MPI_LOCALRANKID": str(task.local), "MPI_LOCALNRANKS": "8"} for task in tasks)
    answers = ask(core, [{**task.env, **two} for task, two in zip(tasks, names)])
    if pmi in ("pmi2", "cray"):
        assert [a["identity"]["rank"] for a in answers] == list(range(16)) and {a["launcher"] for a in answers} == {"slurm"}


def test_mpirun_on_a_login_node(core):
    """4,2,1,1 slots, all taken: rank 4's node looks like the third of even ones -> refused, not placed by order."""
    layout = Layout(["n1", "n2", "n3", "n4"], block([4, 2, 1, 1]), "slot", ["n1", "n2", "n3", "n4"])
    facts = {"around": "nothing", "idle": 0, "per_node": False, "family": "4", "mpirun": "on a login node"}
    tasks = openmpi_tasks(generator("fixed"), layout, {"MASTER_ADDR": MASTER}, facts)
    answers = ask(core, [task.env for task in tasks])
    assert all(a["status"] == "contradiction" or a["identity"]["node_rank"] == t.node for t, a in zip(tasks, answers))
    assert "RC110" in ids(answers[4])


def test_server_of_an_uneven_job(core):
    """Open MPI 5, 2, 4 and 3 tasks, in a job of three other hosts: one node has the mean -> one MASTER_ADDR."""
    layout = Layout(["n1", "n2", "n3"], [[0, 1], [2, 3, 4, 8], [5, 6, 7]], "plane=3", ["n1", "n2", "n3"])
    for number in range(12):
        tasks = families.openmpi5(generator("server", number), layout).tasks
        answers = ask(core, [{**task.env, "SLURM_JOB_ID": "9", "SLURM_JOB_NODELIST": "x[1-3]"} for task in tasks])
        if all(answer["status"] == "resolved" for answer in answers):
            assert {answer["master"]["addr"] for answer in answers} == {"n1"}
