# SPDX-License-Identifier: BSD-3-Clause
"""Random launches of all families, alone and inside each other, over all of their tasks."""

import pytest

import oracle
from conftest import generator
from families import NODE_PLATFORMS, draw_layout
from judge import judge, one_plan
from layouts import Launch, login_shell
from nest import descent, draw, innermost
from stream import apply, ids, request

GROUPS, EACH = 200, 40
RANKS = ("rank", "world_size", "local_rank")  # these no launcher leaves to be derived


def ask(launch, task, env, lines=(), flags="", pid=None):
    return request(env, launch.argv, launch.options, task.pid if pid is None else pid, flags, lines)


def set_up(core, nests):
    """The environments that reach the innermost launches; where `rolled` says so, rollcall was called on the way."""
    for nest in nests:
        nest.env = nest.base
    for k in range(2):
        asked = []
        for nest in nests:
            if k < len(nest.levels) - 1:
                level = nest.levels[k]
                nest.env = {**nest.env, **level.start.env}
                if nest.rolled[k]:
                    asked.append((nest, level))
        answers = core.ask(ask(level.launch, level.start, nest.env, descent(nest, k, level.start)) for nest, level in asked)
        for (nest, level), answer in zip(asked, answers):
            nest.env = apply(nest.env, answer)
            level.stamped = answer["mode"] in ("worker", "launcher")


def question(nest, task):
    """One task of the innermost launch."""
    last = len(nest.levels) - 1
    pid, flags, lines, node = task.pid, "", (), {}
    if nest.evidence == "processes":
        lines = descent(nest, last, task)
    elif nest.evidence == "plugin":
        flags = "c"
    elif nest.evidence == "pid":
        pid = int(task.env["SLURM_TASK_PID"])
        node = {"@host": task.env["SLURMD_NODENAME"]}  # and not what an outer launch's task was told of its own node
    return ask(nest.levels[-1].launch, task, {**nest.env, **task.env, **node}, lines, flags, pid)


def identity_of(launch, task):
    layout = launch.layout
    _, node_rank = oracle.number(layout, "launcher")
    return {"rank": task.rank, "local_rank": task.local, "node_rank": node_rank[task.node], "world_size": layout.size,
            "local_world_size": len(layout.ranks[task.node]), "nnodes": len(layout.hosts) if oracle.counted(launch) else None}


def nodes_are_right(launch, task, answer):
    """No task is told another number of nodes than there are, whoever else refuses; where nobody counts them, none."""
    then, nodes = apply(task.env, answer), len(launch.layout.hosts)
    assert answer["identity"]["nnodes"] in (nodes, None if not oracle.counted(launch) else nodes), answer["identity"]
    assert then.get("GROUP_WORLD_SIZE", str(nodes)) == str(nodes), f"GROUP_WORLD_SIZE={then['GROUP_WORLD_SIZE']} on {nodes} nodes"
    name = "SLURM_NNODES"
    right = {str(nodes), task.env.get(name), task.env.get("SLURM_JOB_NUM_NODES")}
    assert name not in then and not oracle.counted(launch) or then.get(name) in right, f"{name}={then.get(name)}"


def right_or_refused(nest, answers):
    """Ranks and sizes are right wherever something is set, and the number of nodes; their order is as well, or somebody refuses.

    But for what nobody can know where each of the nodes looks like one of an even job from its own tasks (1 and 3 of
    6), and MASTER_ADDR is there, so that RANK 0's host is no question that would be refused: of Hydra only its proxies
    tell the order.
    """
    level = nest.levels[-1]
    launch = level.launch
    wrong = refused = False
    counts = {len(there) for there in launch.layout.ranks}
    alike = len(counts) > 1 and all(launch.layout.size % n == 0 for n in counts)
    unknown = {"nnodes"}  # looked at task by task
    if alike and "MASTER_ADDR" in launch.user and nest.evidence == "names":
        unknown.add("node_rank")
    for task, answer in zip(launch.tasks, answers):
        one_plan(answer)
        if answer["mode"] != "worker":
            refused |= answer["status"] != "resolved"
            continue
        want, got = identity_of(launch, task), answer["identity"]
        for name in RANKS:
            assert got[name] == want[name], (got, want, answer["messages"])
        nodes_are_right(launch, task, answer)
        wrong |= any(got[name] != want[name] for name in want if name not in unknown)
    assert refused or not wrong, "a wrong node, and nobody refuses"
    assert not (refused and launch.facts["sure"]), [answer["messages"] for answer in answers]
    modes = {answer["mode"] for answer in answers}
    assert refused or alike or len(modes) == 1, modes


def whole_of_one(nest, answers):
    """No evidence but names: the innermost launch, or another one as it is there, never a mixture, nor without a word."""
    stamped = any(level.stamped for level in nest.levels[:-1])
    for task, answer in zip(nest.levels[-1].launch.tasks, answers):
        one_plan(answer)
        if answer["mode"] not in ("worker", "torchrun"):
            continue
        told = [(level.launch, level.start) for level in nest.levels[:-1]] + [(nest.levels[-1].launch, task)]
        possible = [identity_of(launch, task) for launch, task in told]
        firm = all(launch.facts["firm"] for launch, _ in told)
        same = [all(got[name] == answer["identity"][name] for name in (got if firm else RANKS)) for got in possible]
        assert any(same), (answer["launcher"], answer["identity"], possible)
        assert same[-1] or stamped or "RC126" in ids(answer), f"an outer launch, and not a word: {answer['messages']}"


def told_by_another(env):
    """Whether MASTER_ADDR is that of a torchrun or Kubeflow further outside, which told it to its own tasks."""
    torchrun = all(env.get(name) for name in ("TORCHELASTIC_RUN_ID", "RANK", "LOCAL_RANK"))
    return torchrun or (env.get("KUBERNETES_SERVICE_HOST") and env.get("PET_NNODES") and "LOCAL_RANK" not in env)


def check(nest, answers):
    launch = nest.levels[-1].launch
    family = nest.levels[-1].family
    stamped = any(level.stamped for level in nest.levels[:-1])
    told = innermost(nest)
    for task in launch.tasks:
        task.env = {**nest.env, **task.env}
    if told is None:
        return whole_of_one(nest, answers)
    launch.user = {} if stamped else {name: nest.env[name] for name in ("MASTER_ADDR", "MASTER_PORT") if name in nest.env}
    if launch.user.get("MASTER_ADDR") and not stamped and told_by_another({**nest.env, **launch.tasks[0].env}):
        launch.facts["left over"], launch.user = launch.user, {}
    if family == "torchrun":
        for task, answer in zip(launch.tasks, answers):
            assert answer["mode"] == "torchrun" and answer["identity"] == identity_of(launch, task), answer
            assert apply(task.env, answer) == task.env
    elif not launch.facts["firm"] or launch.told is None:
        right_or_refused(nest, answers)
    else:
        judge(launch, answers)


def platform_launch(rng, name):
    gpus = rng.choice((None, 0, 1, 2, 4, 8))
    layout = draw_layout(rng, ("one a node",), gpus)
    made = NODE_PLATFORMS[name](rng, layout)
    argv = rng.choice((["python", "train.py"], ["torchrun", "train.py"], ["accelerate", "launch", "train.py"]))
    launch = Launch("platform", layout, made.tasks, argv=argv, told=made.told)
    launch.facts = {"run_id": made.run_id}
    launch.user = {"MASTER_PORT": made.port} if made.port else {}
    for task in launch.tasks:
        task.env = {**login_shell(rng), **task.env}
    return launch


@pytest.mark.parametrize("name", NODE_PLATFORMS)
def test_platforms(core, name):
    """One command on each node: launcher mode with several GPUs or for torchrun and its like, else a worker each."""
    launches = [platform_launch(generator("platforms", f"{name} {i}"), name) for i in range(300)]
    answers = iter(core.ask([ask(launch, task, task.env) for launch in launches for task in launch.tasks]))
    for launch in launches:
        judge(launch, [next(answers) for _ in launch.tasks])


@pytest.mark.parametrize("group", range(GROUPS))
def test_nests(core, group):
    rng = generator("nests", group)
    nests = [draw(rng) for _ in range(EACH)]
    set_up(core, nests)
    asked = [question(nest, task) for nest in nests for task in nest.levels[-1].launch.tasks]
    answers = iter(core.ask(asked))
    wrong = []
    for nest in nests:
        try:
            check(nest, [next(answers) for _ in nest.levels[-1].launch.tasks])
        except AssertionError as error:
            wrong.append(f"{nest}\n{error}")
    assert not wrong, f"{len(wrong)} of {EACH}, the first: {wrong[0]}"
