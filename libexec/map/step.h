/* SPDX-License-Identifier: BSD-3-Clause */
/* step.h - rollcall map --step: the maps of all nodes of a step, from inside of its tasks.
 *
 * The first task of each node leaves its map at srun's server (rendezvous/store.h);
 * RANK 0 collects them and prints: nodes with the same map once. The others print nothing.
 */
#ifndef ROLLCALL_LIBEXEC_MAP_STEP_H
#define ROLLCALL_LIBEXEC_MAP_STEP_H

#include "mapping.h"

enum { STEP_WAIT_DEFAULT = 15, STEP_WAIT_MAX = 600 };

/* An exit status: 0, or after a line on standard error 1 where nodes are missing,
 * 2 where there is no server, or this node has no map. */
int step_show(const struct wishes *wishes, bool json, uint32_t seconds);

#endif
