# SPDX-License-Identifier: BSD-3-Clause
"""watch and lookup=numeric: what the plugin gives the tasks for them, and where it looks for it."""

import os

import pytest

from conftest import copy_plugin, make_beside
from fake import EVEN, SPECIAL_STEPS, Host, Step


def install_beside(host, tmp_path, way, name):
    """A plugin in a tree of its own, and the folder with an empty file where config.h's `way` leads from it."""
    plugin = copy_plugin(host, tmp_path)
    folder = make_beside(plugin, tmp_path, way)
    open(os.path.join(folder, name), "w", encoding="ascii").close()
    return Host(host.program, plugin, host.environment), folder


@pytest.fixture
def installed(host, tmp_path):
    """With the watch, and its folder."""
    return install_beside(host, tmp_path, "ROLLCALL_WATCH_FROM_PLUGIN", "rollcall_watch.py")


@pytest.fixture
def preloading(host, tmp_path):
    """With the library of lookup=numeric, and its file."""
    host, folder = install_beside(host, tmp_path, "ROLLCALL_PRELOAD_FROM_PLUGIN", "librollcall-lookup.so")
    return host, os.path.join(folder, "librollcall-lookup.so")


@pytest.mark.parametrize("option, variables", [("watch", {"PYTHONPATH", "ROLLCALL_IDENTITY"}),
                                               ("lookup=numeric", {"LD_PRELOAD"})])
def test_what_is_not_installed_costs_a_line(host, option, variables):
    """Whoever asked for it is told so, and the step runs without."""
    played = host.step(EVEN, [option])
    line, = played.lines()
    assert "warning RC505" in line
    assert [t.exit for t in played.all_tasks] == [0] * 4
    assert [t.env["RANK"] for t in played.all_tasks] == ["0", "1", "2", "3"]
    assert not any(variables & t.env.keys() for t in played.all_tasks)


@pytest.mark.parametrize("options, configuration, env", [(["lookup=numeric"], [], {}),
                                                         ([""], ["lookup=numeric"], {}),
                                                         ([], [], {"ROLLCALL": "lookup=numeric"})])
def test_every_task_gets_the_library(preloading, options, configuration, env):
    host, library = preloading
    played = host.step(EVEN, options, env=env, arguments=configuration)
    assert played.lines() == []
    assert [t.env.get("LD_PRELOAD") for t in played.all_tasks] == [library] * 4


def test_in_launcher_mode_too(preloading):
    host, library = preloading
    played = host.step(Step([[0], [1]]), ["launcher,lookup=numeric"], env={"LD_PRELOAD": "/lib/x.so"})
    assert [t.env["LD_PRELOAD"] for t in played.all_tasks] == [f"/lib/x.so:{library}"] * 2


@pytest.mark.parametrize("options", ["", "lookup=off", "off,lookup=numeric"])
def test_nobody_does_without_it(preloading, options):
    assert not any("LD_PRELOAD" in t.env for t in preloading[0].step(EVEN, [options]).all_tasks)


def test_every_task_gets_the_folder_and_its_identity(installed):
    host, folder = installed
    for options, configuration, env, path in [
        (["watch"], [], {}, folder),
        (["watch=on"], [], {"PYTHONPATH": "/a::/b"}, f"/a::/b:{folder}"),
        ([""], ["watch"], {"PYTHONPATH": ""}, folder),
        ([], [], {"ROLLCALL": "watch"}, folder),
    ]:
        played = host.step(EVEN, options, env=env, arguments=configuration)
        assert played.lines() == []
        assert [t.env["PYTHONPATH"] for t in played.all_tasks] == [path] * 4
        assert [t.env["ROLLCALL_IDENTITY"] for t in played.all_tasks] == [
            f"rank={rank} size=4 node={rank // 2} nodes=2 "
            f"master={t.env['MASTER_ADDR']}:{t.env['MASTER_PORT']}" for rank, t in enumerate(played.all_tasks)]


@pytest.mark.parametrize("options, configuration", [([""], []), (["worker"], []), (["watch=off"], ["watch"]),
                                                    (["off"], ["watch"]), ([], ["watch"])])
def test_without_watch_there_is_nothing_of_it(installed, options, configuration):
    host, _ = installed
    played = host.step(EVEN, options, arguments=configuration)
    for task in played.all_tasks:
        assert "PYTHONPATH" not in task.env and "ROLLCALL_IDENTITY" not in task.env


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
    for options, configuration, changed in [(["off"], [], {}), (["watch=off"], [], {}), ([], ["watch"], {}),
                                            ([""], [], {"SLURM_NTASKS": "1"})]:
        other = host.step(step, options, configuration, {**env, **changed}).all_tasks[0].env
        assert other["PYTHONPATH"] == "/mine" and "ROLLCALL_IDENTITY" not in other
