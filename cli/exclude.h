/* SPDX-License-Identifier: BSD-3-Clause */
/* exclude.h - the nodes that the findings of a roll blame, as Slurm's --exclude takes them. */
#ifndef ROLLCALL_CLI_EXCLUDE_H
#define ROLLCALL_CLI_EXCLUDE_H

#include "roll/blame.h"

/* The names of all who are blamed, in order, each once: "n7,n12", many with brackets: "n[1-9,12]". "" for nobody.
 * Memory to free; NULL without memory. */
char *cli_exclude_list(const struct rc_blame *blame);

/* The same of one finding. */
char *cli_exclude_of(const struct rc_blame *blame, unsigned finding);

/* How such a list is typed. */
#define CLI_EXCLUDE "--exclude="

#endif
