/* SPDX-License-Identifier: BSD-3-Clause */
/* proposals.h - what nic=auto would set for the tasks of a mapping (lib/resolve/nicnames.h). */
#ifndef ROLLCALL_LIBEXEC_MAP_PROPOSALS_H
#define ROLLCALL_LIBEXEC_MAP_PROPOSALS_H

#include "mapping.h"
#include "resolve/nicnames.h"

struct proposals {
    char *fabric; /* names of all that a job uses */
    char *network;
    char *value;
    size_t size; /* of that */
    struct rc_pins pins;
};

/* 0, or -1 without memory. map_proposals_free takes half-made ones, too. */
int map_proposals_make(const struct mapping *mapping, struct proposals *proposals);
void map_proposals_free(struct proposals *proposals);

/* The value of the i-th variable (rc_nicnames_variable) for a task of the mapping; it
 * lives until the next call. NULL where there is nothing to say. */
const char *map_proposals_value(const struct proposals *proposals, const struct mapping *mapping, unsigned task,
                                unsigned i);

/* Whether the value differs from task to task. */
bool map_proposals_is_own(unsigned i);

#endif
