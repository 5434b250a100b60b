"""guard=nccl: what the plugin gives the tasks for it, and where it looks for it."""

import os
import re
import shutil

import pytest

from conftest import BUILD
from fake import Host, Step

EVEN = Step([[0, 1], [2, 3]])


@pytest.fixture
def installed(host, tmp_path):
    """The plugin in a tree of its own, with the guard where configure said, and that file."""
    plugins = tmp_path / "a" / "b" / "c"
    plugins.mkdir(parents=True)
    plugin = shutil.copy(host.plugin, plugins / "rollcall.so")
    with open(os.path.join(BUILD, "lib", "config.h"), encoding="ascii") as file:
        way = re.search('ROLLCALL_PRELOAD_FROM_PLUGIN "(.*)"', file.read()).group(1)
    folder = os.path.normpath(plugins.resolve() / way)
    if not folder.startswith(str(tmp_path.resolve())):
        pytest.skip("configured to lie further away than this test can follow")
    os.makedirs(folder, exist_ok=True)
    library = os.path.join(folder, "librollcall-nccl.so")
    open(library, "w", encoding="ascii").close()
    return Host(host.program, plugin, host.environment), library


def test_every_task_gets_the_library_and_its_identity(installed):
    host, library = installed
    for options, configuration, env, preloads, deadline in [
        (["guard=nccl"], [], {}, library, 10),
        (["guard=nccl,deadline=3"], [], {"LD_PRELOAD": "/lib/x.so"}, f"/lib/x.so:{library}", 3),
        ([], ["default=auto,guard=nccl"], {"LD_PRELOAD": ""}, library, 10),
        ([], [], {"ROLLCALL": "guard=nccl"}, library, 10),
    ]:
        played = host.step(EVEN, options, env=env, arguments=configuration)
        assert played.lines() == []
        assert [t.env["LD_PRELOAD"] for t in played.all_tasks] == [preloads] * 4
        assert [t.env["ROLLCALL_GUARD"] for t in played.all_tasks] == [
            f"rank={rank} size=4 node={rank // 2} nodes=2 deadline={deadline}" for rank in range(4)]


def test_with_watch_both_come(installed):
    host, library = installed
    played = host.step(EVEN, ["watch,guard=nccl"])
    assert "RC706" in played.lines()[0] and len(played.lines()) == 1
    assert [t.env["LD_PRELOAD"] for t in played.all_tasks] == [library] * 4


@pytest.mark.parametrize("options, configuration", [([""], []), (["guard=off"], ["default=guard=nccl"]),
                                                    (["off"], ["default=guard=nccl"]), ([], ["default=off,guard=nccl"])])
def test_without_guard_there_is_nothing_of_it(installed, options, configuration):
    host, _ = installed
    played = host.step(EVEN, options, arguments=configuration)
    for task in played.all_tasks:
        assert "LD_PRELOAD" not in task.env and "ROLLCALL_GUARD" not in task.env


def test_a_guard_that_is_not_installed_costs_a_line(host):
    played = host.step(EVEN, ["guard=nccl"])
    line, = played.lines()
    assert "warning RC807" in line
    assert [t.exit for t in played.all_tasks] == [0] * 4
    assert [t.env["RANK"] for t in played.all_tasks] == ["0", "1", "2", "3"]
    assert not any("LD_PRELOAD" in t.env or "ROLLCALL_GUARD" in t.env for t in played.all_tasks)
    # and of users who did not ask for it not even that
    assert host.step(EVEN, [], arguments=["default=guard=nccl"]).lines() == []
