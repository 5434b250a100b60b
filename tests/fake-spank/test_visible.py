# SPDX-License-Identifier: BSD-3-Clause
"""Which GPUs the tasks see, from what Slurm tells user_init and task_init (recorded with 22.05, 24.11 and 26.05)."""

import pytest

from fake import TWO, Step

LISTS = ("CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "ZE_AFFINITY_MASK", "GPU_DEVICE_ORDINAL")
OPEN = [("device", f"nvidia{i}") for i in range(4)] + [("device", "nvidiactl"), ("device", "nvidia-uvm")]
CGROUP = [("device", "nvidia0")] + [("device", f"!nvidia{i}") for i in range(1, 4)]
FOUR = Step([[0, 1, 2, 3]])


def gpus(devices):
    """The step's part on this node, as user_init finds it."""
    return {**{name: devices for name in LISTS}, "SLURM_STEP_GPUS": devices,
            "SLURM_GPUS_ON_NODE": str(devices.count(",") + 1)}


def bound(own, step_gpus=None, bind="gpu:per_task:1"):
    """What each task has of it: its own, and SLURMD_TRES_BIND; None takes all away."""
    lines = [("task_env", f"SLURMD_TRES_BIND={bind}")]
    for local, devices in enumerate(own):
        for name in LISTS:
            lines.append(("own_env", f"{local} {name}={devices}" if devices else f"{local} {name}"))
        given = (step_gpus or own)[local]
        lines.append(("own_env", f"{local} SLURM_STEP_GPUS={given}" if given else f"{local} SLURM_STEP_GPUS"))
    return lines


def seen(played, names=LISTS):
    """Of each task: LOCAL_RANK, and what its variables say, which is one thing."""
    out = []
    for task in played.all_tasks:
        assert task.exit == 0
        values = {task.env.get(name) for name in names}
        assert len(values) == 1, values
        out.append((task.env["LOCAL_RANK"], values.pop()))
        assert task.env["SLURM_LOCALID"] == str(task.local)
        assert task.env["LOCAL_WORLD_SIZE"] == str(len(played.all_tasks))
    return out


ALL = [(str(i), "0,1,2,3") for i in range(4)]
OWN = [("0", str(i)) for i in range(4)]
EACH = ["0", "1", "2", "3"]
CLOSED = [("device", f"!nvidia{i}") for i in range(4)]
EIGHT = [("device", f"nvidia{i}") for i in range(8)]
PAIRS = bound(["0,1", "2,3"], bind="gpu:per_task:2")
TAKEN = [("own_env", f"{i} CUDA_VISIBLE_DEVICES") for i in (0, 1)]

# the step, the options, its GPUs in user_init, what is in each task, what it sees then, and whether the list was made
ROWS = {
    "all see all": (FOUR, "worker", gpus("0,1,2,3"), OPEN, ALL, False),
    "one by variable becomes the step's list": (FOUR, "worker", gpus("0,1,2,3"), OPEN + bound(EACH), ALL, True),
    "the same with a newer Slurm": (FOUR, "worker", gpus("0,1,2,3"), OPEN + bound(EACH, bind="gres/gpu:per_task:1"), ALL, True),
    "a map of the user's": (FOUR, "worker", gpus("0,1,2,3"), OPEN + bound(["3", "1", "0", "2"], bind="gpu:map_gpu:3,1,0,2"),
                            [("0", "3,1,2,0"), ("1", "0,1,2,3"), ("2", "2,1,0,3"), ("3", "0,1,3,2")], True),
    "fewer tasks than GPUs": (TWO, "worker", gpus("4,5,6,7"), EIGHT + bound(["6", "4"], bind="gpu:map_gpu:6,4"),
                              [("0", "6,5,4,7"), ("1", "5,4,6,7")], True),
    "gpus=own": (FOUR, "worker,gpus=own", gpus("0,1,2,3"), OPEN, OWN, True),
    # of 23.11: the step's cgroup alone, whose GPUs are counted from 0
    "--gres-flags=allow-task-sharing": (FOUR, "worker", {**gpus("0,1,2,3"), "SLURM_STEP_GPUS": "4,5,6,7"},
                                        CLOSED + EIGHT[4:] + bound(EACH), ALL, True),
    # each task keeps its own
    "no device files": (FOUR, "worker", gpus("0,1,2,3"), bound(EACH), OWN, False),
    "one file of a container": (FOUR, "worker", gpus("0,1,2,3"), [("device", "nvidia2"), *bound(EACH)], OWN, False),
    "a file of another kind": (FOUR, "worker", gpus("0,1,2,3"), [("device", "dri/card0"), *bound(EACH)], OWN, False),
    # Slurm up to 23.02, and later ones with device cgroups, takes the variables away, though told not to bind
    "--gpu-bind=none": (FOUR, "worker", gpus("0,1,2,3"), OPEN + bound([None] * 4, bind="gpu:none"), ALL, False),
    "no GPUs asked for, and that is meant": (TWO, "worker", {"CUDA_VISIBLE_DEVICES": "0,1"}, OPEN + TAKEN,
                                             [("0", None), ("1", None)], False),
    "tasks per GPU": (FOUR, "worker", gpus("0,1"), OPEN + bound(["0", "0", "1", "1"], bind="gpu:single:2"),
                      [("0", "0"), ("0", "0"), ("0", "1"), ("0", "1")], False),
    "several each": (TWO, "worker", gpus("0,1,2,3"), OPEN + PAIRS, [("0", "0,1"), ("1", "2,3")], False),
    "without user_init the task's own list is not the step's": (
        TWO, "worker", gpus("0,1"), OPEN + bound(["0", "1"]) + [("skip", "user_init")], OWN[:2], False),
}


@pytest.mark.parametrize("step, options, env, extra, expected, made", ROWS.values(), ids=ROWS)
def test_what_tasks_see(host, step, options, env, extra, expected, made):
    played = host.step(step, [options], env=env, extra=extra)
    assert seen(played) == expected
    assert played.lines() == []
    for task, (_, devices) in zip(played.all_tasks, expected):
        assert task.env.get("CUDA_DEVICE_ORDER") == ("PCI_BUS_ID" if made else None)
        assert task.env.get("JAX_LOCAL_DEVICE_IDS") == ("0" if devices and "," not in devices else None)


@pytest.mark.parametrize("first", [0, 4])
def test_one_by_cgroup(host, first):
    """SLURM_STEP_GPUS is no help: every task has the step's first one there."""
    env = {**gpus("0,1,2,3"), "SLURM_STEP_GPUS": ",".join(str(first + i) for i in range(4))}
    extra = CGROUP + [("device", f"!nvidia{i}") for i in range(4, 4 + first)]
    played = host.step(FOUR, ["worker"], env=env, extra=extra + bound(["0"] * 4, [str(first)] * 4))
    assert seen(played) == [("0", "0")] * 4
    line, = played.lines()
    assert line.startswith("rollcall: warning RC901: ") and "--gpus-per-node=4" in line
    assert all(t.env["JAX_LOCAL_DEVICE_IDS"] == "0" and "CUDA_DEVICE_ORDER" not in t.env for t in played.all_tasks)


def test_gpu_bind_none_and_a_launcher(host):
    step = Step([[0], [1]])
    played = host.step(step, [""], env=gpus("0,1"), extra=OPEN + bound([None], bind="gpu:none"))
    for task in played.all_tasks:
        assert task.env["PET_NPROC_PER_NODE"] == "2" and task.env["CUDA_VISIBLE_DEVICES"] == "0,1"
        assert task.env["JAX_LOCAL_DEVICE_IDS"] == "0,1"


def test_more_tasks_than_gpus(host):
    played = host.step(FOUR, ["worker"], env=gpus("0,1"), extra=OPEN)
    assert seen(played) == [("0", "0"), ("0", "1"), ("0", "0"), ("0", "1")]
    line, = played.lines()
    assert line.startswith("rollcall: warning RC902: 4 tasks share 2 GPUs")


def test_amd(host):
    """All four lists on AMD's GPUs: only ROCR's may stay where they would be filtered twice."""
    extra = [("device", f"dri/renderD{128 + i}") for i in range(8)] + [("device", "dri/card0"), ("device", "kfd")]
    played = host.step(FOUR, ["worker"], env=gpus("4,5,6,7"), extra=extra + bound(["4", "5", "6", "7"]))
    for task in played.all_tasks:
        assert task.env["ROCR_VISIBLE_DEVICES"] == task.env["ZE_AFFINITY_MASK"] == "4,5,6,7"
        assert "CUDA_VISIBLE_DEVICES" not in task.env and "GPU_DEVICE_ORDINAL" not in task.env
        assert task.env["LOCAL_RANK"] == str(task.local) and "CUDA_DEVICE_ORDER" not in task.env


def test_a_list_longer_than_any(host):
    devices = ",".join(f"GPU-{i:036d}" for i in range(120))
    played = host.step(TWO, ["worker"], env={"CUDA_VISIBLE_DEVICES": devices}, extra=OPEN)
    assert seen(played, ("CUDA_VISIBLE_DEVICES",)) == [("0", devices), ("1", devices)]


UUIDS = [f"GPU-{i}c6f0000-0000-4000-8000-000000000000" for i in range(4)]


def uuids(*numbers):
    return ",".join(UUIDS[i] for i in numbers)


# the list of each task, and what it sees then: cuda:LOCAL_RANK is the task's own
@pytest.mark.parametrize("lists, expected", [
    ([(0, 1, 2, 3)] * 4, [(str(i), uuids(0, 1, 2, 3)) for i in range(4)]),
    ([(3,), (1,), (0,), (2,)], [("0", uuids(3, 1, 2, 0)), ("1", uuids(0, 1, 2, 3)), ("2", uuids(2, 1, 0, 3)),
                                ("3", uuids(0, 1, 3, 2))]),
])
def test_uuids_of_slurm(host, lists, expected):
    """gres.conf's Flags=env_uuid (Slurm 26.05): UUIDs in CUDA_VISIBLE_DEVICES, indices in Slurm's own variables."""
    is_bound = len(lists[0]) == 1
    lines = [("own_env", f"{local} CUDA_VISIBLE_DEVICES={uuids(*own)}") for local, own in enumerate(lists)]
    if is_bound:
        lines += [("task_env", "SLURMD_TRES_BIND=gres/gpu:per_task:1")]
        lines += [("own_env", f"{local} SLURM_STEP_GPUS={own[0]}") for local, own in enumerate(lists)]
    step = {"CUDA_VISIBLE_DEVICES": uuids(0, 1, 2, 3), "SLURM_STEP_GPUS": "0,1,2,3", "SLURM_GPUS_ON_NODE": "4"}
    played = host.step(FOUR, ["worker"], env=step, extra=OPEN + lines)
    assert seen(played, ("CUDA_VISIBLE_DEVICES",)) == expected
