/* SPDX-License-Identifier: BSD-3-Clause */
/* check.h - the roll call: do all nodes' entries make one launch?
 *
 * Every contradiction is one finding with an id of RC6xx: what was found, on which tasks and nodes, and what to change.
 * Tasks and nodes are named compactly ("tasks 8-15 on h[2-3]"), the same finding of many nodes once. Where values
 * differ, the one that most nodes have comes first, and three of them are shown. What would hang is an error, the rest
 * a warning.
 *
 *   RC608 warning  another version of rollcall
 *   RC610 error    entries of another launch; what follows leaves them out
 *   RC603 error    nodes count the tasks or the nodes differently, or two have one node rank
 *   RC602 error    a rank comes twice
 *   RC601 warning  nodes did not answer by the deadline: all go on with the port that each computes
 *   RC614 error    all have answered, but tasks are on no node
 *   RC604 error    nodes have another MASTER_ADDR
 *   RC605 error    nodes are in another mode
 *   RC606 warning  a GPU is used by two tasks
 *   RC607 warning  two nodes have one identity: equal host names, or one boot id under two names
 *   RC609 warning  a variable that must be the same differs, or is set on some nodes only
 *   RC622 warning  a node has something else than the others, such as a GPU less (items.def)
 */
#pragma once

#include "base/message.h"
#include "roll/blame.h"
#include "roll/roll.h"

/* Bytes of an arena that has room for the findings of any entries. */
enum { RC_CHECK_ARENA = RC_MESSAGES_MAX * (RC_FINDING_MAX + 1) };

/* What the caller knows, and what it wants. */
struct rc_roll_known {
    uint32_t deadline;   /* in seconds; 0: none */
    unsigned item_lines; /* findings of what nodes have: the gravest so many, and one for the others */
    struct rc_str srun;  /* where a server of this release is; absent: on a node */
    bool releases_alone; /* only what makes a computed port necessary: nodes that speak another version of the wire */
};

/* What a user reads before a job; rollcall check shows all. */
enum { RC_ITEM_LINES = 5 };

/* Checks the entries of the nodes that answered; their order does not matter. Adds its findings to *findings, with
 * texts in the arena: RC_MESSAGES_MAX at most, each of RC_FINDING_MAX bytes at most. The nodes that they blame are
 * added to *blame, unless that is NULL. Allocates what it needs with malloc and frees it; false, with nothing added,
 * without memory or room in the arena. Takes O(n log n) for entries of n ranges in all. Thread safe. */
bool rc_roll_check(const struct rc_roll *rolls, size_t count, const struct rc_roll_known *known,
                   struct rc_messages *findings, struct rc_blame *blame, struct rc_arena *arena);
