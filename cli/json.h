/* SPDX-License-Identifier: BSD-3-Clause */
/* json.h - a result and a roll for programs: schema 1, described in rollcall(1). */
#ifndef ROLLCALL_CLI_JSON_H
#define ROLLCALL_CLI_JSON_H

#include "resolve/resolve.h"
#include "roster.h"

/* Prints one object. `explain` adds where each value came from, what was
 * kept, what was not believed, and why. */
void cli_json_print(const struct rc_result *result, bool explain);

/* Prints the roll of a live step as one object. -1 without memory. */
int cli_roster_print_json(const struct roster *roster);

#endif
