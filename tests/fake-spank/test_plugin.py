# SPDX-License-Identifier: BSD-3-Clause
"""What the plugin does when everything is as it should be: options, layouts, modes, the port."""

import json
import os
import random
import socket

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fake import EVEN, SPECIAL_STEPS, Step

SCOPE = "ROLLCALL_SCOPE"


def untouched(played, step, env=()):
    """Every task's environment is what Slurm made it, to the byte and in order, and nothing was said."""
    assert played.lines() == []
    for task in played.all_tasks:
        assert task.exit == 0
        before = [f"{n}={v}" for n, v in {**step.env(), **dict(env)}.items() if v is not None]
        own = ("SLURM_PROCID=", "SLURM_LOCALID=", "SLURM_NODEID=", "SLURM_TASK_PID=", "SLURM_GTIDS=",
               "SLURMD_NODENAME=")
        after = [e for e in task.entries if not e.startswith(own)]
        assert after == [e for e in before if not e.startswith(own)]


def is_worker(played, step):
    ports = set()
    for node, there in enumerate(step.ranks):
        for local in range(len(there)):
            task = played.tasks[node, local]
            assert task.exit == 0
            expected = step.worker(node, local)
            assert {name: task.env.get(name) for name in expected} == expected
            told = "/".join(expected[n] for n in ("RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "NODE_RANK"))
            assert task.env[SCOPE] == (f"slurm:{step.job}.{step.step}/{there[local]}/worker/{task.env['MASTER_PORT']}"
                                       f" ={told}")
            ports.add(task.env["MASTER_PORT"])
            # what was there is still there, and what is new is known
            assert not [n for n, v in step.env().items() if n not in task.env]
            # torchrun's arguments, for a script that starts it
            agents = {"PET_NNODES": "GROUP_WORLD_SIZE", "PET_NODE_RANK": "NODE_RANK", "PET_MASTER_ADDR": "MASTER_ADDR",
                      "PET_MASTER_PORT": "MASTER_PORT"}
            one_a_node = step.size == len(step.hosts) > 1
            assert all(task.env.get(n) == (task.env[same] if one_a_node else None) for n, same in agents.items())
    assert len(ports) == 1
    assert 1024 <= int(ports.pop()) <= 65535


@st.composite
def steps(draw):
    nodes = draw(st.integers(1, 6))
    counts = draw(st.lists(st.integers(1, 5), min_size=nodes, max_size=nodes).filter(lambda c: sum(c) > 1))
    size = sum(counts)
    kind = draw(st.sampled_from(["block", "cyclic", "plane", "arbitrary"]))
    ranks = [[] for _ in counts]
    if kind == "block":
        where = [node for node, count in enumerate(counts) for _ in range(count)]
    elif kind == "arbitrary":
        where = draw(st.permutations([node for node, count in enumerate(counts) for _ in range(count)]))
    else:
        plane = draw(st.integers(2, 4)) if kind == "plane" else 1
        left, where = list(counts), []
        while len(where) < size:
            for node in range(nodes):
                take = min(plane, left[node])
                where += [node] * take
                left[node] -= take
        kind = f"plane={plane}" if kind == "plane" else kind
    for rank, node in enumerate(where):
        ranks[node].append(rank)
    hosts = draw(st.lists(st.from_regex(r"[a-z][a-z0-9-]{0,6}[a-z0-9]", fullmatch=True), min_size=nodes,
                          max_size=nodes, unique=True))
    job, step = draw(st.integers(1, 2**31 - 1)), draw(st.integers(0, 9999))
    return Step(ranks, sorted(hosts), kind, job, step)


@settings(max_examples=200, deadline=None, derandomize=True, database=None,
          suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(step=steps(), pmix=st.booleans())
def test_any_layout(built, step, pmix):
    env = {}
    if step.distribution == "arbitrary":
        where = {rank: node for node, there in enumerate(step.ranks) for rank in there}
        if pmix:
            env["SLURM_PMIX_MAPPING_SERV"] = "(vector," + ",".join(
                f"({where[rank]},1,1)" for rank in range(step.size)) + ")"
            env["PMIX_NAMESPACE"] = f"slurm.pmix.{step.job}.{step.step}"
        else:
            nodes = ",".join(str(where[rank]) for rank in range(step.size))
            env["SLURM_ROLLCALL_TASK_HOSTS"] = f"{step.job}.{step.step} {nodes}"
    is_worker(built.step(step, ["worker"], env=env), step)


@pytest.mark.parametrize("env", [{}, {"ROLLCALL": ""}, {"ROLLCALL_DEBUG": "3"},
                                 {"RANK": "7", "MASTER_ADDR": ""}])
@pytest.mark.parametrize("arguments", [[], ["addr=-ib", "watch", "log=json"], ["auto"], ["default=auto"]])
def test_nobody_asked(host, env, arguments):
    untouched(host.step(EVEN, arguments=arguments, env=env), EVEN, env)


# --ddp, ROLLCALL, and whether the tasks are numbered
@pytest.mark.parametrize("option, variable, expected", [
    (None, "auto", True),
    (None, "off", False),
    ("worker", "auto", True),
    ("worker", "off", False),
    ("", None, True),
    ("NULL", None, True),
    ("(null)", None, True),
    ("auto", None, True),
    ("off", None, False),
    ("off", "auto", False),
    ("off", "nonsense", False),
])
def test_who_is_heard(host, option, variable, expected):
    env = {"ROLLCALL": variable} if variable else {}
    options, words = [] if option is None else [option], ["same=warn"]
    # srun finds no rollcall-exchange here
    said = host.command("local", options, words, env).lines()
    assert ["RC624" in line for line in said] == [True] * expected
    played = host.step(EVEN, options, words, env)
    if expected:
        is_worker(played, EVEN)
    else:
        untouched(played, EVEN, env)


def test_the_last_option_counts(host):
    """Slurm calls back for the environment first (sbatch --ddp), for the inner srun's own option then."""
    untouched(host.step(EVEN, ["worker", "off"]), EVEN)
    is_worker(host.step(EVEN, ["off", "worker"]), EVEN)
    is_worker(host.step(EVEN, ["order=sideways", "worker"]), EVEN)


def test_callbacks_twice(host):
    """slurmstepd up to 23.11 calls each option back twice."""
    is_worker(host.step(EVEN, ["worker"], extra=[("twice", "")]), EVEN)


def test_order_node(host):
    step = Step([[0, 2], [1, 3]], distribution="cyclic")
    played = host.step(step, ["worker,order=node"])
    assert [t.env["RANK"] for t in played.all_tasks] == ["0", "1", "2", "3"]


@pytest.mark.parametrize("context", ["local", "allocator"])
@pytest.mark.parametrize("value", ["wroker", "worker,order=up", "launcher,nproc=0", "worker,nproc=2", ",",
                                   "a" * 1900, "worker\n\x1b[31m"])
def test_wrong_values_are_refused_at_once(host, context, value):
    played = host.command(context, [value])
    assert played.returned("option") == [-1]
    assert played.returned("local_user_init") == []
    line, = played.lines()
    assert line.startswith("rollcall: error RC20")
    assert all(" " <= c <= "~" for c in line) and len(line) < 400
    if value == "wroker":
        assert "with MODE auto, worker, launcher, alone or off, and keys order=" in line
    if value == ",":
        right = ("auto", "worker", "launcher", "off", "order=", "nproc=", "gpus=", "bind=", "nic=")
        assert all(word in line for word in right)


@pytest.mark.parametrize("context", ["local", "allocator"])
def test_a_wrong_variable_beside_the_option_is_refused_at_once(host, context):
    played = host.command(context, ["auto"], env={"ROLLCALL": "foo"})
    assert played.status == 1 and played.returned("init_post_opt") == []
    assert "RC201" in played.lines()[0] and "ROLLCALL" in played.lines()[0]
    assert host.command(context, ["off"], env={"ROLLCALL": "foo"}).returned("init_post_opt") == [0]


@pytest.mark.parametrize("value", ["workr", "2", "worker,gpu=all", "worker,nproc=2"])
def test_a_wrong_variable_without_the_option_is_a_warning(host, value):
    """It ends no srun, and changes no task."""
    for context in ("local", "allocator"):
        played = host.command(context, env={"ROLLCALL": value})
        assert played.returned("init_post_opt") == [0]
        line, = played.lines()
        assert line.startswith("rollcall: warning RC205: ROLLCALL is ignored: ")
    played = host.step(EVEN, env={"ROLLCALL": value})
    untouched(played, EVEN, {"ROLLCALL": value})


@pytest.mark.parametrize("option, variable", [("wroker", None), ("worker", "foo"), ("wroker", "worker")])
def test_wrong_values_on_a_node_fail_the_tasks_alone(host, option, variable):
    played = host.step(EVEN, [option] if option else [], env={"ROLLCALL": variable} if variable else {})
    assert [t.exit for t in played.all_tasks] == [1] * 4
    assert len(played.lines()) == 1 and "error RC20" in played.lines()[0]


# words of the line, --ddp, ROLLCALL and what comes of them
@pytest.mark.parametrize("words, option, variable, refused", [
    (["off"], "", None, True),
    (["addr=-ib", "off", "log=json"], "worker", "auto", True),
    (["off=until", "noon"], "off", "auto", False),
    (["off=until", "noon"], "worker", "off", False),
    (["off", "addr=-ib"], None, None, False),
])
def test_off_refuses_who_asks_and_leaves_all_others_alone(host, words, option, variable, refused):
    options, env = [] if option is None else [option], {"ROLLCALL": variable} if variable else {}
    for context in ("local", "allocator"):
        played = host.command(context, options, words, env)
        assert played.status == (1 if refused else 0) and len(played.lines()) == refused
    played = host.step(EVEN, options, words, env)
    if not refused:
        untouched(played, EVEN, env)
        return
    assert [t.exit for t in played.all_tasks] == [1] * 4
    assert [line[:21] for line in played.lines()] == ["rollcall: error RC206"] * 2  # one a node


@pytest.mark.parametrize("words, shown", [
    (["off="], ""), (["off"], ""), (["off=", "log=json"], ": log=json"),
    (["off=until", "noon;", "ask", "hpc@site"], ": until noon; ask hpc@site"),
    (["off=\x1b[31m", "\t\n", "\x7f"], ": ?[31m ?? ?"), (["off=" + "x" * 511], ": " + "x" * 511),
    (["off=昼まで", "停止\x9b31m\u202e"], ": 昼まで 停止?31m???"), (["off=" + "x" * 510 + "昼"], f": {'x' * 510}..."),
    (["off=" + "x" * 9000, "y"], ": " + "x" * 511 + "..."), (["off=" + "x" * 400, "y" * 111], f": {'x' * 400} {'y' * 110}..."),
])
def test_off_has_the_administrators_text(host, words, shown):
    line, = host.command("local", [""], words).lines()
    line = line.encode("latin-1").decode()  # a character a byte
    assert line.startswith(f"rollcall: error RC206: the administrator has switched rollcall off{shown}; nothing was started")
    line, = host.command("local", [], words, {"ROLLCALL": "auto"}).lines()
    assert line.encode("latin-1").decode().startswith(f"rollcall: warning RC207: the administrator has switched rollcall off{shown}; ROLLCALL is ign")


@pytest.mark.parametrize("word", ["auto", "worker", "launcher", "auto,bind=off", "off,bind=off", "default=auto",
                                  "adr=-ib", "addr", "\x1b[31m", "addr=" + "x" * 5000])
def test_wrong_words_in_plugstack_conf_are_reported_and_ignored(host, word):
    played = host.step(EVEN, arguments=[word])
    assert {e["callback"] for e in played.events if e["event"] == "error"} == {"init_post_opt"}
    assert len(played.lines("error")) == len(EVEN.hosts)  # once in each slurmstepd
    untouched(played, EVEN)
    # srun prints it to those who asked
    for context in ("local", "allocator"):
        assert host.command(context, [], [word]).lines("error") == []
        assert len(host.command(context, [""], [word]).lines("error")) == 1
    is_worker(host.step(EVEN, ["worker"], [word, "same=warn"]), EVEN)


@pytest.mark.parametrize("word", ["adr=-ib,order=node", "order=node,port=80", "worker,order=node,watch=x"])
def test_a_wrong_key_of_a_word_leaves_the_others_in_force(host, word):
    step = Step([[0, 2], [1, 3]], distribution="cyclic")
    played = host.step(step, [""], [word, "same=warn"])
    assert [t.env["RANK"] for t in played.all_tasks] == ["0", "1", "2", "3"]
    assert all("plugstack.conf: " in line for line in played.lines("error")) and played.lines("error")


def test_one_line_a_step_in_slurms_log(host):
    """log=json in plugstack.conf: what was set, by the task of RANK 0; nothing without it, and nothing for other steps."""
    assert host.step(EVEN, ["worker"]).lines("info") == []
    assert host.step(EVEN, [], ["log=json"]).lines("info") == []
    line, = host.step(EVEN, ["worker"], ["log=json", "same=warn"]).lines("info")
    event = json.loads(line.removeprefix("rollcall: "))
    assert event.pop("master_port") > 1023 and event.pop("version")
    assert event == {"event": "step", "job": 42, "step": 0, "node": "n1", "outcome": "set", "mode": "worker",
                     "tasks": 4, "nodes": 2, "master_addr": "n1", "messages": ["RC911"]}
    # a step that is refused; what a user has set is in its line, and not in the log
    line, = host.step(EVEN, ["worker,order=secret"], ["log=json"]).lines("info")
    event = json.loads(line.removeprefix("rollcall: "))
    assert (event["outcome"], event["messages"], event["tasks"]) == ("refused", ["RC202"], None)
    assert "secret" not in line
    played = host.step(Step([[0, 2], [1]]), ["worker"], ["log=json"])
    event = json.loads(played.lines("info")[0].removeprefix("rollcall: "))
    assert (event["outcome"], sorted(event["messages"]), event["tasks"]) == ("set", ["RC301", "RC911"], 3)
    # an error that nodes find by themselves
    played = host.step(EVEN, ["worker"], ["log=json"], extra=[("name", "n2=192.0.2.2")])
    assert [json.loads(line.removeprefix("rollcall: "))["node"] for line in played.lines("info")] == ["n1", "n2"]
    # nothing that ends a string comes from a name
    line, = host.step(EVEN, ["worker"], ["log=json"], {"MASTER_ADDR": 'n1"},{"a":"'}).lines("info")
    assert json.loads(line.removeprefix("rollcall: "))["event"] == "step"


@pytest.mark.parametrize("name", SPECIAL_STEPS)
def test_no_tasks_no_ranks(host, name):
    step = Step([[0]], job=7, step=SPECIAL_STEPS[name])
    env = {"SLURM_STEP_ID": None}
    untouched(host.step(step, ["worker"], ["same=warn"], {"ROLLCALL": "worker", **env}), step,
              {"ROLLCALL": "worker", **env})
    # leaked from the step in which sbatch was called
    env = {"SLURM_STEP_ID": "3"}
    untouched(host.step(step, ["worker"], env=env), step, env)


def owned(env):
    """With the list of what rollcall has set: each name with a digest of its value (FNV-1a, 31 bits)."""
    def digest(value):
        number = 0xcbf29ce484222325
        for byte in value.encode():
            number = (number ^ byte) * 0x100000001b3 % 2**64
        return number % 2**31

    return {**env, "ROLLCALL_OWN": " ".join(f"{name}={digest(value)}" for name, value in env.items()
                                            if "ROLLCALL" not in name)}


TOLD = owned({"RANK": "1", "WORLD_SIZE": "2", "LOCAL_RANK": "0", "LOCAL_WORLD_SIZE": "1", "NODE_RANK": "1", "GROUP_RANK": "1",
        "GROUP_WORLD_SIZE": "2", "MASTER_ADDR": "h0", "MASTER_PORT": "23001", "JAX_COORDINATOR_ADDRESS": "h0:23002",
        "ROLLCALL_IDENTITY": "rank=1 size=2 node=1 nodes=2",
        "SLURM_ROLLCALL_SERVER": f"{'0' * 32} 60001 9.0", "SLURM_ROLLCALL_WISH": "auto", "SLURM_ROLLCALL_NO_MONITOR": "1",
        "GLOO_SOCKET_IFNAME": "ib0", SCOPE: "slurm:9.0/1/worker/23001 =1/2/0/1/1"})
AGENT = owned({"PET_NNODES": "2", "PET_NODE_RANK": "1", "PET_MASTER_ADDR": "h0", "PET_MASTER_PORT": "23001", "PET_RDZV_ID": "9.0",
         "PET_RDZV_ENDPOINT": "h0:23001", "PET_SIGNALS_TO_HANDLE": "SIGTERM,SIGUSR1", "PET_RDZV_CONF": "is_host=1", "NODE_RANK": "1", "MASTER_ADDR": "h0", "MASTER_PORT": "23001",
         "ROLLCALL_SLURM_JOB_NAME": "train", SCOPE: "slurm:9.0/1/launcher/23001"})
BATCH = Step([[0]], job=10, step=SPECIAL_STEPS["batch"])


def script(host, env, options=()):
    """What a batch script gets, of those."""
    played = host.step(BATCH, list(options), env={"SLURM_STEP_ID": "0", **env})
    assert played.lines() == []
    task = played.tasks[0, 0]
    return {name: task.env[name] for name in env if name in task.env}


@pytest.mark.parametrize("options", [(), ("worker",), ("off",)])
@pytest.mark.parametrize("left", [TOLD, AGENT, {**TOLD, SCOPE: "openmpi:7/1/worker/23001 =1/2/0/1/1 slurm:9.0"}])
def test_batch_script_that_a_task_submitted(host, left, options):
    """sbatch hands on what the task was told, of a step that has ended."""
    assert script(host, {**left, "MINE": "yes"}, options) == {"MINE": "yes"}


def test_batch_script_keeps_what_is_its_own(host):
    mine = {name: value for name, value in TOLD.items() if "ROLLCALL_" not in name}
    # nobody's stamp, and one of this very job
    assert script(host, mine) == mine
    for scope in ("slurm:10.0/1/worker/23001 =1/2/0/1/1", "openmpi:7/1/worker/23001 =1/2/0/1/1 slurm:10.0"):
        own = {**TOLD, SCOPE: scope}
        assert script(host, own) == own
    # typed before sbatch: another rank than the task's, another master
    typed = {"RANK": "0", "WORLD_SIZE": "1", "LOCAL_RANK": "0", "MASTER_ADDR": "localhost"}
    kept = script(host, {**TOLD, **typed})
    assert typed.items() <= kept.items() and SCOPE not in kept
    assert script(host, {**TOLD, "MASTER_ADDR": "vip", "MASTER_PORT": "29500"}) == {
        "MASTER_ADDR": "vip", "MASTER_PORT": "29500"}
    agents = {"PET_NPROC_PER_NODE": "4", "PET_RDZV_CONF": "timeout=9", "PET_RDZV_ENDPOINT": "etcd:2379"}
    assert script(host, {**AGENT, **agents}) == agents


def test_slurmd_is_left_alone(host):
    played = host.command("slurmd")
    assert played.lines("registered") == ["no"]


COMPONENTS = {"SLURM_HET_SIZE": "2", "SLURM_JOB_ID_PACK_GROUP_0": "42", "SLURM_JOB_ID_PACK_GROUP_1": "43",
              "SLURM_JOB_NODELIST_PACK_GROUP_0": "n1", "SLURM_JOB_NODELIST_PACK_GROUP_1": "n2"}


def test_het_components(host):
    """Items count within the component, the environment over all of them (2 + 3 tasks on 1 + 1 nodes)."""
    whole = Step([[0, 1], [2, 3, 4]])
    for node, offset in ((0, 0), (1, 2)):
        component = Step([[r - offset for r in whole.ranks[node]]], [whole.hosts[node]], job=42 + node)
        env = {**whole.env(), **COMPONENTS}
        played = host.step(component, ["worker"], env=env,
                           extra=[("rank_offset", offset), ("node_offset", node)])
        for local, rank in enumerate(whole.ranks[node]):
            task = played.tasks[0, local]
            expected = whole.worker(node, local)
            assert {name: task.env.get(name) for name in expected} == expected


def test_het_components_of_unknown_nodes(host):
    """srun A : B in a plain job: its middle component sees nothing but the plugin's items."""
    whole = Step([[0], [1], [2]])
    component = Step([[0]], [whole.hosts[1]])
    played = host.step(component, ["worker"], env=whole.env(), extra=[("rank_offset", 1), ("node_offset", 1)])
    assert played.tasks[0, 0].exit == 1
    line, = played.lines()
    assert "error RC106" in line


def test_het_components_speak_once_and_decide_by_all_gpus(host):
    whole = Step([[0], [1]])
    for node in (0, 1):
        component = Step([[0]], [whole.hosts[node]], job=42 + node)
        env = {**whole.env(), **COMPONENTS, "CUDA_VISIBLE_DEVICES": "0,1"}
        extra = [("rank_offset", node), ("node_offset", node), ("task_env", "CUDA_VISIBLE_DEVICES=0")]
        played = host.step(component, [""], env=env, extra=extra)
        assert played.tasks[0, 0].env["PET_NODE_RANK"] == str(node)
        played = host.step(component, ["wroker"], env=env, extra=extra)
        assert played.tasks[0, 0].exit == 1 and len(played.lines()) == (node == 0)


def test_stale_values_of_an_outer_step(host):
    """srun inside srun: what the outer task had is there until slurmstepd overwrites it."""
    env = {"SLURM_PROCID": "11", "SLURM_LOCALID": "3", "SLURM_NODEID": "2", "SLURM_GTIDS": "8,9,10,11",
           "SLURMD_NODENAME": "n9", "RANK": "11", "WORLD_SIZE": "12", "LOCAL_RANK": "3",
           "MASTER_ADDR": "elsewhere", "MASTER_PORT": "1234",
           SCOPE: "slurm:42.7/11/worker/29500", "SLURM_ROLLCALL_TASK_HOSTS": "", "PET_NNODES": "3"}
    is_worker(host.step(EVEN, ["worker"], env=env), EVEN)


@pytest.mark.parametrize("stale", [{}, {"SLURMD_NODENAME": "n7", "SLURM_GTIDS": "5,6", "SLURM_PROCID": "5"}])
def test_the_node_decides_by_all_its_gpus(host, stale):
    """Bound GPUs: a task sees one, the node has two for one task: torchrun's case."""
    step = Step([[0], [1]])
    played = host.step(step, [""], env={"CUDA_VISIBLE_DEVICES": "0,1", **stale},
                       extra=[("task_env", "CUDA_VISIBLE_DEVICES=0")])
    for task in played.all_tasks:
        assert task.env[SCOPE].endswith("/launcher/" + task.env["MASTER_PORT"])
        assert task.env["PET_NNODES"] == "2" and "RANK" not in task.env
    # with as many tasks as GPUs they are workers
    played = host.step(EVEN, [""], env={"CUDA_VISIBLE_DEVICES": "0,1"}, extra=[("task_env", "CUDA_VISIBLE_DEVICES=0")])
    assert all("/worker/" in t.env[SCOPE] for t in played.all_tasks)


def test_the_command_decides(host):
    step = Step([[0], [1]])
    assert all("/launcher/" in t.env[SCOPE]
               for t in host.step(step, [""], argv=["torchrun", "train.py"]).all_tasks)
    untouched(host.step(step, [""], argv=["/usr/bin/orted", "-mca"]), step)
    is_worker(host.step(step, [""], argv=[]), step)


@pytest.mark.parametrize("option, argv, is_set", [
    ("", ["sh", "-c", "./train; srun --version"], False),
    ("worker", ["sh", "-c", "./train; srun --version"], True),
    ("worker", ["mpirun", "-np", "4", "./train"], False),
    ("", ["jsrun", "./train"], False),
])
def test_a_command_that_starts_tasks(host, option, argv, is_set):
    """It gets no rank, which one line reports; a word in a shell's text counts less than the user's mode."""
    played = host.step(Step([[0], [1]]), [option], argv=argv)
    assert [t.env.get("RANK") for t in played.all_tasks] == (["0", "1"] if is_set else [None, None])
    assert ["RC310" in line for line in played.lines()] == [True] * (not is_set)


# a loop over the nodes, `srun -N1 -w NODE`, in a script that numbers them: MASTER_ADDR is the first node's
LOOP = {"SLURM_JOB_NODELIST": "n[1-2]", "SLURM_GPUS_ON_NODE": "2", "MASTER_ADDR": "n1"}


@pytest.mark.parametrize("node, numbers", [
    (1, {"RANK": "1", "WORLD_SIZE": "2"}),
    (0, {"RANK": "0", "WORLD_SIZE": "2"}),
    (1, {"NODE_RANK": "1", "NNODES": "2"}),
])
def test_one_srun_a_node_numbered_by_the_script_runs_as_without_the_plugin(host, node, numbers):
    step = Step([[0]], [f"n{node + 1}"])
    env = {**LOOP, **numbers, "MASTER_PORT": "29500"}
    for argv in ["python", "train.py"], ["./run.sh"]:
        untouched(host.step(step, [""], env=env, argv=argv), step, env)


@pytest.mark.parametrize("missing", ["RANK", "WORLD_SIZE", "MASTER_PORT", "SLURM_JOB_NODELIST", "another step"])
def test_one_step_of_a_job_is_no_part_of_a_launch_by_what_is_left_over(host, missing):
    env = {**LOOP, "MASTER_PORT": "29500", "RANK": "1", "WORLD_SIZE": "2", "ROLLCALL_SCOPE": None}
    if missing == "another step":
        env["ROLLCALL_SCOPE"] = "slurm:42.9/1/worker/29500 =1/2/0/1/1"
    env = {name: value for name, value in env.items() if name != missing and value}
    task, = host.step(Step([[0]], ["n2"]), [""], env=env, argv=["python", "train.py"]).all_tasks
    assert task.env["MASTER_ADDR"] == "n2" or missing == "SLURM_JOB_NODELIST"
    assert task.env["NODE_RANK"] == "0" and "RANK" not in task.env


@pytest.mark.parametrize("argv", [
    ["torchrun", "--nnodes=2", "--node_rank=1", "--master_addr=n1", "train.py"],
    ["bash", "-c", "torchrun --nnodes=2 --node_rank=1 --master_addr=$MASTER_ADDR train.py"],
    ["accelerate", "launch", "--num_machines=2", "--machine_rank=1", "--main_process_ip=n1", "train.py"],
])
def test_one_torchrun_a_node_that_names_the_others_keeps_their_address(host, argv):
    played = host.step(Step([[0]], ["n2"]), [""], env=LOOP, argv=argv)
    task, = played.all_tasks
    assert task.env["MASTER_ADDR"] == "n1" and task.exit == 0
    assert not [line for line in played.lines() if "RC402" in line]
    # without these words it is alone, and the address is another step's
    played = host.step(Step([[0]], ["n2"]), [""], env=LOOP, argv=["torchrun", "train.py"])
    task, = played.all_tasks
    line, = played.lines()
    assert task.env["MASTER_ADDR"] == "n2" and "warning RC402" in line


def test_launcher_mode_hides_the_job_name_and_keeps_it(host):
    """The plan's value for one name is what the environment has for another, which Slurm frees."""
    step = Step([[0], [1]])
    name = "train" * 200
    for task in host.step(step, ["launcher"], env={"SLURM_JOB_NAME": name, "RANK": "5"},
                          entries=["RANK=6", "RANK=7", "RANK=8"]).all_tasks:
        assert task.env["SLURM_JOB_NAME"] == "bash" and task.env["ROLLCALL_SLURM_JOB_NAME"] == name
        assert not [e for e in task.entries if e.startswith("RANK=")]


def test_contradictions_are_said_once_and_fail_all(host):
    played = host.step(EVEN, ["launcher"])
    line, = played.lines()
    assert "error RC302" in line
    assert [t.exit for t in played.all_tasks] == [1] * 4


def test_arbitrary_without_a_map(host):
    step = Step([[1, 3], [0, 2]], distribution="arbitrary")
    played = host.step(step, [""])
    assert ["error RC106" in line for line in played.lines()] == [True, True]  # one a node
    assert {t.exit for t in played.all_tasks} == {1}


def test_warnings_once_a_step(host):
    step = Step([[0, 1], [2]])
    line, = host.step(step, [""]).lines()
    assert "warning RC301" in line
    assert [x for x in host.step(step, [""], env={"ROLLCALL_DEBUG": "1"}).lines() if "worker mode" in x]


def test_rank_0_holds_the_port(host):
    played = host.step(EVEN, ["worker"])
    assert played.tasks[0, 0].held_ports == [200]
    for key in ((0, 1), (1, 0), (1, 1)):
        assert not played.tasks[key].held_ports


SAME_NETWORK = [("same_network", "")]


def taken_port():
    """Below those that the kernel gives out: connections of this machine's other programs must not have it as well."""
    with open("/proc/sys/net/ipv4/ip_local_port_range", encoding="ascii") as file:
        last = max(int(file.read().split()[0]) - 1, 2048)
    while True:
        taken = socket.socket()
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            taken.bind(("", random.randint(1024, last)))
            taken.listen()
        except OSError:
            taken.close()
        else:
            return taken, str(taken.getsockname()[1])


def test_a_taken_port_names_its_owner(host):
    taken, port = taken_port()
    with taken:
        played = host.step(EVEN, ["worker"], env={"MASTER_PORT": port}, extra=SAME_NETWORK)
        line, = played.lines()
        assert line.startswith(f"rollcall: error RC405: port {port} of n1 is taken by pid {os.getpid()} (")
        assert f"of user {os.getuid()}; nothing was set" in line
        assert [played.tasks[key].exit for key in sorted(played.tasks)] == [1, 0, 0, 0]
        # a store of the user's own, somewhere else
        played = host.step(EVEN, ["worker"], env={"MASTER_PORT": port, "MASTER_ADDR": "store.example.org"},
                           extra=SAME_NETWORK)
        assert played.lines() == [] and {t.exit for t in played.all_tasks} == {0}


def test_a_port_in_time_wait_is_held(host):
    """What an earlier step left: it refuses an exclusive bind for a minute, though torch could listen."""
    taken, port = taken_port()
    with taken, socket.create_connection(("127.0.0.1", int(port))) as client:
        server, _ = taken.accept()
        server.close()  # closes first: the port's own end waits
        client.recv(1)
    with socket.socket() as other, pytest.raises(OSError):
        other.bind(("", int(port)))
    played = host.step(EVEN, ["worker"], env={"MASTER_PORT": port}, extra=SAME_NETWORK)
    assert played.lines() == []
    assert played.tasks[0, 0].held_ports == [200]


def arbitrary(hosts="n[1-2]"):
    return [("layout_hosts", hosts), ("distribution", 3)]  # SLURM_DIST_ARBITRARY


ASKED = "SLURM_ROLLCALL_TASK_HOSTS"
SIGN = {"SLURM_HOSTFILE": "/some/file"}


def test_srun_names_the_hosts(host):
    step = Step([[1, 3], [0, 2]], step=5)
    played = host.command("local", [""], env=SIGN, step=step, extra=arbitrary())
    assert played.command_env[ASKED] == f"{step.job}.5 1,0-1,0"
    question, = [e for e in played.events if e["event"] == "question"]
    assert question["rc"] == 5


@pytest.mark.parametrize("options, env, extra, asks", [
    ([], SIGN, arbitrary(), False),
    (["off"], SIGN, arbitrary(), False),
    ([""], {"SLURM_NODELIST": "n[1-2]"}, arbitrary(), False),
    # the allocation's nodes are not the step's, whose names are for RC621
    ([""], {"SLURM_NODELIST": "n[1-3]"}, arbitrary(), True),
    ([""], {**SIGN, "ROLLCALL": "off"}, arbitrary(), False),
    ([""], SIGN, [], True),
    ([""], SIGN, [("layout_hosts", "n[1-2]"), ("distribution", 1)], True),
    ([""], SIGN, [*arbitrary(), ("total_tasks", 5)], True),
    ([""], SIGN, [*arbitrary(), ("total_tasks", 3)], True),
    ([""], SIGN, [*arbitrary(), ("missing", "S_JOB_STEPID")], False),
])
def test_srun_has_no_hosts_to_name(host, options, env, extra, asks):
    played = host.command("local", options, env=env, extra=extra)
    assert ASKED not in played.command_env
    assert bool([e for e in played.events if e["event"] == "question"]) == asks
    assert played.returned("local_user_init") == [0]


def test_srun_asks_where_ranks_may_follow_the_network(host):
    """Slurm 26.05's block distribution (2) over switches; a cyclic one (1) goes by the list."""
    step = Step([[2, 3], [0, 1]], step=5)
    sign = {"SLURM_TOPOLOGY_ADDR_PATTERN": "switch.node"}
    for distribution, expected in ((2, f"{step.job}.5 1x2,0x2"), (1, None)):
        played = host.command("local", [""], env=sign, step=step,
                              extra=[("layout_hosts", "n[1-2]"), ("distribution", distribution)])
        assert played.command_env.get(ASKED) == expected
    assert [e for e in played.events if e["event"] == "question"]


def test_srun_empties_an_outer_list(host):
    for options in [""], []:
        assert not host.command("local", options, env={ASKED: "n9,n8"}).command_env.get(ASKED)


def test_srun_says_that_a_map_is_too_long(host):
    """250 nodes, no two tasks that follow each other on nodes that do; more than 96 KiB of runs are not handed down."""
    for size, fits in ((20000, True), (30000, False)):
        where = [rank * 7 % 250 for rank in range(size)]
        step = Step([[rank for rank in range(size) if where[rank] == node] for node in range(250)], step=5)
        said = host.command("local", [""], env=SIGN, step=step, extra=arbitrary("n[1-250]")).command_env[ASKED]
        assert said == f"{step.job}.5 " + (",".join(map(str, where)) if fits else "long")