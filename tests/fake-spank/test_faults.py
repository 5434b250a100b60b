# SPDX-License-Identifier: BSD-3-Clause
"""What the plugin does when Slurm, the system or the environment is not as it should be: it fails no node."""

import pytest

from fake import EVEN, Step
from test_plugin import SCOPE, is_worker, untouched

ITEMS = ["S_JOB_ID", "S_JOB_STEPID", "S_JOB_NNODES", "S_JOB_NODEID", "S_JOB_LOCAL_TASK_COUNT",
         "S_JOB_TOTAL_TASK_COUNT", "S_JOB_ARGV", "S_JOB_ENV", "S_TASK_ID", "S_JOB_LOCAL_TO_GLOBAL_ID"]
NAMES = ["RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "NODE_RANK", "GROUP_RANK",
         "GROUP_WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT", SCOPE]
GARBAGE = ["", "-1", "+1", " 1", "1 ", "0x1", "007", "1e3", "1.0", "4294967295", "4294967296",
           "99999999999999999999", "9" * 100000, "null", "(null)", "NaN", "1,", ",", "1,1", "2(x",
           "2(x99999999999)", "n[", "n[1-", "n[9-1]", "n[0-999999999]", "\x1b[31m", "\n", "\xff\xfe", "=",
           "a" * 200000, "%s%n"]
READ = ["SLURM_JOB_ID", "SLURM_STEP_ID", "SLURM_STEP_NUM_TASKS", "SLURM_STEP_NUM_NODES",
        "SLURM_STEP_NODELIST", "SLURM_STEP_TASKS_PER_NODE", "SLURM_DISTRIBUTION", "MASTER_ADDR",
        "MASTER_PORT", "ROLLCALL_DEBUG", "SLURM_HET_SIZE", "SLURM_STEP_RESV_PORTS", "SLURM_GPUS_ON_NODE",
        "CUDA_VISIBLE_DEVICES", SCOPE, "SLURM_PMIX_MAPPING_SERV", "SLURM_ROLLCALL_TASK_HOSTS",
        "SLURM_JOB_NAME", "SLURMD_NODENAME", "PMIX_NAMESPACE", "PMIX_RANK", "OMPI_COMM_WORLD_RANK",
        "TORCHELASTIC_RUN_ID"]


def nothing_failed_but_tasks(played):
    assert set(played.returned("task_init")) <= {0, -1}
    for task in played.all_tasks:
        assert task.signal is None and task.exit in (0, 1)


def whole_or_nothing(played):
    """A task has all of the family or what it had before."""
    for task in played.all_tasks:
        if task.exit == 0:
            assert {name in task.env for name in NAMES} in ({True}, {False}), task.env


@pytest.mark.parametrize("item", ITEMS)
@pytest.mark.parametrize("asked", [["worker"], [""]])
def test_an_item_is_missing(host, item, asked):
    played = host.step(EVEN, asked, extra=[("missing", item)])
    nothing_failed_but_tasks(played)
    whole_or_nothing(played)
    if item in ("S_JOB_STEPID", "S_JOB_ENV"):
        untouched(played, EVEN)
    else:
        is_worker(played, EVEN)


def test_no_environment_at_all(host):
    played = host.step(EVEN, ["worker"], extra=[("null_env", "")])
    nothing_failed_but_tasks(played)
    untouched(played, EVEN)


def test_an_empty_environment(host):
    played = host.step(EVEN, ["worker"], env=dict.fromkeys(EVEN.env()))
    nothing_failed_but_tasks(played)


def test_entries_that_are_none(host):
    entries = ["NOEQUALS", "=", "=x", "", "A=B=C", "BASH_FUNC_x%%=() { :; }"]
    is_worker(host.step(EVEN, ["worker"], entries=entries), EVEN)


@pytest.mark.parametrize("callback", ["init_post_opt", "user_init"])
def test_a_callback_that_does_not_come(host, callback):
    is_worker(host.step(EVEN, ["worker"], extra=[("skip", callback)]), EVEN)


@pytest.mark.parametrize("quirk", ["lie", "refuse"])
@pytest.mark.parametrize("name", NAMES)
def test_a_name_that_cannot_be_set(host, quirk, name):
    """spank_setenv reports success and has done nothing, or fails: all is put back."""
    env = {"RANK": "7", "WORLD_SIZE": "9", "MASTER_ADDR": "n1"}
    played = host.step(EVEN, ["worker"], env=env, extra=[(quirk, name)])
    nothing_failed_but_tasks(played)
    if name == "MASTER_ADDR":  # it has the right value already
        return
    assert [t.exit for t in played.all_tasks] == [1] * 4
    lines = played.lines()
    assert len(lines) == len(EVEN.hosts) and all(f"error RC503: {name} " in line for line in lines)


def test_a_value_that_slurm_drops(host):
    """Over 128 KiB; the name is kept in launcher mode."""
    step = Step([[0], [1]])
    played = host.step(step, ["launcher"], env={"SLURM_JOB_NAME": "x" * 131060})
    nothing_failed_but_tasks(played)
    for task in played.all_tasks:
        if task.exit == 0:
            assert task.env["MASTER_PORT"]
        else:
            assert task.exit == 1 and [line for line in played.lines() if "error RC50" in line]


@pytest.mark.parametrize("name", READ)
def test_hostile_values(sanitized, name):
    for garbage in GARBAGE:
        played = sanitized.step(EVEN, ["auto"], env={name: garbage})
        nothing_failed_but_tasks(played)
        for line in played.lines() + played.lines("error"):
            assert all(" " <= c <= "~" for c in line) and len(line) < 1000, line
        if {t.exit for t in played.all_tasks} == {0}:
            whole_or_nothing(played)
        else:
            assert 1 <= len([x for x in played.lines() if ": error RC" in x]) <= len(EVEN.hosts)


def test_a_huge_environment(host):
    is_worker(host.step(EVEN, ["worker"], entries=[f"FILLER_{i}={'x' * 300}" for i in range(3000)]), EVEN)


def test_memory_runs_out(built):
    """Every allocation of a callback fails in turn (a sanitizer brings its own allocator: not with that)."""
    finished = refused = False
    for n in range(1, 60):
        played = built.step(EVEN, ["worker"], extra=[("allocations", n)])
        nothing_failed_but_tasks(played)
        whole_or_nothing(played)
        finished = {t.exit for t in played.all_tasks} == {0}
        # the first ones: user_init keeps no copy, a task does without the node's mode
        refused |= {t.exit for t in played.all_tasks} == {1}
    assert refused and finished
    is_worker(played, EVEN)


def test_memory_runs_out_in_srun(built):
    for n in range(1, 12):
        played = built.command("local", [""], env={"SLURM_HOSTFILE": "x"},
                              extra=[("layout_hosts", "n[1-2]"), ("distribution", 3), ("allocations", n)])
        assert played.returned("local_user_init") == [0]
        assert played.command_env.get("SLURM_ROLLCALL_TASK_HOSTS") in (None, "42.0 0-1x2")


@pytest.mark.parametrize("limit", [3, 4, 5, 6, 64, 201])
def test_no_descriptor_is_left(host, limit):
    """The port goes unheld then, as it would without rollcall; the ranks are set."""
    played = host.step(EVEN, ["worker"], extra=[("descriptors", limit)])
    nothing_failed_but_tasks(played)
    assert {t.exit for t in played.all_tasks} <= {0}


@pytest.mark.parametrize("ranks", [[[0, 0], [1, 2]], [[3, 1], [2, 0]], [[0, 1], [1, 2]], [[9, 10], [11, 12]]])
def test_ranks_that_cannot_be(host, ranks):
    played = host.step(Step(ranks), ["worker"])
    nothing_failed_but_tasks(played)
