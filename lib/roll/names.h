/* SPDX-License-Identifier: BSD-3-Clause */
/* names.h - names many ranks or hosts in a short text.
 *
 * Ranks: "0-3,8"; hosts, as in launchers' lists: "n[001-003,7]-ib,login1". A text beyond `limit` bytes ends with "and
 * 12 more". Texts are in the arena, "" if they do not fit. Pure. */
#pragma once

#include "base/text.h"
#include "roll/roll.h"

struct rc_range {
    uint32_t first;
    uint32_t last;
};

enum { RC_COMPACT_NAME_MAX = 64 }; /* longer names are cut to this length */

/* Possible reasons why a node did not contact srun's server (RC601, RC621). */
#define RC_NO_CALL                                                           \
    "a prolog or another plugin still works there or has failed, nothing "   \
    "gets through, or slurmd there has no rollcall (see its log) and tasks " \
    "run without ranks"

/* Sort and write the ranges, which may overlap. */
const char *rc_compact_ranges(struct rc_range *ranges, size_t count, size_t limit, struct rc_arena *arena);

/* For qsort of struct rc_str: rc_compact_order(). */
int rc_host_order(const void *left, const void *right);

/* Write the sorted hosts; equal ones once. */
const char *rc_compact_hosts(const struct rc_str *hosts, size_t count, size_t limit, struct rc_arena *arena);

/* Return < 0, 0 or > 0 as memcmp() does. n9 sorts before n10; only equal names return 0. */
int rc_compact_order(struct rc_str a, struct rc_str b);

/* Nodes grouped by a value, for a finding: "'a' for tasks 0-11 on n[1-3], 'b' for tasks 12-15 on n4 and 2 more" */

enum { RC_GROUPS_SHOWN = 3 };

/* An entry and one of its values: a text or a number. */
struct rc_member {
    const struct rc_roll *roll;
    struct rc_str text;
    uint32_t number;
};

struct rc_group {
    const struct rc_member *member;
    size_t count;
    uint32_t node; /* lowest node rank of the members */
};

/* Scratch memory for one finding. */
struct rc_namer {
    struct rc_range *range; /* room for all ranges of all members */
    struct rc_str *host;    /* room for all members */
    struct rc_arena text;
    char space[8192];
};

/* Empty the namer for another finding. */
void rc_namer_reset(struct rc_namer *namer);

/* Compare as memcmp() does; RC_ABSENT sorts before an empty text. */
int rc_text_order(struct rc_str a, struct rc_str b);

/* Sort by value, then by node rank. */
void rc_member_sort(struct rc_member *member, size_t count);

/* Return how many sorted members have the value of the first. */
size_t rc_member_run(const struct rc_member *member, size_t count);

/* Sort the members and return the number of groups. Store the largest in `shown`, in descending order, then by node. */
size_t rc_group_find(struct rc_member *member, size_t count, struct rc_group shown[RC_GROUPS_SHOWN]);

/* Return true if the group has the majority of `count` members. */
static inline bool rc_group_is_most(const struct rc_group *group, size_t count)
{
    return group->count > count / 2;
}

/* Name the groups as above, by texts or numbers. */
const char *rc_name_groups(struct rc_namer *namer, const struct rc_group *group, size_t groups, bool by_number);

/* Return "task 3" or "nodes 0-1,7". Sorts the ranges. */
const char *rc_name_ranges(struct rc_namer *namer, const char *what, struct rc_range *range, size_t count);
const char *rc_name_tasks(struct rc_namer *namer, const struct rc_member *member, size_t count);

/* Return the members' numbers: "tasks 0-1". */
const char *rc_name_numbers(struct rc_namer *namer, const char *what, const struct rc_member *member, size_t count);
const char *rc_name_hosts(struct rc_namer *namer, const struct rc_member *member, size_t count);

/* Return the first hosts of the list that are not flagged in is_there: "n[3-4]". */
const char *rc_name_absent_hosts(struct rc_namer *namer, struct rc_str hosts, const bool *is_there, uint32_t nodes);

/* Return the quoted value, shortened if it is long. */
const char *rc_name_value(struct rc_namer *namer, struct rc_str value);
