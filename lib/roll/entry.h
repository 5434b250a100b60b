/* SPDX-License-Identifier: BSD-3-Clause */
/* entry.h - what a node says of itself in the roll call (roll.h). */
#ifndef ROLLCALL_ROLL_ENTRY_H
#define ROLLCALL_ROLL_ENTRY_H

#include "resolve/resolve.h"
#include "roll/roll.h"

/* The entry of this node, one of whose tasks is resolved, as text in the arena.
 * tasks: the ranks on it, parted by commas, in any order; port: the master port
 * that it holds, 0 where it holds none; failed: the id of the message for which
 * it cannot hold it, NULL where it can: its tasks do not start then; where the
 * nodes ask for their order, only if it becomes the node of RANK 0. NULL where the
 * values do not fit. */
const char *rc_entry_write(const struct rc_result *result, struct rc_str tasks, uint16_t port, const char *failed,
                           bool asks_order, struct rc_arena *arena);

#endif
