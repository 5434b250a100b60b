# SPDX-License-Identifier: BSD-3-Clause
"""The nodes meet, by a rollcall-exchange that says what the test wants."""

import os

import pytest

from conftest import copy_plugin, make_beside
from fake import EVEN, Host, Step

SERVED = {"SLURM_ROLLCALL_SERVER": f"{'0' * 32} 60001 42.0", "SLURM_LAUNCH_NODE_IPADDR": "127.0.0.1"}
TOGETHER = [("order", "0+1")]


class Meeting(Host):
    """The plugin in a tree of its own, with a rollcall-exchange that is a script."""

    def __init__(self, host, folder):
        plugin = copy_plugin(host, folder)
        super().__init__(host.program, plugin, host.environment)
        self.exchange = os.path.join(make_beside(plugin, folder, "ROLLCALL_LIBEXEC_FROM_PLUGIN"), "rollcall-exchange")

    def plays(self, script, options=(), step=EVEN, extra=TOGETHER):
        with open(self.exchange, "w", encoding="ascii") as file:
            # the monitor is another child, whose parent is slurmstepd
            file.write(f"#!/bin/sh\n[ \"$1\" != monitor ] || exit 0\n{script}\n")
        os.chmod(self.exchange, 0o755)
        return self.step(step, options, env=SERVED, extra=extra)


@pytest.fixture
def meeting(host, tmp_path):
    return Meeting(host, tmp_path)


def test_all_tasks_take_the_port_of_the_answer(meeting):
    played = meeting.plays("printf 'answer=1\\nport=24512\\n'", ["worker,exchange=srun"])
    assert {task.env["MASTER_PORT"] for task in played.all_tasks} == {"24512"}
    assert [len(task.held_ports) for task in played.all_tasks] == [1, 0, 0, 0]
    assert played.lines() == []


def test_where_the_first_task_ends_the_others_do_not_start_with_a_port_of_their_own(meeting):
    played = meeting.plays("kill -9 $PPID", ["worker,exchange=srun"])
    assert [played.tasks[node, 0].signal for node in (0, 1)] == [9, 9]
    assert [played.tasks[node, 1].exit for node in (0, 1)] == [1, 1]
    lines = played.lines()
    assert len(lines) == 2
    for name, line in zip(EVEN.hosts, lines):
        assert line.startswith(f"rollcall: error RC613: the first task on {name}, which requests MASTER_PORT from the "
                               "other nodes, has ended; nothing was set for the other tasks")


@pytest.mark.parametrize("nodes, printing", [(8, 8), (9, 8), (12, 8)])
def test_rc611_of_nodes_that_cannot_reach_srun_is_printed_by_eight(meeting, nodes, printing):
    played = meeting.plays("echo failed=nothing gets through", ["worker,exchange=srun"],
                           Step([[rank] for rank in range(nodes)]), [])
    words = "rollcall: warning RC611: the nodes could not reach each other: nothing gets through; continuing: "
    lines = played.lines()
    assert [line.startswith(f"{words}n{i + 1} uses a computed") for i, line in enumerate(lines)] == [True] * printing
    assert [line.endswith("; after 8 nodes only slurmd's log has this line") for line in lines] == \
        [False] + [nodes > 8] * (printing - 1)
    assert [line[:len(words)] for line in played.lines("info")] == [words] * (nodes - printing)
