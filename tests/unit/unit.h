/* SPDX-License-Identifier: BSD-3-Clause */
/* unit.h - table-driven tests over cmocka: a row of a table is a test of its own.
 *
 * A test file fills tables of (input, expectation, reason), and a function that is defined with UNIT_ROWS checks each
 * row. libunit.la has the main(). Inputs go through unit_guard(), which puts them right before an unmapped page: a
 * parser that reads one byte past the end of its slice does not get away with it.
 */
#pragma once

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/text.h"

/* For tables: a slice of a literal, which may hold NUL bytes; and no slice. */
#define TEXT(literal)                   \
    {                                   \
        "" literal, sizeof(literal) - 1 \
    }
#define NO_TEXT \
    {           \
        NULL, 0 \
    }

#define UNIT_DIGITS       "0123456789"
#define UNIT_LETTERS      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define UNIT_COUNT(array) (sizeof(array) / sizeof(*(array)))

/* A row of a table that expects the same of each input. */
struct unit_text {
    struct rc_str input;
    const char *why;
};

/* An arena with so many bytes, where nobody looks at them but through it. */
#define UNIT_ARENA(arena, room) \
    char arena##_room[room];    \
    struct rc_arena arena = { .base = arena##_room, .size = sizeof(arena##_room) }

/* A test without a table: UNIT_TEST(measures, "a string is measured") { ... } */
#define UNIT_TEST(check, why)                                      \
    static void check(void);                                       \
    static void check##_test(const void *row)                      \
    {                                                              \
        (void)row;                                                 \
        check();                                                   \
    }                                                              \
    __attribute__((constructor)) static void check##_is_test(void) \
    {                                                              \
        unit_add(check##_test, NULL, NULL, RC_ABSENT, (why));      \
    }                                                              \
    static void check(void)

/* A test of each row of a table, whose rows begin with `struct rc_str input` and have a `const char *why`:
 * UNIT_ROWS(refuses, "hostlist refuses", refused) { ... row->input ... } */
#define UNIT_ROWS(check, what, table)                   \
    static void check(const __typeof__(*(table)) *row); \
    UNIT_TABLE(check, what, table);                     \
    static void check(const __typeof__(*(table)) *row)

/* The same of a function that is defined elsewhere, or has several tables. */
#define UNIT_TABLE(check, what, table)                                                        \
    static void check##_##table(const void *data)                                             \
    {                                                                                         \
        const __typeof__(*(table)) *row = data;                                               \
        check(row);                                                                           \
    }                                                                                         \
    __attribute__((constructor)) static void check##_has_##table(void)                        \
    {                                                                                         \
        for (size_t i = 0; i < UNIT_COUNT(table); i++)                                        \
            unit_add(check##_##table, &(table)[i], (what), (table)[i].input, (table)[i].why); \
    }                                                                                         \
    _Static_assert(UNIT_COUNT(table) > 0, "the table has no row")

/* Adds a test: check(row) fails through cmocka's assertions. The name is put together as in "hostlist refuses
 * 'n[1-': open bracket"; without a `what` it is the reason. */
void unit_add(void (*check)(const void *row), const void *row, const char *what, struct rc_str input, const char *why);

/* Return `lacking`, and print what is lacking: the test returns then. skip() of cmocka 1.1.5 prints "not ok". */
bool unit_skips(bool lacking, const char *why);

/* Runs all tests of the program; the exit status of main(). For a program with a main() of its own. */
int unit_run(void);

/* A copy whose last byte is the last one before an unmapped page; absent stays absent. Lives until the test ends. */
struct rc_str unit_guard(struct rc_str text);

/* The same for a string with its NUL. */
const char *unit_guard_string(const char *text);

/* No byte but those in `good` is taken in the place of the text's '?'. */
void unit_refuses_bytes(bool (*takes)(struct rc_str text), const char *text, const char *good);

/* The words of a text, NULL after the last: blanks are between them, or belong to what is between single quotes.
 * Each word is a copy as above. */
void unit_words(const char *text, const char **words, size_t room);

/* Writable memory that ends at an unmapped page. */
void *unit_guard_memory(size_t size);

/* Sends all of it; false where the other side has hung up. */
bool unit_send(int fd, struct rc_str text);

/* How many descriptors this process has open. */
unsigned unit_open_descriptors(void);
