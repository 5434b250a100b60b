# SPDX-License-Identifier: BSD-3-Clause
"""guard=nccl: what the plugin gives the tasks for it, and where it looks for it."""

import os

import pytest

from conftest import install_beside, missing_costs_a_line
from fake import Step

EVEN = Step([[0, 1], [2, 3]])


@pytest.fixture
def installed(host, tmp_path):
    """The plugin in a tree of its own, with the guard where configure said, and that file."""
    host, folder = install_beside(host, tmp_path, "ROLLCALL_PRELOAD_FROM_PLUGIN", "librollcall-nccl.so")
    return host, os.path.join(folder, "librollcall-nccl.so")


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
    missing_costs_a_line(host, EVEN, "guard=nccl", "RC807", "LD_PRELOAD", "ROLLCALL_GUARD")
