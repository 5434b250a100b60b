/* SPDX-License-Identifier: BSD-3-Clause */
/* Host lists: counting, the i-th host, finding a host; nothing is expanded. */
#include "launcher/hosts.h"
#include "unit.h"

#define NAME_BYTES UNIT_DIGITS UNIT_LETTERS "._-:%+~"

enum { UNTOUCHED = 0x5a5a };

struct count_row {
    struct rc_str input;
    uint32_t count;
    const char *why;
};

#define LABEL63 "abcdefghijklmnopqrstuvwxyz0123456789abcdefghijklmnopqrstuvwxyz0"
#define NAME252 LABEL63 LABEL63 LABEL63 LABEL63
#define NAME255 LABEL63 "." LABEL63 "." LABEL63 "." LABEL63

static const struct count_row counted[] = {
    { TEXT("n1,n1"), 2, "duplicates count" },
    { TEXT("n[1-3]"), 3, "a range" },
    { TEXT("n[1-2].cluster.example"), 2, "a domain after the bracket" },
    { TEXT("2001:db8::1"), 1, "an IPv6 literal" },
    { TEXT("fe80::1%eth0"), 1, "an IPv6 literal with a zone" },
    { TEXT("n[1-16777216]"), RC_MAX_TASKS, "as many hosts as are believed" },
    { TEXT("n[999999999999999999]"), 1, "eighteen digits" },
    { TEXT("a[1]b[1]c[1]d[1]e[1]f[1]g[1]h[1]"), 1, "as many brackets as are believed" },
    { TEXT(NAME255), 1, "a name of 255" },
};

static const struct count_row refused[] = {
    { NO_TEXT, 0, "unset" },
    { TEXT(""), 0, "empty" },
    { TEXT("n1,"), 0, "trailing comma" },
    { TEXT("n[]"), 0, "empty bracket" },
    { TEXT("n[1-3"), 0, "not closed" },
    { TEXT("n]"), 0, "closed without being opened" },
    { TEXT("n[1-3]]"), 0, "closed twice" },
    { TEXT("n[2-1]"), 0, "descending by one: a size of 0" },
    { TEXT("n[1-2-3]"), 0, "two ranges in one" },
    { TEXT("n[,1]"), 0, "comma first in the bracket" },
    { TEXT("n[1,]"), 0, "comma last in the bracket" },
    { TEXT("[1-3]"), 0, "no name before the bracket" },
    { TEXT("n1,[1-3]"), 0, "no name before the second's bracket" },
    { TEXT("n[1-16777217]"), 0, "more hosts than are believed" },
    { TEXT("n[1-16777216],m"), 0, "the sum is too large" },
    { TEXT("n[0-18446744073709551615]"), 0, "the range is 2^64 long, which wraps to 0" },
    { TEXT("n[18446744073709551617]"), 0, "a number that wraps to 1" },
    { TEXT("n[1000000000000000000]"), 0, "nineteen digits" },
    { TEXT("a[0-65535]b[0-65535]"), 0, "a product that wraps to 0 in 32 bit" },
    { TEXT("a[1]b[1]c[1]d[1]e[1]f[1]g[1]h[1]i[1]"), 0, "more brackets than are believed" },
    { TEXT(NAME255 "x"), 0, "a name of 256" },
    { TEXT(NAME255 "[1-2]"), 0, "a name of 256 once its number is in it" },
};

UNIT_ROWS(counts, "hostlist counts", counted)
{
    uint32_t count = UNTOUCHED;

    assert_true(rc_hostlist_count(unit_guard(row->input), &count));
    assert_int_equal(count, row->count);
}

UNIT_ROWS(refuses, "hostlist refuses", refused)
{
    uint32_t count = UNTOUCHED;

    assert_false(rc_hostlist_count(unit_guard(row->input), &count));
    assert_int_equal(count, UNTOUCHED);
}

static bool is_counted(struct rc_str text)
{
    uint32_t count;

    return rc_hostlist_count(text, &count);
}

/* Blanks, ends of lines, paths, what a shell reads, and what is no ASCII. */
UNIT_TEST(refuses_other_bytes, "a byte that no name has is refused, wherever it is")
{
    unit_refuses_bytes(is_counted, "?", NAME_BYTES);
    unit_refuses_bytes(is_counted, "?n1", NAME_BYTES);
    unit_refuses_bytes(is_counted, "n1?", NAME_BYTES);
    unit_refuses_bytes(is_counted, "n1?n2", NAME_BYTES ",");
    unit_refuses_bytes(is_counted, "n?1-3]", "[");
    unit_refuses_bytes(is_counted, "n[?]", UNIT_DIGITS);
    unit_refuses_bytes(is_counted, "n[1?3]", UNIT_DIGITS ",-:");
    unit_refuses_bytes(is_counted, "n[1-?3]", UNIT_DIGITS);
    unit_refuses_bytes(is_counted, "n[1-3?", "]");
    unit_refuses_bytes(is_counted, "n[1-3]?", NAME_BYTES);
}

static const struct {
    struct rc_str input;
    uint32_t index;
    const char *host; /* NULL: there is none */
    const char *why;
} hosts[] = {
    { TEXT("n[1-3]"), 2, "n3", "last of a range" },
    { TEXT("n[1-3]"), 3, NULL, "after a range" },
    { TEXT("n[001-010]"), 9, "n010", "padding shrinks as the number grows" },
    { TEXT("n[098-101]"), 2, "n100", "padding is used up" },
    { TEXT("n[99-101]"), 1, "n100", "the number outgrows its width" },
    { TEXT("b04-[09-10]"), 1, "b04-10", "not b04-010 (spur 589)" },
    { TEXT("a[1,3-4],b7,c"), 1, "a3", "a range after a number" },
    { TEXT("a[1,3-4],b7,c"), 3, "b7", "a name after a bracket" },
    { TEXT("rack[1-2]n[1-4]"), 4, "rack2n1", "then the one before" },
    { TEXT("r[0-1]c[0-1]n[0-1]"), 2, "r1c0n0", "three dimensions: then the first one (scontrol says so)" },
    { TEXT("r[0-1]c[0-1]n[0-1]"), 5, "r0c1n1", "three dimensions: the middle one is the slowest" },
    { TEXT("n[1-2][3-4]"), 2, "n23", "brackets side by side" },
    { TEXT("2001:db8::1,n2"), 0, "2001:db8::1", "an IPv6 literal" },
    { TEXT("n[0-16777215]"), 16777215, "n16777215", "the last of as many as are believed" },
    { TEXT("n[999999999999999998-999999999999999999]"), 1, "n999999999999999999", "eighteen digits" },
    { TEXT("a[0-1],a[0-1]"), 2, "a0", "a duplicate has its own place" },
    { TEXT(NAME255), 0, NAME255, "a name of 255" },
    { TEXT(NAME255 "x"), 0, NULL, "a name of 256" },
    { TEXT(""), 0, NULL, "empty" },
    { TEXT("n1,n["), 0, "n1", "what is after the host is not looked at" },
    { TEXT("n1,n["), 1, NULL, "what is at the host is" },
    { TEXT("n[1-3]"), RC_UNKNOWN, NULL, "an unknown index" },
    /* with the width of the numbers, as Open MPI 4 writes them */
    { TEXT("login,n[1:1-3]"), 3, "n3", "the last of a bracket" },
    { TEXT("n[3:001,003]-ib"), 1, "n003-ib", "the second item of a bracket" },
    { TEXT("n[1:1-2,7,9-10]"), 4, "n10", "ranges and numbers in one bracket" },
    { TEXT("n[1:1-2],m[1:5],k"), 2, "m5", "a bracket after another" },
    { TEXT("n[18:1]"), 0, "n000000000000000001", "the greatest width" },
    { TEXT("n[6:000000-099999]"), 99999, "n099999", "the last of 100,000 nodes" },
    { TEXT(NAME252 "[3:001]"), 0, NAME252 "001", "a name of 255" },
    { TEXT("n[1:0-999999999],n[1:0-999999999]"), UINT32_MAX, NULL, "a daemon that is not known" },
    { TEXT("n[1:1-3"), 0, NULL, "a bracket that does not end: the variable was cut" },
    { TEXT("n[19:1]"), 0, NULL, "a width of nineteen" },
    { TEXT("n[1:0-999999999]"), 0, NULL, "more nodes than are believed" },
    { TEXT("n[1:-1]"), 0, NULL, "a range without its beginning" },
    { TEXT("n[1:1-2-3]"), 0, NULL, "a range of three" },
    { TEXT("a,,b"), 1, NULL, "an empty name" },
    { TEXT(NAME252 "[4:0001]"), 0, NULL, "a name of 256" },
};

UNIT_ROWS(gives_host, "hostlist gives a host of", hosts)
{
    char *name = unit_guard_memory(RC_HOST_MAX + 1);
    char before[RC_HOST_MAX + 1];

    memset(name, 0x5a, RC_HOST_MAX + 1);
    memcpy(before, name, sizeof(before));
    assert_int_equal(rc_hostlist_nth(unit_guard(row->input), row->index, name), row->host != NULL);
    if (row->host)
        assert_string_equal(name, row->host);
    else
        assert_memory_equal(name, before, sizeof(before));
}

static const struct {
    struct rc_str input;
    struct rc_str name;
    uint32_t index;
    const char *why;
} finds[] = {
    { TEXT("n"), TEXT("m"), RC_UNKNOWN, "not there" },
    { TEXT("n"), NO_TEXT, RC_UNKNOWN, "no name" },
    { TEXT("n10,n1"), TEXT("n1"), 1, "not the one that it begins" },
    { TEXT("n[1-3]"), TEXT("n4"), RC_UNKNOWN, "above a range" },
    { TEXT("n[1-3]"), TEXT("n"), RC_UNKNOWN, "no number" },
    { TEXT("n[1-3]"), TEXT("n01"), RC_UNKNOWN, "padding that the list has not" },
    { TEXT("n[01-03]"), TEXT("n1"), RC_UNKNOWN, "no padding, but the list has" },
    { TEXT("n[99-101]"), TEXT("n0100"), RC_UNKNOWN, "not with a zero before it" },
    { TEXT("n[1,3-4],n[7-9]"), TEXT("n8"), 4, "in the second bracket" },
    { TEXT("n[1-3],m,n2"), TEXT("n2"), 1, "the first of two" },
    { TEXT("rack[1-2]n[1-4]"), TEXT("rack2n3"), 6, "two dimensions" },
    { TEXT("rack[1-2]n[1-4]"), TEXT("rack3n1"), RC_UNKNOWN, "outside the first dimension" },
    { TEXT("n[1-2]-ib"), TEXT("n2"), RC_UNKNOWN, "without its suffix" },
    { TEXT("n[1-2]"), TEXT("n18446744073709551617"), RC_UNKNOWN, "a number that wraps to 1" },
    { TEXT("n1,n[,n2"), TEXT("n2"), RC_UNKNOWN, "after something that is no host" },
    { TEXT("N1"), TEXT("n1"), RC_UNKNOWN, "case counts" },
    { TEXT("n[1-3][4-6]"), TEXT("n14"), RC_UNKNOWN, "brackets side by side cannot be told apart" },
    { TEXT("n[1-3]0"), TEXT("n10"), RC_UNKNOWN, "nor can a digit after the bracket" },
    { TEXT("n[1-3]0,n10"), TEXT("n10"), 3, "but another item is found" },
    { TEXT("2001:db8::1,2001:db8::2"), TEXT("2001:db8::2"), 1, "an IPv6 literal" },
};

UNIT_ROWS(finds_host, "hostlist looks for a host in", finds)
{
    assert_int_equal(rc_hostlist_find(unit_guard(row->input), unit_guard(row->name)), row->index);
}

/* Lists without duplicates: the i-th host is found at i, and there are no more. */
static const struct count_row round_trips[] = {
    { TEXT("n[001-300]"), 300, "padded" },
    { TEXT("n[98-102,0098-0102]"), 10, "two paddings in one bracket" },
    { TEXT("a,b[1-9],c[01-12]-ib,d.example"), 23, "mixed" },
    { TEXT("r[1-2]c[1-3]n[1-4]-x"), 24, "three dimensions and a suffix" },
    { TEXT("n1-[1-3]"), 3, "a digit and a dash before the bracket" },
};

UNIT_ROWS(goes_round, "hostlist finds what it gave of", round_trips)
{
    uint32_t count;

    assert_true(rc_hostlist_count(row->input, &count));
    assert_int_equal(count, row->count);
    for (uint32_t i = 0; i < count; i++) {
        char name[RC_HOST_MAX + 1];

        assert_true(rc_hostlist_nth(row->input, i, name));
        if (rc_hostlist_find(row->input, rc_str(name)) != i)
            fail_msg("host %u is %s, but %s is found at %u", i, name, name, rc_hostlist_find(row->input, rc_str(name)));
    }
}

/* 300 large ranges are refused by count; find must not come round to a small index. */
UNIT_TEST(does_not_wrap, "finding after 2^32 hosts does not wrap")
{
    enum { RANGES = 300 };
    char text[RANGES * 16 + 8];
    size_t used = 0;

    for (int i = 0; i < RANGES; i++)
        used += (size_t)snprintf(text + used, sizeof(text) - used, "n[1-16777216],");
    snprintf(text + used, sizeof(text) - used, "last");
    assert_int_equal(rc_hostlist_find(rc_str(text), RC_STR("last")), RC_UNKNOWN);
}
