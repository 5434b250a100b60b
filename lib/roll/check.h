/* SPDX-License-Identifier: BSD-3-Clause */
/* check.h - the roll call: do all nodes' entries make one launch?
 *
 * A finding is one contradiction, its tasks and nodes ("tasks 8-15 on h[2-3]"), and what to change. It shows three
 * different values, the most common first. A fault that would hang the job is an error, others are warnings.
 *
 * A finding blames nodes to exclude from the next job: those that did not answer or differ from more than half of all.
 * It blames none without a majority, or if the launch is wrong: a repeated rank, a differing count, a shared GPU. A
 * node whose tasks will not start is blamed without a finding. */
#pragma once

#include "base/message.h"
#include "roll/roll.h"

void rc_blame_free(struct rc_blame *blame);

/* Size of an arena for any findings. */
enum { RC_CHECK_ARENA = RC_MESSAGES_MAX * (RC_FINDING_MAX + 1) };

struct rc_roll_known {
    uint32_t deadline;    /* seconds; 0: none */
    unsigned item_lines;  /* most findings about items, plus one that lists the rest */
    const char *silence;  /* why a node may be silent; NULL: unknown */
    struct rc_str addr;   /* MASTER_ADDR for all nodes (rc_roll_address); RC_ABSENT: they keep theirs */
    bool addresses_alone; /* check only `addr` */
};

/* Before a job; rollcall check shows all. */
enum { RC_ITEM_LINES = 5 };

/* Check the entries, in any order. Add at most RC_MESSAGES_MAX findings, with their texts in the arena, and blamed
 * nodes unless `blame` is NULL. Return false, with *findings unchanged, if memory or the arena is exhausted. O(n log n)
 * for n ranges of ranks. Thread safe. */
bool rc_roll_check(const struct rc_roll *rolls, size_t count, const struct rc_roll_known *known,
                   struct rc_messages *findings, struct rc_blame *blame, struct rc_arena *arena);

/* If MASTER_ADDR does not lead to RANK 0's node from some node (RC423), return its address that most nodes find by
 * name, else the one to srun. Return RC_ABSENT if all keep MASTER_ADDR. */
struct rc_str rc_roll_address(const struct rc_roll *rolls, size_t count);

bool rc_roll_found(const struct rc_messages *findings, enum rc_message_id id);
