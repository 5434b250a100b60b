/* SPDX-License-Identifier: BSD-3-Clause */
/* Many ranks and hosts in few characters: nothing is lost, nothing is added, and it is never long. */
#include "launcher/hosts.h"
#include "roll/names.h"
#include "unit.h"

enum { LIMIT = 40, ITEMS_MAX = 512 };

/* Input: hosts between blanks, in any order; ranges likewise. */
struct row {
    struct rc_str input;
    const char *expected;
    const char *why;
};

#define NAME64 "abcdefghijklmnopqrstuvwxyz0123456789abcdefghijklmnopqrstuvwxyz01"

static const struct row hosts[] = {
    { TEXT("n1"), "n1", "one" },
    { TEXT("n1 n2"), "n[1-2]", "two in a row" },
    { TEXT("n008 n009 n010"), "n[008-010]", "zeros in front, fewer of them" },
    { TEXT("n999 n1000"), "n[999-1000]", "one more digit" },
    { TEXT("n9 n010"), "n[9,010]", "zeros in front of one alone" },
    { TEXT("n1 n01 n2 n02"), "n[1,01,2,02]", "two that differ in their zeros" },
    { TEXT("login n1 n2"), "login,n[1-2]", "with and without a number" },
    { TEXT("n n1 n2"), "n,n[1-2]", "the prefix is a name" },
    { TEXT("n1-ib n2-ib n1"), "n1,n[1-2]-ib", "a suffix" },
    { TEXT("n.c1 n.c2"), "n.c1,n.c2", "a number in the domain alone" },
    { TEXT("rack1n1 rack1n2 rack2n1"), "rack1n[1-2],rack2n1", "two numbers: the last one counts" },
    { TEXT("1 2 3"), "1,2,3", "names of digits" },
    { TEXT("n4294967295 n4294967296"), "n4294967295,n4294967296", "numbers that are none" },
    { TEXT("n999999998 n999999999"), "n[999999998-999999999]", "the largest numbers" },
    { TEXT("n[1-2 n[1-3 n,4"), "n,4,n[1-2,n[1-3", "names that look like lists" },
    { TEXT("n1 n3 n5 n7 n9 n11 n13 n15 n17 n19 n21 n23 n25"), "n[1,3,5,7,9,11,13,15,17,19,21,23,25]",
      "as many as have room" },
    { TEXT("n1 n3 n5 n7 n9 n11 n13 n15 n17 n19 n21 n23 n25 n27 n29 n31"),
      "n[1,3,5,7,9,11,13,15,17,19,21,23,25,27] and 2 more", "more than have room in a bracket" },
    { TEXT("alpha bravo charlie delta echo foxtrot n10 n11 n12 n13"),
      "alpha,bravo,charlie,delta,echo,foxtrot and 4 more", "a bracket that has no room" },
    { TEXT("n1-abcdefghijklmnopqrstuvwxyz n3-abcdefghijklmnopqrstuvwxyz n5-abcdefghijklmnopqrstuvwxyz "
           "n7-abcdefghijklmnopqrstuvwxyz n90-abcdefghijklmnopqrstuvwxyz"),
      "n[1,3,5,7,90]-abcdefghijklmnopqrstuvwxyz", "a suffix that just has room" },
    { TEXT("n1-abcdefghijklmnopqrstuvwxyz n3-abcdefghijklmnopqrstuvwxyz n5-abcdefghijklmnopqrstuvwxyz "
           "n7-abcdefghijklmnopqrstuvwxyz n900-abcdefghijklmnopqrstuvwxyz"),
      "n[1,3,5,7]-abcdefghijklmnopqrstuvwxyz and 1 more", "a suffix that has none" },
    { TEXT(NAME64), NAME64, "a name longer than the limit" },
    { TEXT(NAME64 "2"), "abcdefghijklmnopqrstuvwxyz0123456789abcdefghijklmnopqrstuvwxy...", "a name of 65 bytes" },
    { TEXT("A B " NAME64 "2"), "A,B and 1 more", "a long name that has no room" },
};

static const struct row ranges[] = {
    { TEXT("3-3"), "3", "one" },
    { TEXT("0-3"), "0-3", "a row" },
    { TEXT("0-0 1-1"), "0-1", "two in a row" },
    { TEXT("0-3 4-7 8-8"), "0-8", "ranges that touch" },
    { TEXT("0-7 2-3 5-9 11-11"), "0-9,11", "ranges that overlap" },
    { TEXT("4294967295-4294967295"), "4294967295", "the largest number" },
    { TEXT("10-11 20-21 30-31 40-41 50-51 60-61 70-72"), "10-11,20-21,30-31,40-41,50-51,60-61 and 3 more",
      "more than have room" },
};

static int by_name(const void *a, const void *b)
{
    return rc_compact_order(*(const struct rc_str *)a, *(const struct rc_str *)b);
}

static size_t split(struct rc_str input, struct rc_str *items)
{
    size_t count = 0;

    while (input.p)
        items[count++] = unit_guard(rc_str_split(input, ' ', &input));
    return count;
}

/* The text, in an arena that just has room for it and in all that have not. */
static void assert_compact(const char *expected, size_t limit, void *items, size_t count, bool are_hosts)
{
    size_t need = strlen(expected) + 1;

    for (size_t size = 0; size <= need; size++) {
        char *text = malloc(size + 1);
        struct rc_arena arena = { .base = text, .size = size };
        const char *found;

        assert_non_null(text);
        found = are_hosts ? rc_compact_hosts(items, count, limit, &arena)
                          : rc_compact_ranges(items, count, limit, &arena);
        assert_string_equal(found, size == need ? expected : "");
        assert_int_equal(arena.full, size < need);
        free(text);
    }
}

UNIT_ROWS(folds_hosts, "hosts", hosts)
{
    struct rc_str items[32];
    size_t count = split(row->input, items);

    qsort(items, count, sizeof(*items), by_name);
    assert_compact(row->expected, LIMIT, items, count, true);
}

static int by_first(const void *a, const void *b)
{
    const struct rc_range *left = a;
    const struct rc_range *right = b;

    return (left->first > right->first) - (left->first < right->first);
}

UNIT_ROWS(folds_ranges, "ranks", ranges)
{
    struct rc_str items[32];
    size_t count = split(row->input, items);
    struct rc_range *sorted = unit_guard_memory(count * sizeof(*sorted));

    for (size_t i = 0; i < count; i++) {
        char item[32];

        snprintf(item, sizeof(item), "%.*s", (int)items[i].n, items[i].p);
        assert_int_equal(sscanf(item, "%u-%u", &sorted[i].first, &sorted[i].last), 2);
    }
    qsort(sorted, count, sizeof(*sorted), by_first);
    assert_compact(row->expected, LIMIT - 3, sorted, count, false);
}

UNIT_TEST(nothing, "no hosts and no ranks are an empty text")
{
    assert_compact("", LIMIT, NULL, 0, true);
    assert_compact("", LIMIT, NULL, 0, false);
}

static unsigned next_random(unsigned *state)
{
    *state = *state * 1103515245 + 12345;
    return *state >> 16;
}

static void write_name(char *name, size_t size, unsigned form, unsigned number)
{
    switch (form) {
    case 0:
        snprintf(name, size, "n%u", number);
        break;
    case 1:
        snprintf(name, size, "n%03u", number);
        break;
    case 2:
        snprintf(name, size, "n%02u-ib", number);
        break;
    case 3:
        snprintf(name, size, "%u", number);
        break;
    case 4:
        snprintf(name, size, "r%un1", number);
        break;
    case 5:
        snprintf(name, size, "n%u.c2", number);
        break;
    default:
        snprintf(name, size, "login");
        break;
    }
}

/* What is written is a list of exactly these hosts, as a launcher would read it. */
UNIT_TEST(is_a_host_list, "without a limit it is a list of exactly these hosts")
{
    unsigned state = 20240229;

    for (unsigned turn = 0; turn < 300; turn++) {
        static char names[ITEMS_MAX][16];
        static char text[ITEMS_MAX * 16];
        struct rc_str items[ITEMS_MAX];
        struct rc_arena arena = { .base = text, .size = sizeof(text) };
        size_t count = 1 + next_random(&state) % (turn % 2 ? 8 : 128);
        size_t distinct = 0;
        struct rc_str list;
        uint32_t found;

        for (size_t i = 0; i < count; i++) {
            unsigned form = next_random(&state) % 7;
            unsigned number = next_random(&state) % (turn % 3 ? 20 : 120);

            write_name(names[i], sizeof(names[i]), form, number);
            items[i] = rc_str(names[i]);
        }
        qsort(items, count, sizeof(*items), by_name);
        for (size_t i = 0; i < count; i++)
            distinct += i == 0 || !rc_str_eq(items[i], items[i - 1]);
        list = rc_str(rc_compact_hosts(items, count, sizeof(text), &arena));
        if (!rc_hostlist_count(list, &found) || found != distinct)
            fail_msg("%s is not a list of %zu hosts", list.p, distinct);
        for (size_t i = 0; i < count; i++)
            if (rc_hostlist_find(list, items[i]) == RC_UNKNOWN)
                fail_msg("%s is not in %s", items[i].p, list.p);
    }
}

UNIT_TEST(orders, "names are in an order of which numbers are a part")
{
    static const char *const ascending[] = { "",    "a",    "a0",   "a00", "a1",  "a01", "a2",
                                             "a10", "a1.x", "a2.x", "a1a", "a2a", "b",   "b1" };

    for (size_t i = 0; i < UNIT_COUNT(ascending); i++) {
        for (size_t j = 0; j < UNIT_COUNT(ascending); j++) {
            int order = rc_compact_order(rc_str(ascending[i]), rc_str(ascending[j]));

            if ((order > 0) - (order < 0) != (i > j) - (i < j))
                fail_msg("'%s' to '%s' is %d", ascending[i], ascending[j], order);
        }
    }
}
