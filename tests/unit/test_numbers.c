/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers: what a rank, a size or a count may look like, and what it may not. */
#include "base/text.h"
#include "unit.h"

struct row {
    struct rc_str input;
    uint64_t max;
    uint64_t value; /* of a number that is taken */
    const char *why;
};

enum { UNTOUCHED = 0x5a5a };

static const struct row taken[] = {
    { TEXT("0"), 0, 0, "the only number up to 0" },
    { TEXT("0"), 10, 0, "a lone zero is no leading zero" },
    { TEXT("7"), 7, 7, "the largest allowed" },
    { TEXT("16777216"), RC_MAX_TASKS, RC_MAX_TASKS, "as many tasks as are believed" },
    { TEXT("4294967294"), UINT32_MAX, 4294967294, "Slurm's NO_VAL, where the range allows it" },
    { TEXT("4294967295"), UINT32_MAX, 4294967295, "largest 32 bit" },
    { TEXT("9223372036854775808"), UINT64_MAX, 9223372036854775808u, "one more than int64 holds" },
    { TEXT("18446744073709551615"), UINT64_MAX, UINT64_MAX, "largest 64 bit" },
};

static const struct row refused[] = {
    { NO_TEXT, 10, 0, "unset" },
    { TEXT(""), 10, 0, "empty" },
    { TEXT("0x3"), 10, 0, "hexadecimal" },
    { TEXT("1"), 0, 0, "above 0" },
    { TEXT("20"), 10, 0, "above in the first digit" },
    { TEXT("16777217"), RC_MAX_TASKS, 0, "more tasks than are believed" },
    { TEXT("4294967294"), RC_MAX_TASKS, 0, "Slurm's NO_VAL" },
    { TEXT("4294967296"), UINT32_MAX, 0, "2^32 would wrap to 0" },
    { TEXT("18446744073709551616"), UINT64_MAX, 0, "2^64 would wrap to 0" },
    { TEXT("18446744073709551619"), UINT64_MAX, 0, "2^64+3 would wrap to 3" },
    { TEXT("18446744073709551620"), UINT64_MAX, 0, "2^64+4: the tens alone still fit" },
    { TEXT("184467440737095516150"), UINT64_MAX, 0, "2^64-1 with a digit more" },
};

UNIT_ROWS(takes, "number takes", taken)
{
    uint64_t value = UNTOUCHED;
    uint32_t small = UNTOUCHED;

    assert_true(rc_parse_u64(unit_guard(row->input), row->max, &value));
    assert_int_equal(value, row->value);
    if (row->max > UINT32_MAX)
        return;
    assert_true(rc_parse_u32(unit_guard(row->input), (uint32_t)row->max, &small));
    assert_int_equal(small, row->value);
}

UNIT_ROWS(refuses, "number refuses", refused)
{
    uint64_t value = UNTOUCHED;
    uint32_t small = UNTOUCHED;

    assert_false(rc_parse_u64(unit_guard(row->input), row->max, &value));
    assert_int_equal(value, UNTOUCHED);
    if (row->max > UINT32_MAX)
        return;
    assert_false(rc_parse_u32(unit_guard(row->input), (uint32_t)row->max, &small));
    assert_int_equal(small, UNTOUCHED);
}

static bool is_taken(struct rc_str text)
{
    uint64_t value;

    return rc_parse_u64(text, UINT64_MAX, &value);
}

/* Signs, blanks, separators of thousands, letters, ends of lines, and digits of other scripts. */
UNIT_TEST(refuses_other_bytes, "a byte that is no digit is refused, wherever it is")
{
    unit_refuses_bytes(is_taken, "?", UNIT_DIGITS);
    unit_refuses_bytes(is_taken, "?3", UNIT_DIGITS);
    unit_refuses_bytes(is_taken, "3?", UNIT_DIGITS);
    unit_refuses_bytes(is_taken, "1?000", UNIT_DIGITS);
}

/* Ten thousand digits: refused for their number, not for their value. */
UNIT_TEST(refuses_many_digits, "10,000 digits are refused")
{
    static const char digits[] = "0139";
    char text[10000];
    uint64_t value = UNTOUCHED;

    for (size_t i = 0; digits[i]; i++) {
        for (size_t n = 0; n < sizeof(text); n++)
            text[n] = digits[i];
        assert_false(rc_parse_u64(unit_guard((struct rc_str){ text, sizeof(text) }), UINT64_MAX, &value));
    }
    assert_int_equal(value, UNTOUCHED);
}

/* Every number up to 70,000 against its own spelling, and the limits around it. */
UNIT_TEST(counts_up, "0 to 70,000 are themselves, and no more than their limit")
{
    for (uint32_t i = 0; i <= 70000; i++) {
        char text[8];
        size_t n = 0;
        uint32_t value;

        for (uint32_t rest = i; rest || n == 0; rest /= 10)
            text[sizeof(text) - ++n] = (char)('0' + rest % 10);
        if (!rc_parse_u32((struct rc_str){ text + sizeof(text) - n, n }, i, &value) || value != i)
            fail_msg("%u is not taken as itself", i);
        if (i && rc_parse_u32((struct rc_str){ text + sizeof(text) - n, n }, i - 1, &value))
            fail_msg("%u is taken where %u is the limit", i, i - 1);
    }
}
