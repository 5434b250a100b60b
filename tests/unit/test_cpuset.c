/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists of hardware threads, and what is done with sets of them. */
#include "base/cpuset.h"
#include "system/node.h"
#include "unit.h"

static const struct {
    struct rc_str input;
    unsigned count;
    const char *written;
    const char *why;
} taken[] = {
    { TEXT("0"), 1, "0", "the first" },
    { TEXT("8191"), 1, "8191", "the last" },
    { TEXT("0-8191"), 8192, "0-8191", "all" },
    { TEXT("0-7,64-71"), 16, "0-7,64-71", "cores and their second threads" },
    { TEXT("62-66"), 5, "62-66", "over the end of a word" },
    { TEXT("63,64"), 2, "63-64", "side by side in two words" },
    { TEXT("5,3,4"), 3, "3-5", "in any order" },
    { TEXT("0-3,2-5"), 6, "0-5", "overlapping" },
    { TEXT("7-7"), 1, "7", "a range of one" },
    { TEXT("0,2,4"), 3, "0,2,4", "every other one" },
};

UNIT_ROWS(takes, "cpuset takes", taken)
{
    UNIT_ARENA(arena, 256);
    struct rc_cpuset set;

    assert_true(rc_cpuset_read(unit_guard(row->input), &set));
    assert_int_equal(rc_cpuset_count(&set), row->count);
    assert_string_equal(rc_cpuset_write(&set, &arena), row->written);
}

static const struct unit_text refused[] = {
    { NO_TEXT, "unset" },
    { TEXT(""), "empty" },
    { TEXT(","), "a comma" },
    { TEXT("0,"), "trailing comma" },
    { TEXT("-3"), "no begin" },
    { TEXT("3-"), "no end" },
    { TEXT("3-1"), "backwards" },
    { TEXT("0-1-2"), "two dashes" },
    { TEXT("0 1"), "a blank" },
    { TEXT("0-3\n"), "a newline" },
    { TEXT("01"), "a leading zero" },
    { TEXT("0x3"), "a mask" },
    { TEXT("0-7:2"), "a stride" },
    { TEXT("8192"), "beyond the last" },
    { TEXT("0-4294967296"), "more than 32 bit" },
};

UNIT_ROWS(refuses, "cpuset refuses", refused)
{
    struct rc_cpuset set, before;

    memset(&set, 0x5a, sizeof(set));
    memcpy(&before, &set, sizeof(set));
    assert_false(rc_cpuset_read(unit_guard(row->input), &set));
    assert_memory_equal(&set, &before, sizeof(set));
}

static const struct {
    struct rc_str input;
    const char *outer;
    bool within;
    const char *why;
} pairs[] = {
    { TEXT("0-3"), "0-7", true, "a part" },
    { TEXT("0-7"), "0-7", true, "the same" },
    { TEXT("0-8"), "0-7", false, "one more" },
    { TEXT("64"), "0-63", false, "in another word" },
    { TEXT("8191"), "0-8190", false, "the last one" },
};

UNIT_ROWS(compares, "cpuset compares", pairs)
{
    struct rc_cpuset inner, outer, sum;

    assert_true(rc_cpuset_read(row->input, &inner));
    assert_true(rc_cpuset_read(rc_str(row->outer), &outer));
    assert_int_equal(rc_cpuset_is_within(&inner, &outer), row->within);
    assert_int_equal(rc_cpuset_is_equal(&inner, &outer), rc_str_is(row->input, row->outer));
    sum = outer;
    rc_cpuset_add(&sum, &inner);
    assert_int_equal(rc_cpuset_is_equal(&sum, &outer), row->within);
    assert_true(rc_cpuset_is_within(&inner, &sum));
}

/* The kernel takes and gives what is written here. */
UNIT_TEST(binds, "a mask is bound, read back, and widened for a moment")
{
    struct rc_cpuset before, widest, one = { .word = { 0 } }, now;
    unsigned first = 0;

    assert_true(rc_affinity_get(&before));
    assert_true(rc_affinity_widest(&widest));
    assert_true(rc_affinity_get(&now));
    assert_true(rc_cpuset_is_equal(&before, &now));
    assert_true(rc_cpuset_is_within(&before, &widest));
    while (!before.word[first])
        first++;
    one.word[first] = before.word[first] & -before.word[first];
    assert_true(rc_affinity_set(&one));
    assert_true(rc_affinity_get(&now));
    assert_true(rc_cpuset_is_equal(&one, &now));
    assert_true(rc_affinity_widest(&now));
    assert_true(rc_cpuset_is_equal(&widest, &now));
    assert_true(rc_affinity_get(&now));
    assert_true(rc_cpuset_is_equal(&one, &now));
    memset(&now, 0, sizeof(now));
    assert_false(rc_affinity_set(&now));
    assert_true(rc_affinity_set(&before));
}
