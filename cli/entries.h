/* SPDX-License-Identifier: BSD-3-Clause */
/* entries.h - rollcall explain ID: the catalogues of messages and of doctor's findings. */
#ifndef ROLLCALL_CLI_ENTRIES_H
#define ROLLCALL_CLI_ENTRIES_H

#include <stdbool.h>
#include <stddef.h>

/* Prints the entries of some ids: RC602, rc602 or 602, D403 or d403. For an unknown id
 * it prints the nearest ones. Returns the exit status. */
int cli_entries_print(char *const *ids, size_t count, bool json);

/* Prints all of them, one line an id. */
int cli_entries_list(bool json);

#endif
