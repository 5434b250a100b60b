/* SPDX-License-Identifier: BSD-3-Clause */
/* check.h - the roll call: do all nodes' entries make one launch?
 *
 * Every contradiction is one finding: what was found, on which tasks and nodes, and what to change (messages.def).
 * Tasks and nodes are named compactly ("tasks 8-15 on h[2-3]"), the same finding of many nodes once. Where values
 * differ, the one that most nodes have comes first, and three of them are shown. What would hang is an error, the rest
 * a warning.
 *
 * A finding blames nodes, those to leave out of the next job: nodes that did not answer, and nodes that differ from
 * more than half of all. It blames none where no side has more than half, nor where the launch as a whole is wrong: a
 * rank that comes twice, a count that differs, a GPU that two tasks share. A node whose tasks are not going to start is
 * blamed without a finding.
 */
#pragma once

#include "base/message.h"
#include "roll/roll.h"

/* Frees what a roll call has added. */
void rc_blame_free(struct rc_blame *blame);

/* Bytes of an arena that has room for the findings of any entries. */
enum { RC_CHECK_ARENA = RC_MESSAGES_MAX * (RC_FINDING_MAX + 1) };

/* What the caller knows, and what it wants. */
struct rc_roll_known {
    uint32_t deadline;    /* in seconds; 0: none */
    unsigned item_lines;  /* findings of what nodes have: the gravest so many, and one for the others */
    const char *silence;  /* why a node may be silent; NULL: not known */
    struct rc_str addr;   /* what all nodes are going to take for MASTER_ADDR (rc_roll_address); absent: they keep it */
    bool addresses_alone; /* check no more than `addr` */
};

/* What a user reads before a job; rollcall check shows all. */
enum { RC_ITEM_LINES = 5 };

/* Checks the entries of the nodes that answered; their order does not matter. Adds its findings to *findings, with
 * texts in the arena: RC_MESSAGES_MAX at most, each of RC_FINDING_MAX bytes at most. The nodes that they blame are
 * added to *blame, unless that is NULL. Allocates what it needs with malloc and frees it; false, with nothing added,
 * without memory or room in the arena. Takes O(n log n) for entries of n ranges in all. Thread safe. */
bool rc_roll_check(const struct rc_roll *rolls, size_t count, const struct rc_roll_known *known,
                   struct rc_messages *findings, struct rc_blame *blame, struct rc_arena *arena);

/* The address of RANK 0's node that all take for MASTER_ADDR, because it does not lead there from some node (RC423):
 * the one that most nodes know by name, else that by which the node reaches srun. Absent if all keep MASTER_ADDR. */
struct rc_str rc_roll_address(const struct rc_roll *rolls, size_t count);

bool rc_roll_found(const struct rc_messages *findings, enum rc_message_id id);
