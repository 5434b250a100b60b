# SPDX-License-Identifier: BSD-3-Clause
"""The cores of a node's tasks: who asks rollcall-map what, and what each task does with the answer."""

import os
import subprocess

import pytest

from conftest import copy_plugin, make_beside
from fake import TWO, Host, Step

ALL = sorted(os.sched_getaffinity(0))
GIVEN = {"SLURM_CPUS_ON_NODE": str(len(ALL)), "ROLLCALL_DEBUG": "1"}

pytestmark = pytest.mark.skipif(len(ALL) < 2, reason="two cores for two tasks")


def answer(*pins):
    return "\n".join(["node", *(f"pin {pin}" for pin in pins)])


# Of two tasks, whatever this machine has: bind=auto leaves no core to nobody.
MINE = [ALL[:1], ALL[1:]]
LISTS = [",".join(map(str, threads)) for threads in MINE]
PINS = answer(f"cpus={LISTS[0]} cores=1 gpu=0", f"cpus={LISTS[1]} cores=1 gpu=1")
CARDS = (f"node fabric=mlx5_0,mlx5_1 network=ib0,ib1\npin cpus={ALL[0]} cores=1 gpu=0 fabric=mlx5_0 network=ib0\n"
         f"pin cpus={LISTS[1]} cores=1 gpu=1 fabric=mlx5_1 network=ib1")


class Installed(Host):
    """The plugin in a tree of its own, with a rollcall-map that keeps what it was asked."""

    def __init__(self, host, folder):
        plugin = copy_plugin(host, folder)
        super().__init__(host.program, plugin, host.environment)
        self.libexec = make_beside(plugin, folder, "ROLLCALL_LIBEXEC_FROM_PLUGIN")
        self.library = os.path.join(make_beside(plugin, folder, "ROLLCALL_PRELOAD_FROM_PLUGIN"), "librollcall-pins.so")
        open(self.library, "w", encoding="ascii").close()
        self.asked = folder / "asked"

    def says(self, text, status=0):
        path = os.path.join(self.libexec, "rollcall-map")
        with open(path, "w", encoding="ascii") as file:
            file.write(f"#!/bin/sh\n{{ env; echo \"$0 $*\"; cat; echo; }} >> {self.asked}\n"
                       f"cat << 'END'\n{text}\nEND\nexit {status}\n")
        os.chmod(path, 0o755)

    def questions(self):
        return self.asked.read_text().split("tasks=")[1:] if self.asked.exists() else []


@pytest.fixture
def bound(host, tmp_path):
    made = Installed(host, tmp_path)
    made.says(PINS)
    return made


def cpus(played):
    return [task.cpus for task in played.all_tasks]


def test_each_task_has_its_own(bound):
    played = bound.step(Step([[0, 1], [2, 3]]), ["exchange=off"], env=GIVEN)
    assert cpus(played) == MINE * 2
    assert [t.env["OMP_NUM_THREADS"] for t in played.all_tasks] == ["1"] * 4
    assert [line for line in played.lines() if "RC91" in line] == [
        f"rollcall: note RC913: bound to 1 core, hardware threads {ALL[0]} (bind=auto)"]
    # each node asks once
    assert len(bound.questions()) == 2


def test_the_question(bound):
    for options, bind in [("", "cores"), ("bind=cores", "cores"), ("bind=numa", "numa")]:
        bound.step(TWO, [options], env={**GIVEN, "HWLOC_XMLFILE": "/no/such/file"})
        question = bound.questions()[-1].split("\n")
        assert question[:3] == ["2", f"bind={bind}", "cards=no"]
        assert question[3].startswith("cpus=") and len(question) < 7
    # with nic=auto alone the cards are looked for
    bound.step(TWO, ["nic=auto"], env=GIVEN)
    assert "cards=" not in bound.questions()[-1]
    # nothing of the user's environment steers it
    assert "HWLOC" not in bound.asked.read_text() and "SLURM" not in bound.asked.read_text()
    assert "rollcall-map pins\n" in bound.asked.read_text()


def test_threads_are_the_users_where_they_are_set(bound):
    for own in ["7", ""]:
        played = bound.step(TWO, [""], env={**GIVEN, "OMP_NUM_THREADS": own})
        assert [t.env["OMP_NUM_THREADS"] for t in played.all_tasks] == [own] * 2
        assert cpus(played) == MINE


@pytest.mark.parametrize("options, configuration", [(["bind=off"], []), (["off"], []), ([""], ["bind=off"]),
                                                    (["bind=off"], ["bind=cores"])])
def test_bind_none_starts_nothing(bound, options, configuration):
    played = bound.step(TWO, options, arguments=configuration, env=GIVEN)
    assert cpus(played) == [ALL, ALL] and not bound.questions()
    assert not any("OMP_NUM_THREADS" in t.env for t in played.all_tasks)
    assert not [line for line in played.lines() if "RC91" in line]


# a node that jobs share, without cgroups; more tasks than hardware threads
@pytest.mark.parametrize("step, env, why", [
    (TWO, {"SLURM_CPUS_ON_NODE": "1"}, "not known to be the job's own"),
    (Step([list(range(len(ALL) + 1))]), {}, "fewer cores than tasks"),
])
def test_auto_leaves_alone_what_may_be_somebody_elses(bound, step, env, why):
    played = bound.step(step, [""], env={**GIVEN, **env})
    assert cpus(played) == [ALL] * step.size and not bound.questions()
    line, = [line for line in played.lines() if "RC91" in line]
    assert line.startswith("rollcall: note RC911: not bound to cores: ") and why in line
    # without debug not a word
    assert not bound.step(step, [""], env={**GIVEN, **env, "ROLLCALL_DEBUG": None}).lines()


def test_by_name_it_does_not_ask_whose_cores_they_are(bound):
    played = bound.step(TWO, ["bind=cores"], env={"SLURM_CPUS_ON_NODE": "1"})
    assert cpus(played) == MINE and played.lines() == []


def test_cores_that_are_shared_bind_by_name_alone(bound):
    bound.says(answer(*[f"cpus={ALL[0]} cores=1 shared=yes"] * 2))
    played = bound.step(TWO, [""], env=GIVEN)
    assert cpus(played) == [ALL, ALL]
    assert "fewer cores than tasks" in played.lines()[0]
    assert cpus(bound.step(TWO, ["bind=cores"], env=GIVEN)) == [[ALL[0]]] * 2


def test_cores_that_would_be_idle_are_given_up_by_name_alone(bound):
    bound.says(answer(*[f"cpus={LISTS[0]} cores=1"] * 2))
    played = bound.step(TWO, [""], env=GIVEN)
    assert cpus(played) == [ALL, ALL]
    assert "some cores are near no task's GPU" in played.lines()[0]
    assert cpus(bound.step(TWO, ["bind=cores"], env=GIVEN)) == [MINE[0]] * 2


FAILURES = [
    (answer(*[f"cpus={ALL[0]} cores=1"] * 3), 0, "answers something else"),
    (answer(*[f"cpus={threads},8191 cores=1" for threads in LISTS]), 0, "does not let it run"),
    (PINS, 3, "rollcall-map fails"), ("x" * 70000, 0, "could not be queried"),
    (PINS, None, "could not be queried: Permission denied"),
]


@pytest.mark.parametrize("text, status, why", FAILURES)
def test_a_helper_that_fails_costs_nobody_his_job(bound, text, status, why):
    bound.says(text, status or 0)
    if status is None:
        os.chmod(os.path.join(bound.libexec, "rollcall-map"), 0)
    played = bound.step(TWO, [""], env=GIVEN)
    assert [t.exit for t in played.all_tasks] == [0, 0] and cpus(played) == [ALL, ALL]
    assert [t.env["RANK"] for t in played.all_tasks] == ["0", "1"]
    # a helper that fails may be this node's alone, so users read it, once a node; one that answers is not the reason
    answers = "let it run" in why
    line, = [line for line in played.lines() if "RC91" in line]
    assert line.startswith(f"rollcall: {'note RC911' if answers else 'warning RC917'}: ") and why in line
    played = bound.step(Step([[0, 1], [2, 3]]), ["bind=cores,exchange=off"])
    lines = [line for line in played.lines() if "RC91" in line]
    asked = "warning RC912: bind=cores was asked for, but" if answers else "warning RC917: the tasks of n"
    assert len(lines) == 2 and all(asked in line and why in line for line in lines)
    assert [t.exit for t in played.all_tasks] == [0] * 4 and cpus(played) == [ALL] * 4


def test_without_helper_it_says_so_once(host):
    played = host.step(TWO, ["bind=numa"])
    line, = played.lines()
    assert line == ("rollcall: warning RC912: bind=numa was asked for, but rollcall-map is not there "
                    "(a build without hwloc); the tasks run unbound")
    assert [t.exit for t in played.all_tasks] == [0, 0] and cpus(played) == [ALL, ALL]


def test_a_key_of_the_administrators_line_is_named_as_such(host):
    for options, words, end in [("", ["bind=numa"], "run unbound; plugstack.conf sets bind="),
                                ("bind=numa", ["bind=cores"], "run unbound")]:
        line, = host.step(TWO, [options], words).lines()
        assert "RC912: bind=numa was asked for" in line and line.endswith(end)


def test_without_user_init_nobody_is_bound(bound):
    played = bound.step(TWO, [""], env=GIVEN, extra=[("skip", "user_init")])
    assert cpus(played) == [ALL, ALL] and not bound.questions()


FILES = [("device", f"nvidia{i}") for i in range(4)] + [("device", "nvidiactl")]
ORDERS = ["0,1", "1,0", "0+1"]


def gpus(numbers, seen=None):
    """The step's part on this node, as user_init finds it; seen: as a device cgroup has them numbered anew."""
    return {"SLURM_STEP_GPUS": numbers, "CUDA_VISIBLE_DEVICES": seen or numbers,
            "SLURM_GPUS_ON_NODE": str(len(numbers.split(",")))}


def by_variable(*own, bind="per_task:1"):
    """What Slurm changes in each task where the device files of all GPUs may be opened."""
    return [("task_env", f"SLURMD_TRES_BIND=gpu:{bind}")] + [
        ("own_env", f"{local} {name}={gpu}") for local, gpu in enumerate(own)
        for name in ("SLURM_STEP_GPUS", "CUDA_VISIBLE_DEVICES")]


def by_cgroup(first, *own, count=4, bind="per_task:1"):
    """The same beside a device cgroup: all tasks see 0, and SLURM_STEP_GPUS is the step's first one in all of them."""
    lines = [("task_env", f"SLURMD_TRES_BIND=gpu:{bind}"), ("task_env", f"SLURM_STEP_GPUS={first}"),
             ("task_env", f"CUDA_VISIBLE_DEVICES={','.join(map(str, range(len(own[0]))))}")]
    for local, allowed in enumerate(own):
        lines += [("own_device", f"{local} {'' if i in allowed else '!'}nvidia{i}") for i in range(count)]
    return lines


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("numbers, extra, asked, expected", [
    ("4,6", [], "4,6", [0, 1]),                                        # all see all: by local rank
    ("4,6", by_variable("4", "6"), "4,6", [0, 1]),
    ("4,6", by_variable("6", "4", bind="map_gpu:1,0"), "4,6", [1, 0]),
    ("0,1", FILES + by_variable("0", "1"), "0,1", [0, 1]),
    ("0,1", FILES + by_variable("1", "0", bind="map_gpu:1,0"), "0,1", [1, 0]),
    ("0,1,2,3", FILES + by_variable("0,1", "2,3", bind="per_task:2"), "0,2", [0, 1]),
    ("0,1,2,3", FILES + by_variable("2,3", "0,1", bind="mask_gpu:0xc,0x3"), "0,2", [1, 0]),
])
def test_a_task_takes_the_cores_of_its_own_gpu(bound, order, numbers, extra, asked, expected):
    played = bound.step(TWO, ["worker,exchange=off"], env={**GIVEN, **gpus(numbers)}, extra=[*extra, ("order", order)])
    assert f"\ngpus={asked}\n" in bound.questions()[0] and len(bound.questions()) == 1
    assert cpus(played) == [MINE[i] for i in expected]


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("numbers, first, own, asked, expected", [
    ("0,1", "0", ([0], [1]), "0,1", [0, 1]),                           # --gpus-per-task=1
    ("0,1", "0", ([1], [0]), "0,1", [1, 0]),                           # --gpu-bind=map_gpu:1,0
    ("1,3", "1", ([3], [1]), "1,3", [1, 0]),
    ("0,1,2,3", "0,1", ([0, 1], [2, 3]), "0,2", [0, 1]),               # --gpus-per-task=2
    ("0,1,2,3", "0,1", ([2, 3], [0, 1]), "0,2", [1, 0]),
])
def test_beside_a_device_cgroup_the_device_files_tell(bound, order, numbers, first, own, asked, expected):
    """There every task sees GPU 0, and reads the step's first one in SLURM_STEP_GPUS."""
    bound.says(CARDS)
    seen = ",".join(str(i) for i in range(len(numbers.split(","))))
    played = bound.step(TWO, ["worker,bind=cores,nic=auto,exchange=off"], env={**GIVEN, **gpus(numbers, seen)},
                        extra=by_cgroup(first, *own) + [("order", order)])
    assert f"\ngpus={asked}\n" in bound.questions()[0]
    assert cpus(played) == [MINE[i] for i in expected]
    assert [t.env["UCX_NET_DEVICES"] for t in played.all_tasks] == [f"mlx5_{i}:1" for i in expected]


@pytest.mark.parametrize("order", ORDERS)
def test_two_tasks_on_one_gpu(bound, order):
    """The second one to come takes what is left."""
    played = bound.step(TWO, ["worker,exchange=off"], env={**GIVEN, **gpus("4,6")},
                        extra=by_variable("6", "6", bind="map_gpu:1") + [("order", order)])
    assert sorted(cpus(played)) == MINE


@pytest.mark.parametrize("extra", [
    by_cgroup("0", [0], [1], count=0),                                 # no device files
    by_cgroup("0", [2], [3]),                                          # GPUs that are none of the step's
    by_variable("7", "8"),                                             # of another list
    by_variable("0", "1"),                                             # perhaps by a cgroup
])
def test_where_nothing_tells_whose_gpu_is_whose_nobody_is_bound(bound, extra):
    bound.says(CARDS)
    env = {**GIVEN, **gpus("0,1")}
    played = bound.step(TWO, ["worker"], env=env, extra=extra)
    assert cpus(played) == [ALL, ALL]
    why = "it is unknown which of the node's GPUs are this task's"
    assert f"rollcall: note RC911: not bound to cores: {why}" in played.lines()
    played = bound.step(TWO, ["worker,bind=cores,nic=auto,exchange=off"], env={**env, "ROLLCALL_DEBUG": None}, extra=extra)
    assert cpus(played) == [ALL, ALL]
    assert f"rollcall: warning RC912: bind=cores was asked for, but {why}; the tasks run unbound" in played.lines()
    # and cards near somebody's GPU are set for nobody
    assert not any("UCX_NET_DEVICES" in t.env for t in played.all_tasks)


def test_an_outer_steps_gpus_are_none_of_this_one(bound):
    bound.step(TWO, [""], env={**GIVEN, "SLURM_STEP_GPUS": "0,1"})
    assert "gpus=" not in bound.questions()[0]


def test_a_launcher_carries_the_cores_of_its_workers(bound):
    step = Step([[0]])
    played = bound.step(step, ["launcher,nproc=2"], env=GIVEN)
    task = played.tasks[0, 0]
    assert task.cpus == ALL
    assert task.env["ROLLCALL_PINS"] == f"{LISTS[0]} {LISTS[1]}" and task.env["OMP_NUM_THREADS"] == "1"
    assert task.env["LD_PRELOAD"] == bound.library
    assert "note RC913: 2 workers are to be bound, to 1 core or more each (bind=auto)" in played.lines()[0]
    # as many as it has GPUs; without a number nobody can say
    assert bound.step(step, ["launcher"], env={**GIVEN, **gpus("0,1")}).tasks[0, 0].env["ROLLCALL_PINS"]
    played = bound.step(step, ["launcher"], env=GIVEN)
    assert "ROLLCALL_PINS" not in played.tasks[0, 0].env
    assert "not known how many workers" in played.lines()[0]


def test_a_launchers_task_gets_the_library_that_binds_its_workers(bound):
    task = bound.step(Step([[0]]), ["launcher,nproc=2"], env={**GIVEN, "LD_PRELOAD": "/lib/x.so"}).tasks[0, 0]
    assert task.env["LD_PRELOAD"] == f"/lib/x.so:{bound.library}"
    # a worker is bound without it, and nobody who is not to be bound has it
    for step, options in [(TWO, ""), (Step([[0]]), "launcher,nproc=2,bind=off"), (Step([[0]]), "launcher")]:
        assert not any("LD_PRELOAD" in t.env for t in bound.step(step, [options], env=GIVEN).all_tasks)


def test_workers_stay_unbound_where_the_library_is_of_no_use(bound, tmp_path):
    step = Step([[0]])

    def unbound(options, *command):
        played = bound.step(step, [options], env=GIVEN, argv=command)
        task = played.tasks[0, 0]
        assert not {"ROLLCALL_PINS", "LD_PRELOAD", "OMP_NUM_THREADS"} & set(task.env) and task.env["PET_NNODES"] == "1"
        (line,) = [line for line in played.lines() if "RC9" in line]
        return line

    line = "rollcall: note RC911: workers are not bound to cores: a container (apptainer) does not see librollcall-pins.so"
    assert unbound("launcher,nproc=2", "apptainer", "exec", "x.sif", "torchrun", "t.py") == line
    program = tmp_path / "asan"
    subprocess.run(["gcc", "-fsanitize=address", "-x", "c", "-o", program, "-"], input=b"int main(void) { return 0; }", check=True)
    assert unbound("launcher,nproc=2", str(program)).endswith(
        "workers are not bound to cores: the program needs AddressSanitizer's runtime before all other libraries")
    os.remove(bound.library)
    assert unbound("launcher,nproc=2,bind=cores", "python", "t.py") == (
        "rollcall: warning RC912: bind=cores was asked for, but librollcall-pins.so is not where it was installed to, or "
        "its folder has a colon, blank or dollar in its name; the workers run unbound")


def test_what_an_outer_launch_carried_is_taken_away(bound):
    outer = {"ROLLCALL_PINS": "0-3 4-7", "ROLLCALL_PINNED": "1"}
    played = bound.step(TWO, [""], env={**GIVEN, **outer})
    assert not any(name in t.env for t in played.all_tasks for name in outer)
    task = bound.step(Step([[0]]), ["launcher,nproc=2"], env={**GIVEN, **outer}).tasks[0, 0]
    assert task.env["ROLLCALL_PINS"] == f"{LISTS[0]} {LISTS[1]}" and "ROLLCALL_PINNED" not in task.env


@pytest.mark.parametrize("options, env, expected", [
    ("nic=auto", {}, MINE), ("nic=auto,bind=off", {}, [ALL, ALL]),
    ("nic=auto", {"SLURM_CPUS_ON_NODE": "1"}, [ALL, ALL]),
])
def test_cards_are_asked_about_where_nobody_is_bound_too(bound, options, env, expected):
    bound.says(CARDS)
    played = bound.step(TWO, [options], env={**GIVEN, **env})
    assert cpus(played) == expected and len(bound.questions()) == 1
    assert [t.env["NCCL_IB_HCA"] for t in played.all_tasks] == ["=mlx5_0,mlx5_1"] * 2
    assert [t.env["UCX_NET_DEVICES"] for t in played.all_tasks] == ["mlx5_0:1", "mlx5_1:1"]
    assert ["OMP_NUM_THREADS" in t.env for t in played.all_tasks] == [expected != [ALL, ALL]] * 2


def test_a_launcher_without_a_number_of_workers_has_cards_all_the_same(bound):
    bound.says("node fabric=mlx5_0 network=ib0\npin cpus=0 cores=1 fabric=mlx5_0 network=ib0")
    task = bound.step(Step([[0]]), ["launcher,nic=auto"], env=GIVEN).tasks[0, 0]
    assert task.env["NCCL_IB_HCA"] == "=mlx5_0" and "ROLLCALL_PINS" not in task.env
