/* SPDX-License-Identifier: BSD-3-Clause */
/* Tasks per node: Slurm's "2(x3),1", and everything that only looks like it. */
#include "launcher/layout.h"
#include "unit.h"

struct row {
    struct rc_str input;
    uint32_t nodes;
    uint32_t tasks;
    uint32_t smallest;
    uint32_t largest;
    const char *why;
};

static const struct row taken[] = {
    { TEXT("1"), 1, 1, 1, 1, "one task on one node" },
    { TEXT("2(x3)"), 3, 6, 2, 2, "three nodes alike" },
    { TEXT("2,1"), 2, 3, 1, 2, "what srun -N2 -n3 gives" },
    { TEXT("2(x3),1"), 4, 7, 1, 2, "a rest on the last node" },
    { TEXT("1,2(x2),3"), 4, 8, 1, 3, "a run in the middle" },
    { TEXT("1(x65533)"), 65533, 65533, 1, 1, "a large job" },
    { TEXT("16777216"), 1, RC_MAX_TASKS, RC_MAX_TASKS, RC_MAX_TASKS, "as many tasks as are believed" },
    { TEXT("1(x16777216)"), RC_MAX_TASKS, RC_MAX_TASKS, 1, 1, "as many nodes as are believed" },
    { TEXT("16777215,1"), 2, RC_MAX_TASKS, 1, 16777215, "the sum just fits" },
};

static const struct unit_text refused[] = {
    { NO_TEXT, "unset" },
    { TEXT(""), "empty" },
    { TEXT(",2"), "comma before" },
    { TEXT("2,,3"), "two commas" },
    { TEXT("0"), "a node without a task is no node of the step" },
    { TEXT("2,0"), "the second node without a task" },
    { TEXT("2(x)"), "no repeat" },
    { TEXT("2(3)"), "no x" },
    { TEXT("2(x18446744073709551617)"), "repeat that wraps to 1 in 64 bit" },
    { TEXT("65536(x65536)"), "product that wraps to 0 in 32 bit" },
    { TEXT("16777217"), "more tasks than are believed" },
    { TEXT("1(x16777217)"), "more nodes than are believed" },
    { TEXT("16777216,1"), "the sum is too large" },
    { TEXT("16777216(x16777216),1"), "the product is too large" },
};

UNIT_ROWS(takes, "tasklist takes", taken)
{
    struct rc_tasklist list;

    assert_true(rc_tasklist_parse(unit_guard(row->input), &list));
    assert_int_equal(list.nodes, row->nodes);
    assert_int_equal(list.tasks, row->tasks);
    assert_int_equal(list.smallest, row->smallest);
    assert_int_equal(list.largest, row->largest);
}

UNIT_ROWS(refuses, "tasklist refuses", refused)
{
    struct rc_tasklist list, before;

    memset(&list, 0x5a, sizeof(list));
    memcpy(&before, &list, sizeof(list));
    assert_false(rc_tasklist_parse(unit_guard(row->input), &list));
    assert_memory_equal(&list, &before, sizeof(list));
}

static bool is_taken(struct rc_str text)
{
    struct rc_tasklist list;

    return rc_tasklist_parse(text, &list);
}

/* Signs, blanks, zeros in front, ends of lines, other brackets, digits of other scripts, and what a shell reads. */
UNIT_TEST(refuses_other_bytes, "a byte that is not of the grammar is refused, wherever it is")
{
    unit_refuses_bytes(is_taken, "?", "123456789");
    unit_refuses_bytes(is_taken, "?2", "123456789");
    unit_refuses_bytes(is_taken, "?(x3)", "123456789");
    unit_refuses_bytes(is_taken, "2?3", UNIT_DIGITS ",");
    unit_refuses_bytes(is_taken, "2?x3)", "(");
    unit_refuses_bytes(is_taken, "2(?3)", "x");
    unit_refuses_bytes(is_taken, "2(x?)", "123456789");
    unit_refuses_bytes(is_taken, "2(x?3)", "123456789");
    unit_refuses_bytes(is_taken, "2(x3?", ")");
    unit_refuses_bytes(is_taken, "2(x3)?", "");
    unit_refuses_bytes(is_taken, "2(x3)?1", ",");
    unit_refuses_bytes(is_taken, "2(x3),?1", "123456789");
}

/* One node of a list. */
static const struct {
    struct rc_str input;
    uint32_t node;
    uint32_t at;
    uint32_t before;
    const char *why;
} nodes[] = {
    { TEXT("4"), 0, 4, 0, "the only node" },
    { TEXT("2,1"), 2, 0, 3, "after the last" },
    { TEXT("2(x3),1"), 2, 2, 4, "last of a run" },
    { TEXT("2(x3),1"), 3, 1, 6, "after a run" },
    { TEXT("1,2(x2),3"), 3, 3, 5, "after the run" },
    { TEXT("1(x65533)"), 65532, 1, 65532, "last of a large job" },
    { TEXT("128(x100000)"), 99999, 128, 12799872, "last of 100,000 nodes" },
    { TEXT("2(x3)"), RC_UNKNOWN, 0, 6, "an unknown node" },
};

UNIT_ROWS(finds_node, "tasklist finds a node of", nodes)
{
    struct rc_tasklist list;
    uint32_t before = RC_UNKNOWN;

    assert_true(rc_tasklist_parse(unit_guard(row->input), &list));
    assert_int_equal(rc_tasklist_at(&list, row->node, &before), row->at);
    assert_int_equal(before, row->before);
}

/* What is before the next node is what was before this one plus this one. */
UNIT_TEST(adds_up, "tasks before a node are the sum of those on the nodes before")
{
    struct rc_tasklist list;
    uint32_t sum = 0;

    assert_true(rc_tasklist_parse(rc_str("3,1(x7),2(x100),9,1(x1000),4"), &list));
    for (uint32_t node = 0; node < list.nodes; node++) {
        uint32_t before;
        uint32_t at = rc_tasklist_at(&list, node, &before);

        assert_int_equal(before, sum);
        sum += at;
    }
    assert_int_equal(sum, list.tasks);
}
