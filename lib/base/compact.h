/* SPDX-License-Identifier: BSD-3-Clause */
/* compact.h - many ranks or hosts in few characters, for a line that a human reads.
 *
 * Ranks: "0-3,8"; hosts, as launchers write their lists: "n[001-003,7]-ib,login1".
 * What would be longer than `limit` bytes ends with "and 12 more"; the first of
 * all is always there. Pure; the text is in the arena, "" where it does not fit.
 */
#ifndef ROLLCALL_BASE_COMPACT_H
#define ROLLCALL_BASE_COMPACT_H

#include <stddef.h>

#include "base/text.h"

struct rc_range {
    uint32_t first;
    uint32_t last;
};

enum { RC_COMPACT_NAME_MAX = 64 }; /* a longer name is cut behind so many characters */

/* Ranges in ascending order of `first`; they may touch and overlap. */
const char *rc_compact_ranges(const struct rc_range *ranges, size_t count, size_t limit, struct rc_arena *arena);

/* Hosts in the order of rc_compact_order; equal ones are shown once. */
const char *rc_compact_hosts(const struct rc_str *hosts, size_t count, size_t limit, struct rc_arena *arena);

/* Compares two hosts for a sort: below zero where a stands before b. n9 stands before n10;
 * 0 means equal names. */
int rc_compact_order(struct rc_str a, struct rc_str b);

#endif
