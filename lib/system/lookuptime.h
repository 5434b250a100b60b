/* SPDX-License-Identifier: BSD-3-Clause */
/* lookuptime.h - how long this node's resolver takes to find the name of another node's address, and what that costs.
 *
 * The server of torch's TCPStore asks so for each connection, one after the other, on its only thread
 * (measured with torch 2.6, 2.13 and 2.14; c10d's socket.cpp). Thread safety: as fork.
 */
#ifndef ROLLCALL_SYSTEM_LOOKUPTIME_H
#define ROLLCALL_SYSTEM_LOOKUPTIME_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"

enum { RC_LOOKUP_LIMIT_MS = 2000 };

struct rc_lookup_time {
    bool is_over;    /* the limit has passed, and the rest is not known */
    bool has_failed; /* there is no answer: torch says so once, and asks no more */
    uint32_t first;  /* microseconds of the first look-up */
    uint32_t again;  /* and of the next one, of the same address, which may be kept somewhere */
};

/* Looks up the address of `host`, and then twice the name of that address, as torch does: ::ffff:10.0.0.2 for an
 * IPv4 address. A child does it (bounded.h). 0; or -ENOENT, with *time untouched, where the host has no address,
 * or none within the limit, or no child could be started. Takes at most twice the limit. */
int rc_lookup_time(const char *host, struct rc_lookup_time *time);

/* What torch's store loses by it on the node `where` when so many ranks of so many nodes come (ranks >= nodes): part of
 * a line, in the arena. NULL where it is no more than a second. */
const char *rc_lookup_cost(const struct rc_lookup_time *time, const char *where, uint32_t nodes, uint32_t ranks,
                           struct rc_arena *arena);

#endif
