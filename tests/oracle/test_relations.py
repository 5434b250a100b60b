# SPDX-License-Identifier: BSD-3-Clause
"""What holds between several launches: ports of neighbours, a second look, one launch inside another."""

import itertools

import pytest

import judge
import oracle
from conftest import generator
from layouts import Layout, Launch, block, cyclic, slurm_launch, slurm_tasks
from mpi import openmpi_launch
from stream import apply, ids, request

PLAIN = {"distribution": True, "preserve": False, "per_node": "absent", "pmix": False, "task_hosts": False, "caller": "exec"}
PYTHON = ["python", "train.py"]


def step(ranks, job=42, number=0, gpus=None, names=None, **facts):
    hosts = names or [f"n{i}" for i in range(1, 1 + len(ranks))]
    layout = Layout(hosts, ranks, "block", hosts, job=job, step=number, gpus=gpus)
    facts = {**PLAIN, **facts}
    launch = Launch("slurm", layout, [], argv=PYTHON, facts=facts)
    launch.tasks = slurm_tasks(generator("relations"), layout, {}, facts)
    return launch


def send(launch, task, env=None, flags="", pid=None):
    return request(task.env if env is None else env, launch.argv, launch.options, task.pid if pid is None else pid,
                   launch.ports, flags + ("c" if task.certain else ""))


# Ports


@pytest.mark.parametrize("ports", [(32768, 60999), (0, 0), (1024, 30000), (15000, 60000), (49152, 65535), (10000, 65535),
                                   (20000, 29999), (9000, 61439), (2048, 65000)])
@pytest.mark.parametrize("job", [1, 42, 67108875, 2147483646])
def test_no_two_steps_share_a_port(core, ports, job):
    """All pairs of 200 steps of one job, and the two ports after each one's that Megatron takes."""
    launches = [step([[0], [1]], job, number) for number in range(200)]
    for launch in launches:
        launch.ports = ports
    answers = core.ask(send(launch, launch.tasks[0]) for launch in launches)
    chosen = [a["master"]["port"] for a in answers]
    assert all(port not in oracle.window(ports) and 1024 <= port <= 65533 for port in chosen)
    for (i, a), (j, b) in itertools.combinations(enumerate(chosen), 2):
        assert abs(a - b) > 2, f"steps {i} and {j} of job {job}: ports {a} and {b} with {ports}"


def test_range_that_leaves_no_port(core):
    launch = step([[0], [1]])
    launch.ports = (1024, 65535)
    for answer in core.ask(send(launch, task) for task in launch.tasks):
        assert "RC406" in ids(answer) and answer["status"] == "resolved"


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


# One launch inside another


def inside(outer_env, inner_task):
    """srun or mpirun hand their own environment on and write the inner launch's variables over it."""
    return {**outer_env, **inner_task.env}


@pytest.mark.parametrize("number", range(120))
def test_inner_step_wins(core, number):
    """A task of an outer launch, with all that rollcall exported there, starts another one: the inner identity."""
    rng = generator("nested", number)
    outer = slurm_launch(rng) if rng.random() < 0.6 else openmpi_launch(rng)
    task = rng.choice(outer.tasks)
    answer, = core.ask([send(outer, task)])
    env = apply(task.env, answer)
    if outer.kind == "openmpi" or rng.random() < 0.7:
        ranks = rng.choice((block, cyclic))([rng.randint(1, 3)] * rng.randint(1, 4))
        inner = step(ranks, outer.layout.job, outer.layout.step + 1, gpus=rng.choice((None, 1, 4)),
                     pmix="PMIX_RANK" in env, caller="plugin" if rng.random() < 0.5 else "exec",
                     per_node="given", names=[f"inner{i}" for i in range(len(ranks))])
        if "OMPI_COMM_WORLD_RANK" in env:  # nothing but Slurm's own word can tell which is inside
            for t in inner.tasks:
                t.certain = True
    else:  # mpirun in a step's task, as under srun --pty
        inner = openmpi_launch(rng, around="nothing")
        # no master of its own; nor one that it has in this job alone, whose hosts are as many as mpirun's
        while "MASTER_ADDR" in inner.user or "MASTER_PORT" in inner.user or (
                not inner.told and len(inner.layout.hosts) == len(outer.layout.job_hosts)):
            inner = openmpi_launch(rng, around="nothing")
    inner.options = None
    inner.argv = PYTHON
    alone = core.ask(send(inner, t) for t in inner.tasks)
    # outer choices that the inner launch's user makes as well
    kept = {k: v for k, v in env.items() if "_HET_" not in k and k not in ("ROLLCALL", "PET_NPROC_PER_NODE", "CUDA_VISIBLE_DEVICES",
            "SLURM_GPUS_ON_NODE", "SLURM_STEP_GPUS", "SLURM_JOB_GPUS", "ROCR_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL",
            "SLURM_DISTRIBUTION", "SLURM_DIST_PLANESIZE")}
    if answer["mode"] not in ("worker", "launcher"):  # the user's own master stays, without a stamp
        kept.pop("MASTER_ADDR", None), kept.pop("MASTER_PORT", None)
    nested = core.ask(send(inner, t, inside(kept, t)) for t in inner.tasks)
    for t, one, two in zip(inner.tasks, alone, nested):
        assert two["status"] == one["status"], (two["messages"], str(outer), str(inner))
        assert two["mode"] == one["mode"] and two["identity"] == one["identity"], (str(outer), str(inner))
        if one["mode"] in ("worker", "launcher"):
            # where mpirun's nodes are as many as the job's, they are the job's
            for key in ("addr", "port", "hold") if inner.kind == "slurm" else ("port", "hold"):
                assert two["master"][key] == one["master"][key], (key, two["messages"], str(outer), str(inner))
    if nested[0]["status"] == "resolved" and nested[0]["mode"] == "worker":
        then = [apply(inside(kept, t), a) for t, a in zip(inner.tasks, nested)]
        assert sorted(int(e["RANK"]) for e in then) == list(range(len(then)))
        assert {e["WORLD_SIZE"] for e in then} == {str(len(then))}


def test_ranks_below_a_decorated_daemon(core):
    """The daemons' step of mpirun was given ranks by some older plugin: mpirun's own ranks are right all the same."""
    launch = openmpi_launch(generator("decorated"), counts=[2, 2], idle=0, around="sbatch")
    launch.options, launch.argv = None, PYTHON
    for task in launch.tasks:
        task.env.update({"RANK": str(task.node), "LOCAL_RANK": "0", "WORLD_SIZE": "2", "LOCAL_WORLD_SIZE": "1",
                         "NODE_RANK": str(task.node), "MASTER_ADDR": "n9", "MASTER_PORT": "20480",
                         "ROLLCALL_SCOPE": f"slurm:7.0/{task.node}/worker/29500"})
    answers = core.ask(send(launch, task) for task in launch.tasks)
    after = judge.whole_launch(launch, answers)
    assert [e["RANK"] for e in after] == [str(t.rank) for t in launch.tasks]
    assert {e["MASTER_ADDR"] for e in after} != {"n9"}


@pytest.mark.parametrize("gpus", [2, 4])
def test_torchrun_children(core, gpus):
    """torchrun in a launcher-mode step starts its workers: they are its own, nothing is touched."""
    outer = step(block([1, 1]), gpus=gpus)
    outer.argv = ["torchrun", "train.py"]
    agents = core.ask(send(outer, task) for task in outer.tasks)
    for task, agent in zip(outer.tasks, agents):
        assert agent["mode"] == "launcher"
        env = apply(task.env, agent)
        for local in range(gpus):
            rank = task.node * gpus + local
            child = {**env, "RANK": str(rank), "LOCAL_RANK": str(local), "WORLD_SIZE": str(2 * gpus),
                     "LOCAL_WORLD_SIZE": str(gpus), "GROUP_RANK": str(task.node), "GROUP_WORLD_SIZE": "2",
                     "ROLE_RANK": str(rank), "ROLE_WORLD_SIZE": str(2 * gpus), "ROLE_NAME": "default",
                     "TORCHELASTIC_RUN_ID": env["PET_RDZV_ID"], "TORCHELASTIC_RESTART_COUNT": "0",
                     "TORCHELASTIC_MAX_RESTARTS": "0", "TORCHELASTIC_USE_AGENT_STORE": "True"}
            answer, = core.ask([request(child, PYTHON, None, task.pid + 1, outer.ports)])
            assert answer["mode"] == "torchrun" and apply(child, answer) == child
            assert answer["identity"] == {"rank": rank, "local_rank": local, "node_rank": task.node,
                                          "world_size": 2 * gpus, "local_world_size": gpus, "nnodes": 2}


def test_left_over_torchrun_in_a_new_step(core):
    """srun out of a torchrun worker: the plugin knows that the step is inside."""
    launch = step(block([2, 2]), caller="plugin")
    for task in launch.tasks:
        task.env.update({"RANK": "3", "LOCAL_RANK": "1", "WORLD_SIZE": "8", "TORCHELASTIC_RUN_ID": "41.0",
                         "TORCHELASTIC_USE_AGENT_STORE": "True"})
    after = judge.whole_launch(launch, core.ask(send(launch, task) for task in launch.tasks))
    assert [e["RANK"] for e in after] == ["0", "1", "2", "3"]
    assert not any(name.startswith("TORCHELASTIC") for e in after for name in e)


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
    answer, = core.ask([request(env, PYTHON, options, 9, (32768, 60999))])
    assert answer["status"] == "resolved" and answer["mode"] == "none" and not answer["plan"], name
    assert ("RC107" in ids(answer)) == ("SLURM_JOB_ID" in env)
    assert ("RC307" in ids(answer)) == (options is not None)


@pytest.mark.parametrize("options", [None, "worker", "launcher"])
def test_half_an_identity(core, options):
    """Left alone with a warning; where a mode was asked for, an error."""
    answer, = core.ask([request({"PATH": "/bin", "RANK": "7"}, PYTHON, options, 9, (32768, 60999))])
    assert answer["status"] == ("contradiction" if options else "resolved") and answer["mode"] == "none"
    assert not answer["plan"] and "RC117" in ids(answer) and ("RC119" in ids(answer)) == (options is not None)


def test_batch_script_of_an_sbatch_inside_a_step(core):
    """The dead step's SLURM_STEP_* are exported into the new batch script, with --export=NONE as well."""
    outer = step(block([2, 2]), job=41, pmix=True).tasks[3].env
    env = {**outer, **BATCH}
    for flags in ("", "c"):
        answer, = core.ask([request(env, PYTHON, None, 9, (32768, 60999), flags)])
        assert not answer["plan"], answer
