/* SPDX-License-Identifier: BSD-3-Clause */
/* reverse.h - lookup=numeric: torch's stores do not look up names.
 *
 * A store's server, in RANK 0's process or in the launcher's on that node (torchrun), looks up each client, one after
 * the other. Each client looks up the server, and with a name server that never answers waits 10 s. So all tasks get
 * a library in LD_PRELOAD (shim/lookup.c), which answers torch's calls of getnameinfo with the address. This file
 * plans that LD_PRELOAD.
 */
#ifndef ROLLCALL_RESOLVE_REVERSE_H
#define ROLLCALL_RESOLVE_REVERSE_H

#include "launcher/hostlist.h"
#include "resolve/result.h"

#define RC_REVERSE_LIBRARY "librollcall-lookup.so"

/* Adds to the plan of worker or launcher mode what lookup=numeric needs. Asks for RC_LEARN_REVERSE.
 * What keeps the library away is a warning, no more. */
void rc_reverse_plan(const struct rc_context *context, struct rc_result *result);

/* Whether this task's process, or its launcher, has the store that all ranks connect to. */
bool rc_reverse_has_store(const struct rc_result *result);

/* Writes the name of a node that is not RANK 0's. False where there is none, or nobody says which. */
bool rc_reverse_neighbour(const struct rc_result *result, char name[RC_HOST_MAX + 1]);

/* Returns how many ranks of torch connect to the store, as far as is known: tasks, or a launcher's workers. */
uint32_t rc_reverse_ranks(const struct rc_context *context, const struct rc_result *result);

#endif
