/* SPDX-License-Identifier: BSD-3-Clause */
/* group.h - nodes that say the same of one thing, and how they are named in a finding.
 *
 * "'a' for tasks 0-11 on n[1-3], 'b' for tasks 12-15 on n4 and 2 more"
 */
#ifndef ROLLCALL_ROLL_GROUP_H
#define ROLLCALL_ROLL_GROUP_H

#include "base/compact.h"
#include "roll/roll.h"

enum { RC_GROUPS_SHOWN = 3 };

/* What an entry says of one thing: a text or a number. */
struct rc_member {
    const struct rc_roll *roll;
    struct rc_str text;
    uint32_t number;
};

/* Members with the same value. */
struct rc_group {
    const struct rc_member *member;
    size_t count;
    uint32_t node; /* the lowest */
};

/* Room for naming members, and for the texts of one finding. */
struct rc_namer {
    struct rc_range *range; /* as many as the members have ranges */
    struct rc_str *host;    /* as many as there are members */
    struct rc_arena text;
    char space[8192];
};

/* Before another finding. */
void rc_namer_reset(struct rc_namer *namer);

/* Below, at or above zero, as memcmp; an absent text is before an empty one. */
int rc_text_order(struct rc_str a, struct rc_str b);

/* Sorts by value, then by node rank. */
void rc_member_sort(struct rc_member *member, size_t count);

/* How many of the sorted members have the value of the first. */
size_t rc_member_run(const struct rc_member *member, size_t count);

/* Sorts the members and finds the groups; the largest ones go to `shown`, in
 * order, of equal ones that with the lowest node. Returns how many there are. */
size_t rc_group_find(struct rc_member *member, size_t count, struct rc_group shown[RC_GROUPS_SHOWN]);

enum rc_group_show { RC_SHOW_TEXT, RC_SHOW_NUMBER, RC_SHOW_NO_VALUE };

/* As in the head's example; "unset" for an absent text. NO_VALUE says "one value",
 * "another value" and "no value" in their places. */
const char *rc_name_groups(struct rc_namer *namer, const struct rc_group *group, size_t groups,
                           enum rc_group_show show);

/* "task 3", "nodes 0-1,7"; the ranges in ascending order. */
const char *rc_name_ranges(struct rc_namer *namer, const char *what, const struct rc_range *range, size_t count);
const char *rc_name_tasks(struct rc_namer *namer, const struct rc_member *member, size_t count);
const char *rc_name_nodes(struct rc_namer *namer, const struct rc_member *member, size_t count);

/* The numbers of the members: "tasks 0-1". */
const char *rc_name_numbers(struct rc_namer *namer, const char *what, const struct rc_member *member, size_t count);
const char *rc_name_hosts(struct rc_namer *namer, const struct rc_member *member, size_t count);

/* Quoted, and its beginning alone if it is long. */
const char *rc_name_value(struct rc_namer *namer, struct rc_str value);

#endif
