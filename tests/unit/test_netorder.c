/* SPDX-License-Identifier: BSD-3-Clause */
/* The order of the network: the same for all, whatever order the entries come in. */
#include "roll/netorder.h"
#include "unit.h"

enum { NODES_MAX = 6, ROOM = 1024 };

struct row {
    const char *place[NODES_MAX]; /* of node ranks 0, 1, ...; one task each, but two on node 0 */
    struct rc_str input;          /* the order; absent: there is none */
    const char *why;
};

static const struct row rows[] = {
    { { "top.s1 a", "top.s1 b" }, TEXT("0x2,1"), "one switch: the launcher's order" },
    { { "top.s2 a", "top.s2 b", "top.s1 c", "top.s1 d" }, TEXT("2-3,0x2,1"), "the second switch first" },
    { { "s2 a", "s1 b", "s2 c", "s1 d" }, TEXT("1,3,0x2,2"), "interleaved" },
    { { "s10 a", "s2 b", "s9 c" }, TEXT("1-2,0x2"), "numbers as numbers" },
    { { "s02 a", "s2 b", "s02 c" }, TEXT("0x2,2,1"), "equal numbers of another length stay together" },
    { { "b a", "a.z b", "a c" }, TEXT("2,1,0x2"), "the shorter name first" },
    { { "r1.s9 a", "r1.s10 b", "r0.s11 c" }, TEXT("2,0x2,1"), "the higher switch counts first" },
    { { "s99999999999999999999 a", "s99999999999999999998 b" }, TEXT("1,0x2"), "numbers that no type holds" },
    { { "- a", "s1 b" }, NO_TEXT, "a node in no switch" },
    { { "- a", "- b" }, NO_TEXT, "no switches" },
    { { "s1 a", "" }, NO_TEXT, "a node that was not asked" },
};

static size_t fill_in(const struct row *row, struct rc_roll *rolls)
{
    size_t count = 0;

    while (count < NODES_MAX && row->place[count])
        count++;
    for (size_t i = 0; i < count; i++) {
        /* as they may come: the last node first */
        rolls[count - 1 - i] = (struct rc_roll){
            .scope = RC_STR("slurm:1.0"),
            .node = (uint32_t)i,
            .nodes = (uint32_t)count,
            .tasks = i == 0 ? RC_STR("0-1") : RC_STR("7"),
            .place = row->place[i][0] ? rc_str(row->place[i]) : RC_ABSENT,
        };
    }
    return count;
}

UNIT_ROWS(sorts, "order:", rows)
{
    UNIT_ARENA(arena, ROOM);
    struct rc_roll rolls[NODES_MAX];
    size_t count = fill_in(row, rolls);
    const char *order = NULL;
    const char *why = rc_netorder_sort(rolls, count, true, &order, &arena);
    uint32_t tasks = 0;

    assert_int_equal(why == NULL, row->input.p != NULL);
    assert_non_null(rc_netorder_sort(rolls, count, false, &order, &arena));
    if (why) {
        assert_int_equal(rolls[0].node, 0);
        return;
    }
    assert_true(rc_str_eq(rc_str(order), row->input));
    rc_netorder_sort(rolls, count, true, &order, &arena);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t place, before;

        assert_true(rc_netorder_find(rc_str(order), rolls[i].node, &place, &before));
        assert_int_equal(place, i);
        assert_int_equal(before, tasks);
        tasks += rc_netorder_tasks(&rolls[i]);
    }
}

static const struct unit_text no_orders[] = {
    { NO_TEXT, "nothing" },
    { TEXT(""), "an empty text" },
    { TEXT("0-1x,3"), "no number of tasks" },
    { TEXT("0-1x0,3"), "no task" },
    { TEXT("0-1x4,9x4"), "another node" },
    { TEXT("9x4,"), "a comma at the end" },
    { TEXT("1-0x4"), "a range that falls" },
    { TEXT("0-1x16777217,3"), "more tasks than there can be" },
    { TEXT("0-1x16777216,3"), "more tasks than there can be, in all" },
};

UNIT_ROWS(finds_nothing, "no order:", no_orders)
{
    uint32_t place = 5, before = 6;

    assert_false(rc_netorder_find(unit_guard(row->input), 3, &place, &before));
    assert_int_equal(place, 5);
    assert_int_equal(before, 6);
}

static const struct {
    const char *env[3];
    struct rc_str input; /* the place */
    const char *why;
} addresses[] = {
    { { "SLURM_TOPOLOGY_ADDR=top.s1.n3", "SLURM_TOPOLOGY_ADDR_PATTERN=switch.switch.node" },
      TEXT("top.s1 n3"),
      "a tree" },
    { { "SLURM_TOPOLOGY_ADDR=b1.n3", "SLURM_TOPOLOGY_ADDR_PATTERN=block.node" }, TEXT("b1 n3"), "a block" },
    { { "SLURM_TOPOLOGY_ADDR=b1.n3.site", "SLURM_TOPOLOGY_ADDR_PATTERN=block.node" }, TEXT("b1 n3.site"), "a domain" },
    { { "SLURM_TOPOLOGY_ADDR=n3", "SLURM_TOPOLOGY_ADDR_PATTERN=node" }, TEXT("- n3"), "no topology" },
    { { "SLURM_TOPOLOGY_ADDR=..n3", "SLURM_TOPOLOGY_ADDR_PATTERN=switch.switch.node" }, TEXT("- n3"), "in no switch" },
    { { NULL }, TEXT("- host"), "Slurm says nothing" },
};

UNIT_ROWS(says_its_place, "place:", addresses)
{
    static struct rc_env env;
    UNIT_ARENA(arena, ROOM);
    struct rc_str place;

    rc_env_index(&env, row->env);
    place = rc_netorder_place(&env, RC_STR("host"), &arena);
    assert_true(rc_str_eq(place, row->input));
}
