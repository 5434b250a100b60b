/* SPDX-License-Identifier: BSD-3-Clause */
/* unit.h - table-driven tests over cmocka: a row of a table is a test of its own.
 *
 * A test file fills tables of (input, expectation, reason), hands each row to
 * unit_add() and ends with unit_run(). Inputs go through unit_guard(), which
 * puts them right before an unmapped page: a parser that reads one byte past
 * the end of its slice does not get away with it.
 */
#ifndef ROLLCALL_UNIT_H
#define ROLLCALL_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

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

#define UNIT_COUNT(array) (sizeof(array) / sizeof(*(array)))

/* Adds a test: check(row) fails through cmocka's assertions. The name is put
 * together as in "hostlist refuses 'n[1-': open bracket". */
void unit_add(void (*check)(const void *row), const void *row, const char *what, struct rc_str input, const char *why);

/* Adds every row of a table whose rows begin with `struct rc_str input` and
 * have a `const char *why`. */
#define UNIT_TABLE(check, what, table)                                                               \
    do {                                                                                             \
        for (size_t unit_i = 0; unit_i < UNIT_COUNT(table); unit_i++)                                \
            unit_add((check), &(table)[unit_i], (what), (table)[unit_i].input, (table)[unit_i].why); \
    } while (0)

/* Adds a test without a table. */
void unit_add_one(void (*check)(const void *), const char *why);

/* Runs all that were added; the exit status of main(). */
int unit_run(const char *name);

/* A copy whose last byte is the last one before an unmapped page; absent stays
 * absent. Lives until the test ends. */
struct rc_str unit_guard(struct rc_str text);

/* The same for a string with its NUL. */
const char *unit_guard_string(const char *text);

/* Writable memory that ends at an unmapped page. */
void *unit_guard_memory(size_t size);

/* How many descriptors this process has open. */
unsigned unit_open_descriptors(void);

#endif
