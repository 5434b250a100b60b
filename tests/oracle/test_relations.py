# SPDX-License-Identifier: BSD-3-Clause
"""What holds between several launches: ports of neighbours, a second look; and what is no task."""

import itertools

import pytest

import oracle
from conftest import generator
from layouts import Layout, Launch, slurm_launch, slurm_tasks
from mpi import openmpi_launch
from stream import apply, ids, request

PYTHON = ["python", "train.py"]


def step(job, number):
    """Of two nodes, with a task each."""
    layout = Layout(["n1", "n2"], [[0], [1]], "block", ["n1", "n2"], job=job, step=number)
    facts = {"distribution": True, "preserve": False, "per_node": "absent", "pmix": False, "task_hosts": False, "caller": "exec"}
    launch = Launch("slurm", layout, [], argv=PYTHON, facts=facts)
    launch.tasks = slurm_tasks(generator("relations"), layout, {}, facts)
    return launch


def send(launch, task, env=None, flags=""):
    return request(task.env if env is None else env, launch.argv, launch.options, task.pid,
                   flags + ("c" if task.certain else ""))


# Ports


@pytest.mark.parametrize("job", [1, 42, 67108875, 2147483646])
def test_no_two_steps_share_a_port(core, job):
    """All pairs of 200 steps of one job, and the two ports after each one's that Megatron takes."""
    launches = [step(job, number) for number in range(200)]
    answers = core.ask(send(launch, launch.tasks[0]) for launch in launches)
    chosen = [a["master"]["port"] for a in answers]
    assert all(1024 <= port <= 9000 - 3 for port in chosen)  # the lowest usual range of outgoing ports begins there
    for (i, a), (j, b) in itertools.combinations(enumerate(chosen), 2):
        assert abs(a - b) > 2, f"steps {i} and {j} of job {job}: ports {a} and {b}"


# A second look


@pytest.mark.parametrize("kind", ["slurm", "openmpi"])
@pytest.mark.parametrize("number", range(60))
def test_nothing_is_left_to_do(core, kind, number):
    """The plan applied, a second rollcall of the same scope does nothing, and `show` says what the first one did."""
    rng = generator("twice", number)
    launch = slurm_launch(rng) if kind == "slurm" else openmpi_launch(rng)
    first = core.ask(send(launch, task) for task in launch.tasks)
    after = [apply(task.env, answer) for task, answer in zip(launch.tasks, first)]
    second = core.ask(send(launch, task, env) for task, env in zip(launch.tasks, after))
    shown = core.ask(send(launch, task, env, "i") for task, env in zip(launch.tasks, after))
    for task, env, one, two, show in zip(launch.tasks, after, first, second, shown):
        assert apply(env, two) == env, f"the second look changes something: {two['plan']}"
        assert two["status"] == one["status"] and two["mode"] == one["mode"]
        if one["mode"] in ("worker", "launcher"):
            assert two["stamped"] and not two["plan"]
            assert show["mode"] == one["mode"] and show["identity"] == one["identity"]
            assert apply(env, show) == env, f"{[e for e in show['plan'] if e[3]]} in {launch}"
            for key in ("addr", "port", "hold"):
                assert show["master"][key] == one["master"][key]


# No task


BATCH = {"SLURM_PROCID": "0", "SLURM_LOCALID": "0", "SLURM_NODEID": "0", "SLURM_GTIDS": "0", "SLURM_NTASKS": "4",
         "SLURM_NPROCS": "4", "SLURM_NNODES": "2", "SLURM_TASKS_PER_NODE": "2(x2)", "SLURM_JOB_ID": "42",
         "SLURM_JOB_NODELIST": "n[1-2]", "SLURM_NODELIST": "n[1-2]", "SLURM_JOB_NUM_NODES": "2", "SLURM_TASK_PID": "9",
         "SLURM_JOB_NAME": "train", "SLURMD_NODENAME": "n1", "CUDA_VISIBLE_DEVICES": "0,1"}
INTERACTIVE = {**BATCH, "SLURM_STEP_ID": "4294967290", "SLURM_STEP_NUM_TASKS": "1", "SLURM_STEP_NUM_NODES": "1",
               "SLURM_STEP_NODELIST": "n1", "SLURM_STEP_TASKS_PER_NODE": "1"}


@pytest.mark.parametrize("name, env", [
    ("nothing", {}), ("login shell", {"PATH": "/bin", "LOCAL_RANK": "7"}), ("batch", BATCH), ("interactive", INTERACTIVE),
    ("extern", {**INTERACTIVE, "SLURM_STEP_ID": "4294967292"}), ("batch step", {**INTERACTIVE, "SLURM_STEP_ID": "4294967291"}),
    ("salloc on the login node", {k: v for k, v in BATCH.items() if k not in ("SLURM_PROCID", "SLURM_LOCALID",
                                  "SLURM_NODEID", "SLURM_GTIDS", "SLURM_TASK_PID", "SLURMD_NODENAME")}),
])
@pytest.mark.parametrize("options", [None, "worker", "launcher"])
def test_no_task(core, name, env, options):
    answer, = core.ask([request(env, PYTHON, options, 9)])
    assert answer["status"] == "resolved" and answer["mode"] == "none" and not answer["plan"], name
    assert ("RC107" in ids(answer)) == ("SLURM_JOB_ID" in env)
    wish = "RC128" if "LOCAL_RANK" in env else "RC307"
    assert set(ids(answer)) & {"RC128", "RC307"} == ({wish} if options else set())
