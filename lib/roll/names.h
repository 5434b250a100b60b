/* SPDX-License-Identifier: BSD-3-Clause */
/* names.h - many ranks and hosts in few words. */
#pragma once

#include "base/text.h"
#include "roll/roll.h"

/* Many ranks or hosts in few characters, for a line that a human reads.
 *
 * Ranks: "0-3,8"; hosts, as launchers write their lists: "n[001-003,7]-ib,login1".
 * What would be longer than `limit` bytes ends with "and 12 more"; the first of
 * all is always there. Pure; the text is in the arena, "" where it does not fit. */

struct rc_range {
    uint32_t first;
    uint32_t last;
};

enum { RC_COMPACT_NAME_MAX = 64 }; /* a longer name is cut after so many characters */

/* Why nothing has come to srun's server from a node (RC601, RC621). */
#define RC_NO_CALL                                                           \
    "a prolog or another plugin still works there or has failed, nothing "   \
    "gets through, or slurmd there has no rollcall (see its log) and tasks " \
    "run without ranks"

/* Sorts the ranges, which may touch and overlap. */
const char *rc_compact_ranges(struct rc_range *ranges, size_t count, size_t limit, struct rc_arena *arena);

/* For qsort: two struct rc_str, in the order of rc_compact_order. */
int rc_host_order(const void *left, const void *right);

/* Hosts in the order of rc_host_order; equal ones are shown once. */
const char *rc_compact_hosts(const struct rc_str *hosts, size_t count, size_t limit, struct rc_arena *arena);

/* Compares two hosts for a sort: below zero where a comes before b. n9 comes before n10; 0 means equal names. */
int rc_compact_order(struct rc_str a, struct rc_str b);

/* Nodes that say the same of one thing, and how they are named in a finding.
 *
 * "'a' for tasks 0-11 on n[1-3], 'b' for tasks 12-15 on n4 and 2 more" */

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
    uint32_t node; /* the lowest node rank of the members */
};

/* What naming the members of one finding needs: arrays, and room for the texts. */
struct rc_namer {
    struct rc_range *range; /* room for all ranges of all members */
    struct rc_str *host;    /* room for one of each member */
    struct rc_arena text;
    char space[8192];
};

/* Empties the namer for another finding. */
void rc_namer_reset(struct rc_namer *namer);

/* Compares two texts as memcmp does; an absent text comes before an empty one. */
int rc_text_order(struct rc_str a, struct rc_str b);

/* Sorts by value, then by node rank. */
void rc_member_sort(struct rc_member *member, size_t count);

/* Returns how many of the sorted members have the same value as the first one. */
size_t rc_member_run(const struct rc_member *member, size_t count);

/* Sorts the members, finds the groups and returns how many there are. The largest go to
 * `shown`, the largest first; of two of a size the one with the lowest node is first. */
size_t rc_group_find(struct rc_member *member, size_t count, struct rc_group shown[RC_GROUPS_SHOWN]);

/* Whether the group has more than half of so many members, so that the others are the odd ones. */
static inline bool rc_group_is_most(const struct rc_group *group, size_t count)
{
    return group->count > count / 2;
}

/* Names the groups as in the example above, by their texts or by their numbers; an absent text is "unset". */
const char *rc_name_groups(struct rc_namer *namer, const struct rc_group *group, size_t groups, bool by_number);

/* "task 3", "nodes 0-1,7"; sorts the ranges. */
const char *rc_name_ranges(struct rc_namer *namer, const char *what, struct rc_range *range, size_t count);
const char *rc_name_tasks(struct rc_namer *namer, const struct rc_member *member, size_t count);

/* The numbers of the members: "tasks 0-1". */
const char *rc_name_numbers(struct rc_namer *namer, const char *what, const struct rc_member *member, size_t count);
const char *rc_name_hosts(struct rc_namer *namer, const struct rc_member *member, size_t count);

/* "n[3-4]": those of a host list that are not there; the first of many. */
const char *rc_name_absent_hosts(struct rc_namer *namer, struct rc_str hosts, const bool *is_there, uint32_t nodes);

/* Returns the value in quotes; of a long one only its beginning. */
const char *rc_name_value(struct rc_namer *namer, struct rc_str value);
