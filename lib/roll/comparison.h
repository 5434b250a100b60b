/* SPDX-License-Identifier: BSD-3-Clause */
/* comparison.h - which nodes an item of items.def is compared on, and what counts as the same.
 *
 * RC622 and the page of rollcall check ask here, so that both call the same nodes odd.
 */
#ifndef ROLLCALL_ROLL_COMPARISON_H
#define ROLLCALL_ROLL_COMPARISON_H

#include "roll/group.h"
#include "roll/items.h"

/* The nodes that say what they have. Nodes of another part of the launch (the item component) are not compared. */
struct rc_comparison {
    struct rc_member *node; /* text: its part; in the order of parts */
    struct rc_str *value;   /* RC_ITEMS a node */
    size_t count;
};

/* Reads what the members' entries say, in any order; the texts stay theirs. False without memory. Ends with
 * rc_comparison_free, also then. */
bool rc_comparison_read(struct rc_comparison *comparison, const struct rc_member *member, size_t count);
void rc_comparison_free(struct rc_comparison *comparison);

/* How many nodes, from this one on, are of one part. */
size_t rc_comparison_part(const struct rc_comparison *comparison, size_t first);

/* Puts the nodes of that part that the item is compared on into `member`, which has room for all of them, and
 * returns how many they are. Their texts are equal where nothing differs: amounts that are almost the same are given
 * as one of them. Returns 0 where all say the same, which is so in a healthy launch. */
size_t rc_comparison_select(const struct rc_comparison *comparison, size_t first, enum rc_item item,
                            struct rc_member *member);

#endif
