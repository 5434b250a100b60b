/* SPDX-License-Identifier: BSD-3-Clause */
/* Slices of text, and the arena that generated text is written into. */
#include "base/text.h"
#include "unit.h"

static const struct {
    struct rc_str input;
    const char *other;
    bool is;
    bool starts;
    const char *why;
} pairs[] = {
    { TEXT(""), "", true, true, "empty and empty" },
    { TEXT("RANK"), "RANK", true, true, "the same" },
    { TEXT("RANK"), "", false, true, "every text starts with nothing" },
    { TEXT("RANK"), "RAN", false, true, "a prefix" },
    { TEXT("RAN"), "RANK", false, false, "shorter" },
    { TEXT("RANK"), "rank", false, false, "case counts" },
    { TEXT("RANK"), "RANX", false, false, "another last character" },
    { TEXT("RANK\0"), "RANK", false, true, "a NUL in the slice counts" },
    { TEXT("\0"), "", false, true, "a NUL is not empty" },
    { TEXT("\xff"), "\xff", true, true, "bytes above 127" },
    { NO_TEXT, "", false, false, "unset is not empty" },
};

UNIT_ROWS(compares, "text compares", pairs)
{
    struct rc_str input = unit_guard(row->input);
    const char *other = unit_guard_string(row->other);

    assert_int_equal(rc_str_is(input, other), row->is);
    assert_int_equal(rc_str_starts(input, other), row->starts);
    assert_int_equal(rc_str_eq(input, unit_guard(rc_str(row->other))), row->is);
    assert_int_equal(rc_str_eq(unit_guard(rc_str(row->other)), input), row->is);
}

UNIT_TEST(measures, "a string is measured, no string is absent")
{
    struct rc_str text = rc_str(unit_guard_string("SLURM"));

    assert_int_equal(text.n, 5);
    text = rc_str(unit_guard_string(""));
    assert_non_null(text.p);
    assert_int_equal(text.n, 0);
    text = rc_str(NULL);
    assert_null(text.p);
    assert_int_equal(text.n, 0);
    assert_false(rc_str_eq(RC_ABSENT, RC_ABSENT));
}

struct split {
    struct rc_str input;
    char separator;
    struct rc_str head;
    struct rc_str rest;
    const char *why;
};

static const struct split splits[] = {
    { TEXT("a,b"), ',', TEXT("a"), TEXT("b"), "two pieces" },
    { TEXT("a"), ',', TEXT("a"), NO_TEXT, "no separator: nothing follows" },
    { TEXT("a,"), ',', TEXT("a"), TEXT(""), "an empty piece follows, which is not nothing" },
    { TEXT(",a"), ',', TEXT(""), TEXT("a"), "an empty piece first" },
    { TEXT(","), ',', TEXT(""), TEXT(""), "two empty pieces" },
    { TEXT(""), ',', TEXT(""), NO_TEXT, "an empty text is one empty piece" },
    { TEXT("a\0b"), '\0', TEXT("a"), TEXT("b"), "NUL as separator" },
};

static const struct split last_splits[] = {
    { TEXT("n1:29500"), ':', TEXT("n1"), TEXT("29500"), "two pieces" },
    { TEXT("[fd00::1]:29500"), ':', TEXT("[fd00::1]"), TEXT("29500"), "only at the last" },
    { TEXT("n1"), ':', TEXT("n1"), NO_TEXT, "no separator: nothing follows" },
    { TEXT("n1:"), ':', TEXT("n1"), TEXT(""), "an empty piece follows, which is not nothing" },
    { TEXT(":1"), ':', TEXT(""), TEXT("1"), "an empty piece first" },
    { TEXT(""), ':', TEXT(""), NO_TEXT, "an empty text is one empty piece" },
};

static void check_split(const struct split *row, struct rc_str head, struct rc_str rest)
{
    assert_int_equal(head.n, row->head.n);
    assert_memory_equal(head.p, row->head.p, head.n);
    if (!row->rest.p) {
        assert_null(rest.p);
        return;
    }
    assert_non_null(rest.p);
    assert_int_equal(rest.n, row->rest.n);
    assert_memory_equal(rest.p, row->rest.p, rest.n);
}

UNIT_ROWS(splits_text, "text splits", splits)
{
    struct rc_str rest = { "untouched", 9 };
    struct rc_str head = rc_str_split(unit_guard(row->input), row->separator, &rest);

    check_split(row, head, rest);
}

UNIT_ROWS(splits_last, "text splits at the last one", last_splits)
{
    struct rc_str rest = { "untouched", 9 };
    struct rc_str head = rc_str_split_last(unit_guard(row->input), row->separator, &rest);

    check_split(row, head, rest);
}

/* The loop that every list is read with: rest may be the input itself. */
UNIT_TEST(splits_in_place, "a list is read with its rest as input")
{
    struct rc_str rest = unit_guard(RC_STR("1,,3,"));
    unsigned pieces = 0;
    size_t length = 0;

    while (rest.p) {
        length += rc_str_split(rest, ',', &rest).n;
        pieces++;
    }
    assert_int_equal(pieces, 4);
    assert_int_equal(length, 2);
}

UNIT_TEST(splits_nothing, "nothing splits into nothing")
{
    struct rc_str rest = { "untouched", 9 };
    struct rc_str head = rc_str_split(RC_ABSENT, ',', &rest);

    assert_null(head.p);
    assert_null(rest.p);
}

/* What %q makes of an input. */
struct quote {
    struct rc_str input;
    const char *quoted;
    const char *why;
};

#define TEN      "0123456789"
#define FIFTYONE TEN TEN TEN TEN TEN "x"

static const struct quote quotes[] = {
    { TEXT(""), "''", "empty shows as empty" },
    { TEXT("2(x3),1"), "'2(x3),1'", "printable" },
    { TEXT(" ~"), "' ~'", "first and last printable character" },
    { TEXT("a\nb"), "'a\\x0ab'", "a newline would forge a second message" },
    { TEXT("\x1b[2J"), "'\\x1b[2J'", "a terminal escape" },
    { TEXT("\x9b"
           "2J"),
      "'\\x9b2J'", "a terminal escape in one byte" },
    { TEXT("\0"), "'\\x00'", "NUL" },
    { TEXT("it's"), "'it\\x27s'", "the quote itself" },
    { TEXT("\\x41"), "'\\x5cx41'", "a backslash cannot pass for an escape of ours" },
    { TEXT("%s%n"), "'%s%n'", "percent signs are no format" },
    { TEXT("\xc3\xa9"), "'\\xc3\\xa9'", "UTF-8 is shown byte by byte" },
    { TEXT(FIFTYONE TEN "abc"), "'" FIFTYONE TEN "abc'", "64 characters are shown" },
    { TEXT(FIFTYONE TEN "abcd"), "'" FIFTYONE TEN "abc'...", "the 65th is cut" },
};

static const struct {
    struct rc_str input;
    const char *shown;
    const char *why;
} cleaned[] = {
    { TEXT("ask hpc"), "ask hpc", "ASCII" },
    { TEXT("\xe6\x98\xbc\xe3\x81\xbe\xe3\x81\xa7 9:00"), "\xe6\x98\xbc\xe3\x81\xbe\xe3\x81\xa7 9:00", "Japanese" },
    { TEXT("\xc3\xa9\xf0\x9f\x98\x80"), "\xc3\xa9\xf0\x9f\x98\x80", "two and four bytes" },
    { TEXT("a\x1b[31m\n\x7f"), "a?[31m??", "controls" },
    { TEXT("\xc2\x9b"
           "31m"),
      "??31m", "a control of two bytes" },
    { TEXT("\xe2\x80\xae"
           "x\xe2\x80\xa8"),
      "???x???", "another direction, another line" },
    { TEXT("\xe6\x98"), "??", "cut off" },
    { TEXT("\xe9 \xff"), "? ?", "Latin-1" },
    { TEXT("\xc0\xaf\xed\xa0\x80\xf5\x80\x80\x80"), "?????????", "no UTF-8" },
};

UNIT_ROWS(cleans_text, "text is cleaned:", cleaned)
{
    char text[64];

    memcpy(text, row->input.p, row->input.n);
    text[row->input.n] = '\0';
    rc_str_clean(text, row->input.n);
    assert_string_equal(text, row->shown);
}

UNIT_TEST(cuts_text, "text is cut between characters")
{
    static const struct rc_str text = { "a\xe6\x98\xbc"
                                        "b",
                                        5 };
    static const size_t lengths[] = { 0, 1, 1, 1, 4, 5, 5 };

    for (size_t most = 0; most < UNIT_COUNT(lengths); most++)
        assert_int_equal(rc_str_cut(text, most).n, lengths[most]);
}

UNIT_ROWS(quotes_text, "text quotes", quotes)
{
    UNIT_ARENA(arena, 512);
    struct rc_str input = unit_guard(row->input);

    assert_string_equal(rc_format(&arena, "%pQ", &input), row->quoted);
    assert_false(arena.full);
}

UNIT_TEST(formats, "every conversion of a format")
{
    UNIT_ARENA(arena, 512);
    struct rc_str slice = unit_guard(RC_STR("raw\n"));
    const char *first = rc_format(&arena, "%s is %u", "RANK", (uint32_t)7);
    const char *second;

    second = rc_format(&arena, "%pS|%%|%llu|%u", &slice, (unsigned long long)UINT64_MAX, (uint32_t)0);
    assert_string_equal(first, "RANK is 7");
    assert_string_equal(second, "raw\n|%|18446744073709551615|0");
    assert_string_equal(rc_format(&arena, "%s", ""), "");
    assert_string_equal(rc_format(&arena, "%u", UINT32_MAX), "4294967295");
    assert_string_equal(first, "RANK is 7");
    assert_int_equal(arena.used, strlen("RANK is 7") + strlen(second) + strlen("4294967295") + 4);
}

/* Arenas of every size around a text: it is whole, or it is "" and the arena full. */
UNIT_TEST(fits_or_not, "a text fits whole or not at all")
{
    for (size_t size = 1; size < 24; size++) {
        struct rc_arena arena = { .base = unit_guard_memory(size), .size = size };
        const char *text = rc_format(&arena, "%s-%u", "0123456789", (uint32_t)42);

        assert_string_equal(text, size >= 14 ? "0123456789-42" : "");
        assert_int_equal(arena.full, size < 14);
        assert_int_equal(arena.used, size < 14 ? 0 : 14);
    }
}

UNIT_TEST(stays_full, "an arena that was too small once stays full")
{
    UNIT_ARENA(arena, 16);
    const char *first = rc_format(&arena, "first");

    assert_string_equal(rc_format(&arena, "%s", "far too long for it"), "");
    assert_true(arena.full);
    assert_string_equal(rc_format(&arena, "a"), "");
    assert_true(arena.full);
    assert_string_equal(first, "first");
    assert_int_equal(arena.used, 6);
}

UNIT_TEST(has_no_room, "an arena of no bytes")
{
    struct rc_arena arena = { .base = NULL, .size = 0 };

    assert_string_equal(rc_format(&arena, "a"), "");
    assert_true(arena.full);
    arena.full = false;
    assert_string_equal(rc_copy(&arena, RC_STR("")), "");
    assert_true(arena.full);
}

UNIT_TEST(joins, "pieces are joined to one text")
{
    UNIT_ARENA(arena, 8);

    for (uint32_t i = 1; i <= 7; i++) {
        rc_format(&arena, "%u", i);
        rc_join(&arena);
    }
    assert_false(arena.full);
    assert_string_equal(arena.base, "1234567");
    rc_format(&arena, "%u", (uint32_t)8);
    rc_join(&arena);
    assert_true(arena.full);
    assert_int_equal(arena.used, 7);
}

/* Numbers against the C library's own spelling. */
UNIT_TEST(spells_numbers, "numbers are spelled as the C library does")
{
    static const uint64_t values[] = {
        0, 1, 9, 10, 99, 100, 65535, 4294967295u, 4294967296u, 9999999999999999999u, 10000000000000000000u, UINT64_MAX
    };

    for (size_t i = 0; i < UNIT_COUNT(values); i++) {
        char expected[32];
        UNIT_ARENA(arena, 32);

        snprintf(expected, sizeof(expected), "%llu", (unsigned long long)values[i]);
        assert_string_equal(rc_format(&arena, "%llu", (unsigned long long)values[i]), expected);
    }
}
