/* SPDX-License-Identifier: BSD-3-Clause */
/* coverage.h - which ranks are there how often: the gaps, and what is there twice. */
#ifndef ROLLCALL_ROLL_COVERAGE_H
#define ROLLCALL_ROLL_COVERAGE_H

#include "roll/group.h"

/* Where ranks begin or end. */
struct rc_edge {
    uint32_t at;
    int32_t change;
};

struct rc_coverage {
    struct rc_edge *edge;   /* room for two a range of the members */
    struct rc_range *gap;   /* ranks that no member has; room for as many as edges, and one */
    struct rc_range *twice; /* ranks that several have; likewise */
    size_t gaps;
    size_t twices;
    uint32_t least; /* how many have a rank of `twice`; fewest and most */
    uint32_t most;
};

/* Fills it in, for ranks below `world`. */
void rc_coverage_find(struct rc_coverage *coverage, const struct rc_member *member, size_t count, uint32_t world);

/* Whether the node has a rank that another has, too. */
bool rc_coverage_is_twice(const struct rc_coverage *coverage, const struct rc_roll *roll);

#endif
