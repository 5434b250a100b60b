/* SPDX-License-Identifier: BSD-3-Clause */
/* missing.h - the tasks that have not come, and their nodes, in a few words. */
#pragma once

#include "rendezvous/wire.h"
#include "roll/names.h"

/* Finds the ranges of those of `all` that have not come. `range` has room for half of `all`, and one more. */
size_t rc_missing_ranges(const bool *come, uint32_t all, struct rc_range *range);

/* Returns "tasks 2-3 on n2", text of the namer: those of `all` that have not come, at least one. Without the hosts
 * where a roll does not have the nodes of them all; else *one gets the name of one of the hosts, without a domain, as
 * Slurm takes it. NULL without memory. */
const char *rc_missing_name(const char *what, const bool *come, uint32_t all, const struct rc_roll *rolls, size_t count,
                            struct rc_namer *namer, struct rc_str *one);

/* Writes "ranks 2-3 on n2 have not called it", where srun's server, which may be NULL, says on which node each is.
 * False, with nothing written, if all have come. */
bool rc_missing_ask(const struct rc_endpoint *server, const bool *come, uint32_t all, struct rc_arena *arena);
