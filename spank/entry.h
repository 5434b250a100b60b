/* entry.h - what a node says of itself in the roll call (lib/exchange/roll.h). */
#ifndef ROLLCALL_SPANK_ENTRY_H
#define ROLLCALL_SPANK_ENTRY_H

#include "exchange/roll.h"
#include "resolve.h"

/* The entry of this node, whose first task is resolved, as text in the arena;
 * port is the master port that it holds, 0 where it holds none, and dead the id
 * of the message for which its tasks do not start, NULL where they do. NULL
 * where the values do not fit. */
const char *rc_spank_entry(const struct rc_result *result, uint16_t port, const char *dead, struct rc_arena *arena);

#endif
