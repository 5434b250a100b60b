/* SPDX-License-Identifier: BSD-3-Clause */
#include "roll/coverage.h"

#include <stdlib.h>

static int by_place(const void *left, const void *right)
{
    uint32_t a = ((const struct rc_edge *)left)->at;
    uint32_t b = ((const struct rc_edge *)right)->at;

    return (a > b) - (a < b);
}

static size_t find_edges(struct rc_edge *edge, const struct rc_member *member, size_t count)
{
    size_t edges = 0;

    for (size_t i = 0; i < count; i++) {
        struct rc_str rest = member[i].roll->tasks;
        uint32_t first;
        uint32_t last;

        while (rc_roll_next_range(&rest, &first, &last)) {
            edge[edges++] = (struct rc_edge){ first, 1 };
            edge[edges++] = (struct rc_edge){ last + 1, -1 };
        }
    }
    qsort(edge, edges, sizeof(*edge), by_place);
    return edges;
}

/* From edge to edge: between two of them all ranks are equally often there. */
void rc_coverage_find(struct rc_coverage *coverage, const struct rc_member *member, size_t count, uint32_t world)
{
    size_t edges = find_edges(coverage->edge, member, count);
    uint32_t often = 0;
    uint32_t at = 0;

    coverage->gaps = coverage->twices = 0;
    coverage->least = UINT32_MAX;
    coverage->most = 0;
    for (size_t i = 0; i <= edges; i++) {
        uint32_t next = i < edges ? coverage->edge[i].at : world;

        if (next > at && often == 0 && at < world)
            coverage->gap[coverage->gaps++] = (struct rc_range){ at, (next < world ? next : world) - 1 };
        if (next > at && often > 1) {
            coverage->twice[coverage->twices++] = (struct rc_range){ at, next - 1 };
            coverage->least = often < coverage->least ? often : coverage->least;
            coverage->most = often > coverage->most ? often : coverage->most;
        }
        if (i < edges) {
            often += (uint32_t)coverage->edge[i].change;
            at = next;
        }
    }
}

bool rc_coverage_is_twice(const struct rc_coverage *coverage, const struct rc_roll *roll)
{
    struct rc_str rest = roll->tasks;
    uint32_t first;
    uint32_t last;

    while (rc_roll_next_range(&rest, &first, &last)) {
        size_t low = 0;
        size_t high = coverage->twices;

        while (low < high) {
            size_t middle = low + (high - low) / 2;

            if (coverage->twice[middle].last < first)
                low = middle + 1;
            else
                high = middle;
        }
        if (low < coverage->twices && coverage->twice[low].first <= last)
            return true;
    }
    return false;
}
