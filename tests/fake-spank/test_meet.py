# SPDX-License-Identifier: BSD-3-Clause
"""The nodes meet, at a server that says what the test wants."""

import contextlib
import os
import socket
import threading

import pytest

from conftest import copy_plugin, make_beside
from fake import EVEN, Host, Step

TOKEN = "0" * 32
TOGETHER = ("order", "0+1")


def server_at(port):
    return {"SLURM_ROLLCALL_SERVER": f"{TOKEN} {port} 42.0", "SLURM_LAUNCH_NODE_IPADDR": "127.0.0.1"}


def serve(listener, answer):
    with contextlib.suppress(OSError):  # it has been closed
        while True:
            with listener.accept()[0] as caller, caller.makefile("rb") as file:
                file.read(int(file.readline().split()[-1]))
                caller.sendall(f"rollcall 1 {TOKEN} {len(answer)}\n{answer}".encode())


@contextlib.contextmanager
def answering(answer):
    """The variables of a server that replies so to each node."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=serve, args=(listener, answer))
        thread.start()
        yield server_at(listener.getsockname()[1])
        listener.shutdown(socket.SHUT_RDWR)
        thread.join()


def test_all_tasks_take_the_port_of_the_answer(host):
    with answering("answer=1\nport=24512\n") as env:
        played = host.step(EVEN, ["worker,exchange=srun"], env=env, extra=[TOGETHER, ("same_network", 1)])
    assert {task.env["MASTER_PORT"] for task in played.all_tasks} == {"24512"}
    assert [len(task.held_ports) for task in played.all_tasks] == [1, 0, 0, 0]
    assert played.lines() == []


def test_where_the_first_task_ends_the_others_do_not_start_with_a_port_of_their_own(host, tmp_path):
    plugin = copy_plugin(host, tmp_path)
    exchange = os.path.join(make_beside(plugin, tmp_path, "ROLLCALL_LIBEXEC_FROM_PLUGIN"), "rollcall-exchange")
    with open(exchange, "w", encoding="ascii") as file:
        # the monitor is another child, whose parent is slurmstepd
        file.write("#!/bin/sh\n[ \"$1\" = monitor ] || kill -9 $PPID\n")
    os.chmod(exchange, 0o755)
    played = Host(host.program, plugin, host.environment).step(EVEN, ["worker,exchange=srun"], env=server_at(60001),
                                                               extra=[TOGETHER])
    assert [played.tasks[node, 0].signal for node in (0, 1)] == [9, 9]
    assert [played.tasks[node, 1].exit for node in (0, 1)] == [1, 1]
    lines = played.lines()
    assert len(lines) == 2
    for name, line in zip(EVEN.hosts, lines):
        assert line.startswith(f"rollcall: error RC613: the first task on {name}, which requests MASTER_PORT from the "
                               "other nodes, has ended; nothing was set for the other tasks")


@pytest.mark.parametrize("nodes", [8, 10])
def test_rc611_of_nodes_that_cannot_reach_srun_is_printed_by_eight(host, nodes):
    # nobody listens there
    played = host.step(Step([[rank] for rank in range(nodes)]), ["worker,exchange=srun"], env=server_at(60001))
    words = "rollcall: warning RC611: the nodes could not reach each other: Connection refused; continuing: "
    lines = played.lines()
    assert [line.startswith(f"{words}n{i + 1} uses a computed") for i, line in enumerate(lines)] == [True] * 8
    assert [line.endswith("; after 8 nodes only slurmd's log has this line") for line in lines] == \
        [False] + [nodes > 8] * 7
    assert [line[:len(words)] for line in played.lines("info")] == [words] * (nodes - 8)
