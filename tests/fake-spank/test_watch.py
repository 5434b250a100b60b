# SPDX-License-Identifier: BSD-3-Clause
"""watch: what the plugin gives the tasks for it, and where it looks for it."""

import pytest

from conftest import install_beside, missing_costs_a_line
from fake import EVEN, SPECIAL_STEPS, Step


@pytest.fixture
def installed(host, tmp_path):
    """The plugin in a tree of its own, with the watch where configure said, and that folder."""
    return install_beside(host, tmp_path, "ROLLCALL_WATCH_FROM_PLUGIN", "rollcall_watch.py")


def test_every_task_gets_the_folder_and_its_identity(installed):
    host, folder = installed
    for options, configuration, env, path in [
        (["watch"], [], {}, folder),
        (["watch=on"], [], {"PYTHONPATH": "/a::/b"}, f"/a::/b:{folder}"),
        ([], ["default=auto,watch"], {"PYTHONPATH": ""}, folder),
        ([], [], {"ROLLCALL": "watch"}, folder),
    ]:
        played = host.step(EVEN, options, env=env, arguments=configuration)
        assert played.lines() == []
        assert [t.env["PYTHONPATH"] for t in played.all_tasks] == [path] * 4
        assert [t.env["ROLLCALL_IDENTITY"] for t in played.all_tasks] == [
            f"rank={rank} size=4 node={rank // 2} nodes=2" for rank in range(4)]


@pytest.mark.parametrize("options, configuration", [([""], []), (["worker"], []), (["watch=off"], ["default=watch"]),
                                                    (["off"], ["default=watch"]), ([], ["default=off,watch"])])
def test_without_watch_there_is_nothing_of_it(installed, options, configuration):
    host, _ = installed
    played = host.step(EVEN, options, arguments=configuration)
    for task in played.all_tasks:
        assert "PYTHONPATH" not in task.env and "ROLLCALL_IDENTITY" not in task.env


def test_a_watch_that_is_not_installed_costs_a_line(host):
    missing_costs_a_line(host, "watch", "RC505", "PYTHONPATH", "ROLLCALL_IDENTITY")


def test_torch_that_loads_nothing_costs_a_line(installed):
    host, _ = installed
    played = host.step(EVEN, ["watch"], env={"TORCH_DEVICE_BACKEND_AUTOLOAD": "0"})
    line, = played.lines()
    assert "warning RC705" in line
    assert not any("PYTHONPATH" in t.env or "ROLLCALL_IDENTITY" in t.env for t in played.all_tasks)


def test_batch_script_of_several_tasks(installed):
    """Torch can say there that srun was forgotten; the steps of the script are not told so, nor other users' scripts."""
    host, folder = installed
    step = Step([[0]], job=7, step=SPECIAL_STEPS["batch"])
    env = {"SLURM_STEP_ID": None, "SLURM_NTASKS": "4", "PYTHONPATH": "/mine"}
    script = host.step(step, [""], env=env).all_tasks[0].env
    assert script["PYTHONPATH"] == f"/mine:{folder}"
    assert script["ROLLCALL_IDENTITY"] == "script=7 tasks=4"
    assert "RANK" not in script
    inside = {name: script[name] for name in ("PYTHONPATH", "ROLLCALL_IDENTITY")}
    assert "ROLLCALL_IDENTITY" not in host.step(EVEN, [""], env=inside).all_tasks[0].env
    for options, configuration, changed in [(["off"], [], {}), (["watch=off"], [], {}), ([], ["default=worker"], {}),
                                            ([""], [], {"SLURM_NTASKS": "1"})]:
        other = host.step(step, options, configuration, {**env, **changed}).all_tasks[0].env
        assert other["PYTHONPATH"] == "/mine" and "ROLLCALL_IDENTITY" not in other
