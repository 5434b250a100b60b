/* SPDX-License-Identifier: BSD-3-Clause */
/* table.h - a plan applied to an environment array, without libc.
 *
 * A preloaded constructor cannot use setenv(): in bash it binds to bash's own function
 * and has no effect, and clearenv() frees a table that libc has grown while programs
 * still walk it (both measured). So the strings and the table are static and never
 * freed.
 */
#ifndef ROLLCALL_SHIM_TABLE_H
#define ROLLCALL_SHIM_TABLE_H

#include "base/env.h"
#include "resolve/plan.h"

enum { SHIM_TABLE_MAX = 4096, SHIM_TEXT_MAX = 8192 };

struct shim_table {
    char *entry[SHIM_TABLE_MAX + 1];
    uint16_t dropped[SHIM_TABLE_MAX]; /* 1 + indices of entries that are removed */
    char text[SHIM_TEXT_MAX];
};

/* Applies the plan to env, whose index is `index`, and returns the array that is the
 * environment from now on: env itself, or table->entry. NULL, with env unchanged, where
 * the table has too little room for the variables or for the text.
 *
 * Entries are always replaced in env, too: a musl program's main() reads the old
 * array. env keeps its length, because some programs (the Go runtime for one) find the
 * auxiliary vector after its NULL. */
char **shim_table_apply(struct shim_table *table, char **env, const struct rc_env *index, const struct rc_plan *plan);

#endif
