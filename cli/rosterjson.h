/* SPDX-License-Identifier: BSD-3-Clause */
/* rosterjson.h - the roll of a live step for programs: `rollcall check --json`. */
#ifndef ROLLCALL_CLI_ROSTERJSON_H
#define ROLLCALL_CLI_ROSTERJSON_H

#include "roster.h"

/* Prints one object, described in rollcall(1). -1 without memory. */
int cli_roster_print_json(const struct roster *roster);

#endif
