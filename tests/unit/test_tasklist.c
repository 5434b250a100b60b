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
    { TEXT("4"), 1, 4, 4, 4, "one node" },
    { TEXT("10"), 1, 10, 10, 10, "two digits" },
    { TEXT("2(x3)"), 3, 6, 2, 2, "three nodes alike" },
    { TEXT("2(x1)"), 1, 2, 2, 2, "a repeat of one" },
    { TEXT("2(x10)"), 10, 20, 2, 2, "a repeat of two digits" },
    { TEXT("2,1"), 2, 3, 1, 2, "what srun -N2 -n3 gives" },
    { TEXT("1,2"), 2, 3, 1, 2, "fewer tasks first" },
    { TEXT("3,3"), 2, 6, 3, 3, "alike, not folded" },
    { TEXT("2(x3),1"), 4, 7, 1, 2, "a rest on the last node" },
    { TEXT("1,2(x2),3"), 4, 8, 1, 3, "a run in the middle" },
    { TEXT("8(x2),4(x2),8"), 5, 32, 4, 8, "the same count twice" },
    { TEXT("1024"), 1, 1024, 1024, 1024, "a large node" },
    { TEXT("1(x65533)"), 65533, 65533, 1, 1, "a large job" },
    { TEXT("128(x100000)"), 100000, 12800000, 128, 128, "a larger job than there is" },
    { TEXT("16777216"), 1, RC_MAX_TASKS, RC_MAX_TASKS, RC_MAX_TASKS, "as many tasks as are believed" },
    { TEXT("1(x16777216)"), RC_MAX_TASKS, RC_MAX_TASKS, 1, 1, "as many nodes as are believed" },
    { TEXT("16777215,1"), 2, RC_MAX_TASKS, 1, 16777215, "the sum just fits" },
};

static const struct row refused[] = {
    { NO_TEXT, 0, 0, 0, 0, "unset" },
    { TEXT(""), 0, 0, 0, 0, "empty" },
    { TEXT(" "), 0, 0, 0, 0, "a blank" },
    { TEXT(","), 0, 0, 0, 0, "only a comma" },
    { TEXT("2,"), 0, 0, 0, 0, "comma behind" },
    { TEXT(",2"), 0, 0, 0, 0, "comma before" },
    { TEXT("2,,3"), 0, 0, 0, 0, "two commas" },
    { TEXT("2(x3),"), 0, 0, 0, 0, "comma behind a run" },
    { TEXT("-1"), 0, 0, 0, 0, "negative" },
    { TEXT("+2"), 0, 0, 0, 0, "plus sign" },
    { TEXT("0"), 0, 0, 0, 0, "a node without a task is no node of the step" },
    { TEXT("00"), 0, 0, 0, 0, "two zeros" },
    { TEXT("02"), 0, 0, 0, 0, "leading zero" },
    { TEXT("2,0"), 0, 0, 0, 0, "the second node without a task" },
    { TEXT("0(x3)"), 0, 0, 0, 0, "three nodes without a task" },
    { TEXT("2(x0)"), 0, 0, 0, 0, "no node" },
    { TEXT("2(x)"), 0, 0, 0, 0, "no repeat" },
    { TEXT("2()"), 0, 0, 0, 0, "nothing in the brackets" },
    { TEXT("2("), 0, 0, 0, 0, "open bracket" },
    { TEXT("2(x"), 0, 0, 0, 0, "open bracket with x" },
    { TEXT("2(x3"), 0, 0, 0, 0, "not closed" },
    { TEXT("2(x3,1"), 0, 0, 0, 0, "not closed before a comma" },
    { TEXT("2x3)"), 0, 0, 0, 0, "not opened" },
    { TEXT("2)"), 0, 0, 0, 0, "closed without being opened" },
    { TEXT("2(3)"), 0, 0, 0, 0, "no x" },
    { TEXT("2(xx3)"), 0, 0, 0, 0, "two x" },
    { TEXT("2(X3)"), 0, 0, 0, 0, "capital X" },
    { TEXT("2[x3]"), 0, 0, 0, 0, "other brackets" },
    { TEXT("2*3"), 0, 0, 0, 0, "another way to multiply" },
    { TEXT("2x3"), 0, 0, 0, 0, "no brackets" },
    { TEXT("2(x-1)"), 0, 0, 0, 0, "negative repeat" },
    { TEXT("2(x+3)"), 0, 0, 0, 0, "repeat with a plus sign" },
    { TEXT("2(x03)"), 0, 0, 0, 0, "repeat with a leading zero" },
    { TEXT("2 (x3)"), 0, 0, 0, 0, "blank before the bracket" },
    { TEXT("2(x 3)"), 0, 0, 0, 0, "blank in the bracket" },
    { TEXT("2(x3) "), 0, 0, 0, 0, "blank behind" },
    { TEXT(" 2(x3)"), 0, 0, 0, 0, "blank before" },
    { TEXT("2(x3), 1"), 0, 0, 0, 0, "blank behind a comma" },
    { TEXT("2;1"), 0, 0, 0, 0, "semicolon" },
    { TEXT("2(x3)(x2)"), 0, 0, 0, 0, "two repeats" },
    { TEXT("2(x3)1"), 0, 0, 0, 0, "no comma behind a run" },
    { TEXT("(x2)"), 0, 0, 0, 0, "no count" },
    { TEXT("2(x3.5)"), 0, 0, 0, 0, "fraction" },
    { TEXT("2(x99999999999)"), 0, 0, 0, 0, "repeat above 32 bit" },
    { TEXT("2(x4294967297)"), 0, 0, 0, 0, "repeat that wraps to 1" },
    { TEXT("2(x18446744073709551617)"), 0, 0, 0, 0, "repeat that wraps to 1 in 64 bit" },
    { TEXT("99999999999999999999"), 0, 0, 0, 0, "count above 64 bit" },
    { TEXT("4294967297"), 0, 0, 0, 0, "count that wraps to 1" },
    { TEXT("4294967295(x4294967295)"), 0, 0, 0, 0, "product near 64 bit" },
    { TEXT("65535(x65535)"), 0, 0, 0, 0, "product near 32 bit" },
    { TEXT("65536(x65536)"), 0, 0, 0, 0, "product that wraps to 0 in 32 bit" },
    { TEXT("16777217"), 0, 0, 0, 0, "more tasks than are believed" },
    { TEXT("1(x16777217)"), 0, 0, 0, 0, "more nodes than are believed" },
    { TEXT("16777216,1"), 0, 0, 0, 0, "the sum is too large" },
    { TEXT("16777216(x16777216),1"), 0, 0, 0, 0, "the product is too large" },
    { TEXT("0x10"), 0, 0, 0, 0, "hexadecimal" },
    { TEXT("1e3"), 0, 0, 0, 0, "exponent" },
    { TEXT("\xd9\xa3(x\xd9\xa2)"), 0, 0, 0, 0, "Arabic digits" },
    { TEXT("\xef\xbc\x92(x\xef\xbc\x93)"), 0, 0, 0, 0, "full-width digits" },
    { TEXT("2(x3)\n"), 0, 0, 0, 0, "newline behind" },
    { TEXT("2(x3)\r"), 0, 0, 0, 0, "a Windows line end" },
    { TEXT("2(x3)\0"), 0, 0, 0, 0, "NUL behind" },
    { TEXT("2\0(x3)"), 0, 0, 0, 0, "NUL in the middle" },
    { TEXT("2(x3);id"), 0, 0, 0, 0, "shell separator" },
    { TEXT("2(x3)$(id)"), 0, 0, 0, 0, "shell substitution" },
    { TEXT("'2(x3)'"), 0, 0, 0, 0, "quoted" },
    { TEXT("n[1-3]"), 0, 0, 0, 0, "a host list" },
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

/* One node of a list. */
static const struct {
    struct rc_str input;
    uint32_t node;
    uint32_t at;
    uint32_t before;
    const char *why;
} nodes[] = {
    { TEXT("4"), 0, 4, 0, "the only node" },
    { TEXT("4"), 1, 0, 4, "behind the only node" },
    { TEXT("2,1"), 0, 2, 0, "first of two" },
    { TEXT("2,1"), 1, 1, 2, "second of two" },
    { TEXT("2,1"), 2, 0, 3, "behind the last" },
    { TEXT("2(x3),1"), 2, 2, 4, "last of a run" },
    { TEXT("2(x3),1"), 3, 1, 6, "behind a run" },
    { TEXT("1,2(x2),3"), 1, 2, 1, "first of a run" },
    { TEXT("1,2(x2),3"), 2, 2, 3, "second of a run" },
    { TEXT("1,2(x2),3"), 3, 3, 5, "behind the run" },
    { TEXT("1,2(x2),3"), 4, 0, 8, "behind the last" },
    { TEXT("1(x65533)"), 65532, 1, 65532, "last of a large job" },
    { TEXT("1(x65533)"), 65533, 0, 65533, "behind a large job" },
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
