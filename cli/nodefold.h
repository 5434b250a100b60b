/* SPDX-License-Identifier: BSD-3-Clause */
/* nodefold.h - nodes that are alike in all that they say, taken together, so that a thousand of them can be read. */
#ifndef ROLLCALL_CLI_NODEFOLD_H
#define ROLLCALL_CLI_NODEFOLD_H

#include "base/compact.h"
#include "facts.h"

struct fold {
    const struct rc_roll *roll;
    const struct facts *facts;
    size_t *node; /* the nodes, alike ones side by side, in the order of their ranks */
    size_t nodes;
    struct fold_group {
        size_t first; /* in `node` */
        size_t count;
        unsigned odd; /* things in which they are unlike most */
    } * group;        /* those that differ first, then the largest */
    size_t groups;
    struct rc_str *name; /* room for all names and ranges */
    struct rc_range *range;
};

/* Finds the groups; false without memory. Ends with cli_fold_free. */
bool cli_fold_make(struct fold *fold, const struct rc_roll *roll, const struct facts *facts);
void cli_fold_free(struct fold *fold);

/* "n[1-31]", "0-247": of these nodes, in an arena; long lists end with "and 12 more". */
const char *cli_fold_names(const struct fold *fold, const size_t *node, size_t count, struct rc_arena *arena);
const char *cli_fold_ranks(const struct fold *fold, const size_t *node, size_t count, struct rc_arena *arena);

#endif
