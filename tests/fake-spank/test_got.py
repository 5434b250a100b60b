# SPDX-License-Identifier: BSD-3-Clause
"""What the tasks of a node were given, against what their job promised: CPUs (RC915) and GPUs (RC906).

Which task has too few, and why, is in tests/unit/test_binding.c and test_visible.c; here is who says it, and what
srun's environment tells slurmstepd."""

import os

import pytest

from fake import EVEN, TWO, Step
from test_bind import ALL, LISTS, PINS, Installed, answer

# of 22.05, and of cores alone, which slurmd makes masks of
SLURMS = {"SLURM_CPU_BIND_TYPE": "cores", "SLURM_CPU_BIND_LIST": "cores"}
PROMISED = {"SLURM_CPUS_PER_TASK": "64", "SLURM_JOB_CPUS_PER_NODE": "128(x2)", **SLURMS}
LEFT = {"SLURM_CPU_BIND_TYPE": "mask_cpu:", "SLURM_CPU_BIND": "quiet,mask_cpu:1",
        "SLURM_ROLLCALL_CPU_BIND": "quiet,mask_cpu:1"}
TAKEN, UNTAKEN = [("cpus_per_task", 64)], [("cpus_per_task", 1)]

SHORT = "rollcall: warning RC915: a task of {} may use 1 of SLURM_CPUS_PER_TASK=64 CPUs: "

pytestmark = pytest.mark.skipif(len(ALL) < 2, reason="one core is all that a task may have")


@pytest.fixture
def narrow():
    """The mask that slurmstepd's tasks get, in a node whose cgroup allows more."""
    os.sched_setaffinity(0, {ALL[0]})
    yield
    os.sched_setaffinity(0, ALL)


def said(played, number="RC915"):
    return [line for line in played.lines() if number in line]


@pytest.mark.usefixtures("narrow")
@pytest.mark.parametrize("extra, env, why", [
    (UNTAKEN, {}, "this srun does not take that over; type srun --cpus-per-task=$SLURM_CPUS_PER_TASK"),
    (TAKEN, LEFT, "SLURM_CPU_BIND, left by another step, is in srun's environment; type unset SLURM_CPU_BIND before "
                  "srun"),
])
def test_what_srun_was_told_is_said_once(host, extra, env, why):
    for step in (EVEN, TWO):
        played = host.step(step, [""], env={**PROMISED, **env}, extra=extra)
        assert said(played) == [SHORT.format("n1") + why]
        assert [task.exit for task in played.all_tasks] == [0] * step.size
    # a user who asked for no binding has been promised cores all the same
    assert said(host.step(EVEN, ["bind=off"], env={**PROMISED, **env}, extra=extra))
    # nobody else's program is a training
    assert not said(host.step(EVEN, env={**PROMISED, **env}, extra=extra))


@pytest.mark.usefixtures("narrow")
@pytest.mark.parametrize("kind", [None, "none"])
def test_what_a_node_did_is_said_by_each(host, kind):
    why = ("it was bound before Slurm started it (slurmd under taskset or CPUAffinity=); restart slurmd without that, "
           "or use --ddp=bind=cores")
    played = host.step(EVEN, [""], env={**PROMISED, "SLURM_CPU_BIND_LIST": "", "SLURM_CPU_BIND_TYPE": kind}, extra=TAKEN)
    assert said(played) == [SHORT.format(node) + why for node in ("n1", "n2")]


@pytest.mark.usefixtures("narrow")
@pytest.mark.parametrize("extra, env", [
    (TAKEN, {}),
    # typed, or exported by a user: srun was not started from a task, or was told something else
    (UNTAKEN, {**LEFT, "SLURM_ROLLCALL_CPU_BIND": None}),
    (UNTAKEN, {**LEFT, "SLURM_CPU_BIND": "quiet,map_cpu:1"}),
    (UNTAKEN, {"SLURM_CPU_BIND_TYPE": "rank"}),
    (UNTAKEN, {"SLURM_OVERCOMMIT": "1"}),
    (UNTAKEN, {"SLURM_JOB_CPUS_PER_NODE": "127(x2)"}),
    (UNTAKEN, {"SLURM_JOB_CPUS_PER_NODE": None}),
    ([*UNTAKEN, ("missing", "S_STEP_CPUS_PER_TASK")], {}),
])
def test_silent(host, extra, env):
    assert not said(host.step(EVEN, [""], env={**PROMISED, **env}, extra=extra))


def test_a_task_with_all_that_the_machine_has_is_not_short(host):
    for extra, env in [(UNTAKEN, {}), (TAKEN, LEFT), (TAKEN, {"SLURM_CPU_BIND_TYPE": None})]:
        assert not said(host.step(EVEN, [""], env={**PROMISED, **env}, extra=extra))


@pytest.mark.usefixtures("narrow")
def test_nor_is_one_that_rollcall_has_bound(host, tmp_path):
    bound = Installed(host, tmp_path)
    bound.says(PINS)
    assert not said(bound.step(EVEN, ["bind=cores"], env=PROMISED, extra=UNTAKEN))
    bound.says(answer(*[f"cpus={LISTS[0]},8191 cores=1"] * 2))
    assert len(said(bound.step(EVEN, ["bind=cores"], env=PROMISED, extra=UNTAKEN))) == 1


MARK = "SLURM_ROLLCALL_CPU_BIND"
OUTER = {"SLURM_CPU_BIND": "quiet,mask_cpu:0x1,0x2", "SLURM_CPU_BIND_LIST": "0x1,0x2"}


@pytest.mark.parametrize("options, env, mark", [
    ([""], OUTER, "quiet,mask_cpu:1,2"),
    ([], {**OUTER, "ROLLCALL": "auto"}, "quiet,mask_cpu:1,2"),
    ([], OUTER, None),
    (["off"], OUTER, None),
    ([""], {}, None),
    # a user's own, and what another list left
    ([""], {"SLURM_CPU_BIND": "quiet,mask_cpu:0x1"}, None),
    ([""], {**OUTER, "SLURM_CPU_BIND": "cores"}, None),
    ([""], {"SLURM_CPU_BIND": "quiet,none", "SLURM_CPU_BIND_LIST": ""}, None),
])
def test_srun_marks_what_a_task_has_left(host, options, env, mark):
    assert host.command("local", options, env=env).command_env.get(MARK) == mark


def gpus(step, job, **more):
    return {"SLURM_STEP_GPUS": step, "CUDA_VISIBLE_DEVICES": step, "SLURM_GPUS_ON_NODE": str(len(step.split(","))),
            "SLURM_JOB_GPUS": job, "SLURM_JOB_NODELIST": "n[1-2]", **more}


ONE = Step([[0]])
TRAIN, RUN = ("python", "train.py"), ("torchrun", "--nproc_per_node=4", "train.py")
JOB = "0,1,2,3"
USE = "use srun --gpus-per-node=4"
PER_TASK = {"SLURM_TRES_PER_TASK": "cpu=2,gres/gpu:1", "SLURMD_TRES_BIND": "gres/gpu:per_task:1"}


def unset(name):
    return f"unset {name}, which srun takes for an option, or {USE}"


@pytest.mark.parametrize("step, argv, env, line", [
    (TWO, TRAIN, gpus("2", JOB), f"1 of the job's 4 GPUs on this node, for 2 tasks; {USE}"),
    (TWO, TRAIN, gpus("2", JOB, SLURM_GPUS_PER_NODE="1"),
     f"1 of the job's 4 GPUs on this node, for 2 tasks; {unset('SLURM_GPUS_PER_NODE')}"),
    (TWO, TRAIN, gpus("2", JOB, SLURM_GPUS_PER_NODE="4"), f"1 of the job's 4 GPUs on this node, for 2 tasks; {USE}"),
    (ONE, RUN, gpus("0", JOB, **PER_TASK),
     f"1 of the job's 4 GPUs on this node, for 4 workers; {unset('SLURM_TRES_PER_TASK')}"),
    (ONE, RUN, gpus("0,3", JOB, SLURM_GPUS_PER_TASK="2", SLURM_TRES_PER_TASK="cpu=2"),
     f"2 of the job's 4 GPUs on this node, for 4 workers; {unset('SLURM_GPUS_PER_TASK')}"),
    (ONE, TRAIN, gpus("2", JOB), None),
    (TWO, TRAIN, gpus("0,1", JOB), None),
    (ONE, RUN, gpus(JOB, JOB), None),
    (TWO, TRAIN, gpus("2", "0,1,3"), None),
    # two tasks a GPU, as they were asked for
    (TWO, TRAIN, gpus("2", JOB, SLURMD_TRES_BIND="gpu:single:2"), None),
])
def test_a_part_of_the_jobs_gpus(host, step, argv, env, line):
    played = host.step(step, [""], env=env, argv=argv)
    assert said(played, "RC906") == ([f"rollcall: warning RC906: the step has {line}"] if line else [])
    # one line for one thing
    assert not line or not said(played, "RC902")
