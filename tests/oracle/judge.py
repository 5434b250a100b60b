# SPDX-License-Identifier: BSD-3-Clause
"""Compares what the core answered for all tasks of a launch with what the oracle expects."""

import re

import oracle
from stream import apply, ids

STAMP = oracle.STAMP
STAMPED = ("RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "NODE_RANK")  # what a worker's stamp repeats
STEP_AND_RANK = re.compile(r"[a-z]+:[^ /]+/[0-9]+/")  # what a stamp begins with
OUTER_STEPS = re.compile(r"( [a-z]+:[^ /]+)*")        # and what may follow its own step's values
OURS = ("RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "NODE_RANK", "GROUP_RANK", "GROUP_WORLD_SIZE")


def family(name):
    return name in OURS or name.startswith(("MASTER_", "PET_", "TORCHELASTIC_", "ROLLCALL", "SLURM_", "OMPI_", "PMIX_"))


def one_plan(answer):
    """What holds for every single answer, whatever was asked."""
    names = [name for _, name, *_ in answer["plan"]]
    assert len(names) == len(set(names)), "a name comes twice in the plan"
    for action, name, value, _, reason in answer["plan"]:
        assert action == "unset" or value, f"{name} gets an empty value"
        assert (action == "unset") == (value is None)
        assert reason, f"{name} has no reason"
    for ident, level, text in answer["messages"]:
        assert text and text.isascii() and "\n" not in text and len(text) < 512, ident
    errors = [m for m in answer["messages"] if m[1] == "error"]
    if answer["status"] == "resolved":
        assert not errors, errors
    else:
        assert errors, "a contradiction without a word"
        assert not answer["plan"], "a contradiction, and still something is set"
        assert set(answer["identity"].values()) == {None}, "a contradiction, and still an identity"


def whole_launch(launch, answers):
    """The invariants of design section 3, over all tasks, from the answers alone."""
    after = [apply(task.env, answer) for task, answer in zip(launch.tasks, answers)]
    modes = {a["mode"] for a in answers}
    assert len(modes) == 1, f"modes differ: {modes}"
    assert len({a["status"] for a in answers}) == 1, "some tasks contradict, some do not"
    mode = modes.pop()
    if answers[0]["status"] != "resolved" or mode not in ("worker", "launcher"):
        return after
    size = len(launch.tasks)
    ranks = [a["identity"]["rank"] for a in answers]
    assert {e["MASTER_ADDR"] for e in after} and len({(e["MASTER_ADDR"], e["MASTER_PORT"]) for e in after}) == 1
    if mode == "worker":
        assert sorted(ranks) == list(range(size)), f"RANKs {sorted(ranks)}"
        assert {e["WORLD_SIZE"] for e in after} == {str(size)}
        assert [e["RANK"] for e in after] == list(map(str, ranks))
    nodes = {}
    for task, e in zip(launch.tasks, after):
        nodes.setdefault(task.node, []).append(e)
    if mode == "worker":
        for there in nodes.values():
            # a task that sees its own GPU alone calls it 0
            first = launch.tasks[after.index(there[0])]
            if {e["LOCAL_RANK"] for e in there} != {"0"} or oracle.own_alone(launch, first) is None:
                assert sorted(int(e["LOCAL_RANK"]) for e in there) == list(range(len(there)))
            assert {e["LOCAL_WORLD_SIZE"] for e in there} == {str(len(there))}
            assert all(name in e for e in there for name in oracle.worker_names(launch)), "half a family"
        lowest = sorted(nodes.values(), key=lambda there: min(int(e["RANK"]) for e in there))
        for place, there in enumerate(lowest):
            assert {e["NODE_RANK"] for e in there} == {str(place)}
    else:
        assert sorted(int(e["NODE_RANK"]) for e in after) == list(range(len(nodes)))
        assert len({e.get("PET_RDZV_ID") for e in after}) == 1
    holders = [i for i, a in enumerate(answers) if a["master"]["hold"]]
    assert len(holders) == 1, f"{len(holders)} tasks hold the port"
    assert after[holders[0]]["NODE_RANK"] == "0"
    return after


def task_by_task(launch, answers, after, expected):
    """The oracle's own expectation, value by value."""
    assert {a["status"] for a in answers} == {expected.status}, [a["messages"] for a in answers[:2]]
    for answer, want in zip(answers, expected.tasks or [oracle.Seen()] * len(answers)):
        missing = (expected.messages | want.messages) - ids(answer)
        assert not missing, f"{missing} not said: {answer['messages']}"
    if expected.status == "contradiction":
        for task, then in zip(launch.tasks, after):
            assert then == task.env
        return
    assert {a["mode"] for a in answers} == {expected.mode}, answers[0]["reason"]
    warnings = {m[0] for a in answers for m in a["messages"] if m[1] == "warning"}
    wanted = expected.messages.union(*(want.messages for want in expected.tasks))
    assert warnings == wanted, f"said {warnings}, expected {wanted}"
    stamped = "by-node" if expected.mode == "worker" and oracle.asked(launch)[1] == "node" else expected.mode
    for task, answer, then, want in zip(launch.tasks, answers, after, expected.tasks):
        if expected.mode == "none":
            assert then == task.env, "mode none changes something"
            continue
        who = f"rank {task.rank} on {launch.layout.hosts[task.node]}"
        for name, value in want.values.items():
            assert then.get(name) == value, f"{who}: {name}={then.get(name)}, expected {value}"
        for name in want.absent:
            assert name not in then, f"{who}: {name}={then[name]} is still there"
        for name in then.keys() - {"PET_SIGNALS_TO_HANDLE"}:  # how torchrun takes a signal is not whom it starts
            assert not name.startswith(want.absent_prefixes or "\0"), f"{who}: {name} is still there"
        assert then["MASTER_ADDR"] in want.master, f"{who}: MASTER_ADDR={then['MASTER_ADDR']}, not {want.master}"
        port = int(then["MASTER_PORT"])
        host = f"[{then['MASTER_ADDR']}]" if ":" in then["MASTER_ADDR"] else then["MASTER_ADDR"]
        coordinator = f"{host}:{port + 1}" if port < 65535 else None
        assert then.get("JAX_COORDINATOR_ADDRESS") == coordinator, f"{who}: {then.get('JAX_COORDINATOR_ADDRESS')}"
        words = launch.argv or [""]
        has_agents = "PET_NNODES" in want.values
        if has_agents and words[0] == "accelerate" and not any(w.startswith("--") for w in words):
            assert then.get("PET_RDZV_ENDPOINT") == f"{host}:{port}", f"{who}: {then.get('PET_RDZV_ENDPOINT')}"
        else:
            assert "PET_RDZV_ENDPOINT" not in then, f"{who}: an endpoint for {launch.argv}"
        if has_agents:
            assert then["PET_MASTER_ADDR"] == then["MASTER_ADDR"] and then["PET_MASTER_PORT"] == then["MASTER_PORT"]
        if want.port_free:
            assert 1024 <= port <= 9000 - 3  # Megatron takes the next two as well
        assert answer["master"]["hold"] == want.hold, f"{who}: hold"
        if expected.mode == "worker":
            assert answer["identity"] == want.identity, f"{who}: {answer['identity']}, expected {want.identity}"
        told = "" if answer["mode"] == "launcher" else " =" + "/".join(then[name] for name in STAMPED)
        own = f"{stamped}/{then['MASTER_PORT']}{told}"
        named = STEP_AND_RANK.match(then[STAMP])
        assert named and then[STAMP].startswith(own, named.end()), f"{who}: stamp {then[STAMP]}"
        assert OUTER_STEPS.fullmatch(then[STAMP], named.end() + len(own)), f"{who}: stamp {then[STAMP]}"
        changed = {name for name in then.keys() | task.env.keys() if then.get(name) != task.env.get(name)}
        known = {"JAX_COORDINATOR_ADDRESS", "PET_RDZV_ENDPOINT"} | set(want.values) | want.absent | set(oracle.WORKER if expected.mode == "worker" else oracle.LAUNCHER)
        if has_agents:
            known |= set(oracle.LAUNCHER)
        for name in changed - known - {STAMP}:
            if name in want.repaired:
                assert then[name] == want.repaired[name], f"{who}: {name} repaired to {then.get(name)}"
            else:
                assert name not in then and name.startswith(("PET_", "TORCHELASTIC_", "GROUP_WORLD_SIZE")), \
                    f"{who}: {name} changed from {task.env.get(name)} to {then.get(name)}"


def judge(launch, answers):
    try:
        for answer in answers:
            one_plan(answer)
        after = whole_launch(launch, answers)
        task_by_task(launch, answers, after, oracle.expect(launch))
    except (AssertionError, KeyError) as error:
        raise AssertionError(f"{error!r}\n  in {launch}") from error
