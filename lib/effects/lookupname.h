/* SPDX-License-Identifier: BSD-3-Clause */
/* lookupname.h - a MASTER_ADDR that stays a name, as this node resolves it; and the errors of every look-up. */
#ifndef ROLLCALL_EFFECTS_LOOKUPNAME_H
#define ROLLCALL_EFFECTS_LOOKUPNAME_H

#include "effects/lookup.h"
#include "launcher/hostlist.h"

/* What an error message tells about this node. */
struct rc_lookup_place {
    char node[RC_HOST_MAX + 1];
    const char *outcome;
};

/* Checks that result->master.addr resolves: on RANK 0's node to one of its own addresses, on others to another node,
 * at an address that RANK 0's node has, where that has told its own. */
void rc_lookup_name(const struct rc_result *result, const struct rc_lookup_place *place, struct rc_lookup *lookup);

/* Copies what fits, with a NUL. */
void rc_lookup_copy(char *to, size_t size, const char *from);

/* Makes an error of the look-up. `text` is in lookup->text already, unless it did not fit there. */
void rc_lookup_fail(struct rc_lookup *lookup, enum rc_message_id id, const char *text);

/* The error of a name that this node cannot resolve. */
void rc_lookup_unknown(const struct rc_master *master, const struct rc_lookup_place *place, struct rc_lookup *lookup);

#endif
