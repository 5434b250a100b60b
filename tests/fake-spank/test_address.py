# SPDX-License-Identifier: BSD-3-Clause
"""Which address the tasks get, and what the plugin asks the node's resolver for it."""

import re

import pytest

from fake import Step

EVEN = Step([[0, 1, 2], [3, 4, 5]])


def names(*known):
    return [("name", name) for name in known]


def lookups(played):
    return [e["name"] for e in played.events if e["event"] == "lookup"]


def addresses(played):
    return [task.env.get("MASTER_ADDR") if task.exit == 0 else None for task in played.all_tasks]


def test_the_name_is_asked_for_once_a_node(host):
    played = host.step(EVEN, ["worker"], extra=names("n1=192.0.2.1"))
    assert lookups(played) == ["n1", "n1"]
    assert addresses(played) == ["n1"] * 6 and played.lines() == []


def test_a_name_that_does_not_resolve_ends_every_task_with_one_line_a_node(host):
    played = host.step(EVEN, ["worker"], extra=names("n2=192.0.2.2"))
    assert [task.exit for task in played.all_tasks] == [1] * 6
    first, second = played.lines()
    assert first == second
    assert first.startswith("rollcall: error RC408: ") and "cannot resolve MASTER_ADDR n1 (" in first
    assert lookups(played) == ["n1", "n1"]
    # srun may end the step with the first of them: time for the line, and more for those without one
    assert sorted(e["rc"] for e in played.events if e["event"] == "pause") == [200] * 2 + [500] * 4


def test_several_nodes_on_one_machine_may_meet_at_loopback(host):
    played = host.step(EVEN, ["worker"], extra=names("n1=127.0.0.1"))
    assert addresses(played) == ["n1"] * 6 and played.lines() == []


def test_no_name_server_answers_one_error_a_node(host):
    played = host.step(EVEN, ["worker"], extra=names("silent"))
    assert set(lookups(played)) == {"n1"} and len(lookups(played)) > 2
    assert [task.exit for task in played.all_tasks] == [1] * 6
    assert len(played.lines()) == 2
    for line in played.lines():
        assert line.startswith("rollcall: error RC424: ") and "because no name server answers; nothing was set" in line


def test_a_slow_resolver_is_named_once_a_node(host):
    played = host.step(Step([[0, 1], [2, 3]]), ["worker"], extra=names("n1=192.0.2.1") + [("lookup_ms", "3200")])
    assert lookups(played) == ["n1", "n1"] and addresses(played) == ["n1"] * 4
    for line in played.lines():
        assert line.startswith("rollcall: warning RC418: the resolver of ")
        assert re.search(r" took ([3-9]|[1-5][0-9]) s for MASTER_ADDR n1 \(", line)
    assert len(played.lines()) == 2


def test_the_user_s_own_address_is_looked_up_as_well(host):
    users = {"MASTER_ADDR": "store.example.org"}
    played = host.step(EVEN, ["worker"], env=users, extra=names("store.example.org=127.0.0.1"))
    assert addresses(played) == ["store.example.org"] * 6 and played.lines() == []
    played = host.step(EVEN, ["worker"], env=users, extra=names("n1=192.0.2.1"))
    assert [task.exit for task in played.all_tasks] == [1] * 6
    line, again = played.lines()
    assert "RC408" in line and line.endswith("or unset it (rollcall explain RC408)") and again == line
    # an older job's node, which still is there
    played = host.step(EVEN, ["worker"], env=users, extra=names("store.example.org=192.0.2.9"))
    assert played.all_tasks[0].exit == 1
    assert "RC407" in played.lines()[0] and "; unset it, or " in played.lines()[0]


def test_a_job_on_one_node_needs_no_name(host):
    step = Step([[0, 1]])
    played = host.step(step, ["worker"], extra=names("n2=192.0.2.2"))
    assert addresses(played) == ["127.0.0.1"] * 2 and played.lines() == []
    played = host.step(step, ["worker"], extra=names("n1=192.0.2.1"))
    assert addresses(played) == ["n1"] * 2
    # nobody else has to reach it
    played = host.step(step, ["worker,addr=-ib"], extra=names("n1=192.0.2.1"))
    assert addresses(played) == ["n1"] * 2 and lookups(played) == ["n1"]


@pytest.mark.parametrize("given", ["--ddp", "ROLLCALL", "plugstack.conf"])
def test_a_suffix_from_any_of_the_three_sources(host, given):
    where = {
        "--ddp": {"options": ["worker,addr=-ib"]},
        "ROLLCALL": {"options": ["worker"], "env": {"ROLLCALL": "addr=-ib"}},
        "plugstack.conf": {"options": ["worker"], "arguments": ["addr=-ib"]},
    }[given]
    played = host.step(EVEN, extra=names("n1=192.0.2.1", "n1-ib=198.51.100.1"), **where)
    # rank 0 is not at that address here, and says so; the others have it
    assert addresses(played) == [None] + ["n1-ib"] * 5
    line, = played.lines()
    assert line.startswith("rollcall: error RC407: this is rank 0, but MASTER_ADDR n1-ib (addr=-ib, of ")


def test_all_nodes_choose_the_lowest_address_in_the_network(host):
    known = names("n1=192.0.2.1", "n1=198.51.100.9", "n1=198.51.100.7", "n1=2001:db8::7")
    played = host.step(EVEN, ["worker,addr=198.51.100.0/24"], extra=known)
    assert addresses(played) == [None] + ["198.51.100.7"] * 5
    played = host.step(EVEN, ["worker,addr=203.0.113.0/24"], extra=known)
    assert addresses(played) == [None] * 6
    line, again = played.lines()
    assert "RC410: addr=203.0.113.0/24 fits no address of rank 0's node: " in line and again == line
    assert "192.0.2.1, 198.51.100.9, 198.51.100.7, 2001:db8::7" in line
