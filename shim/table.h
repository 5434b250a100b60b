/* SPDX-License-Identifier: BSD-3-Clause */
/* table.h - a plan applied to an environment array, without libc.
 *
 * setenv() is out of the question in a preloaded constructor: in bash it binds
 * to bash's own function and does not stick, and a table that libc has grown
 * is freed by clearenv() under programs that still walk the old one (both
 * measured). So the strings and the table are ours, static, and never freed.
 */
#ifndef ROLLCALL_SHIM_TABLE_H
#define ROLLCALL_SHIM_TABLE_H

#include "base/env.h"
#include "resolve/plan.h"

enum { SHIM_TABLE_MAX = 4096, SHIM_TEXT_MAX = 8192 };

struct shim_table {
    char *entry[SHIM_TABLE_MAX + 1];
    uint16_t dropped[SHIM_TABLE_MAX]; /* 1 + places of entries that go */
    char text[SHIM_TEXT_MAX];
};

/* Applies the plan to env, the array that `index` is of, and returns the array
 * that is to be the environment from now on: env itself, or table->entry. NULL,
 * with env untouched, for more variables than the table holds or values longer
 * than its text.
 *
 * Entries are replaced in place in env too, whichever array is returned: a
 * musl program's main() reads the old one. env keeps its length in any case,
 * because programs (the Go runtime for one) find the auxiliary vector behind
 * its NULL. */
char **shim_table_apply(struct shim_table *table, char **env, const struct rc_env *index, const struct rc_plan *plan);

#endif
