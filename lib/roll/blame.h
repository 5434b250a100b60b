/* SPDX-License-Identifier: BSD-3-Clause */
/* blame.h - which nodes the findings of a roll call blame: those to leave out of the next job.
 *
 * A finding blames nodes that did not answer, and nodes that differ from more than half of all. It blames none where
 * no side has more than half, nor where the launch as a whole is wrong: a rank that is there twice, a count that
 * differs, a GPU that two tasks share. A node whose tasks are not going to start is blamed without a finding.
 *
 * Nodes are named as the launcher lists them, so that its options take the names.
 */
#ifndef ROLLCALL_ROLL_BLAME_H
#define ROLLCALL_ROLL_BLAME_H

#include <stdbool.h>
#include <stddef.h>

#include "roll/roll.h"

/* The place of a finding that is none: the node itself has said that its tasks are not going to start. */
enum { RC_BLAMED_BY_ITSELF = 255 };

struct rc_blamed {
    unsigned finding; /* its place among the findings */
    char *name;
    struct rc_str host; /* as the entry has it; absent where there is none */
};

/* Zero it to begin, rc_blame_free to end. The rolls' texts must live as long. */
struct rc_blame {
    struct rc_blamed *list; /* one for each finding and node */
    size_t count;
    size_t room;
};

/* Adds a node without an entry by the name that the launcher has for it, unless that is no host's name. Returns false,
 * with nothing added, without memory. */
bool rc_blame_add_name(struct rc_blame *blame, unsigned finding, struct rc_str name);

/* Adds the node of an entry. Likewise. */
bool rc_blame_add(struct rc_blame *blame, unsigned finding, const struct rc_roll *roll);

void rc_blame_free(struct rc_blame *blame);

/* The place of the entry's node in a host list, which may have the short name of a host that calls itself by a long
 * one. RC_UNKNOWN where it is not in it. */
uint32_t rc_blame_find_host(struct rc_str hosts, struct rc_str host);

#endif
