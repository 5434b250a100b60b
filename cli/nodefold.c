/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodefold.h"

#include <stdlib.h>

#include "roll/group.h"
#include "roll/netorder.h"

/* Bytes of a list. */
enum { NAMES_LIMIT = 200, RANKS_LIMIT = 60 };

/* A node while they are sorted. */
struct place {
    const struct fold *fold;
    size_t node;
};

static int order_numbers(size_t a, size_t b)
{
    return (a > b) - (a < b);
}

static int order_facts(const struct facts *facts, size_t a, size_t b)
{
    for (unsigned fact = 0; fact < FACTS; fact++) {
        const struct fact *left = cli_facts_of(facts, a, fact);
        const struct fact *right = cli_facts_of(facts, b, fact);
        int order = order_numbers(left->side, right->side);

        /* what is as with most nodes may be written a little differently */
        if (!order && (left->side != SIDE_OF_MOST || cli_facts_is_part(fact)))
            order = rc_text_order(left->value, right->value);
        if (order)
            return order;
    }
    return 0;
}

static int order_kinds(const struct place *a, const struct place *b)
{
    const struct rc_roll *left = &a->fold->roll[a->node];
    const struct rc_roll *right = &b->fold->roll[b->node];
    int order = order_facts(a->fold->facts, a->node, b->node);

    if (!order)
        order = order_numbers(left->gpu_count, right->gpu_count);
    if (!order)
        order = order_numbers(rc_netorder_tasks(left), rc_netorder_tasks(right));
    return order ? order : rc_text_order(left->dead, right->dead);
}

static int by_kind(const void *left, const void *right)
{
    const struct place *a = left;
    const struct place *b = right;
    int order = order_kinds(a, b);

    return order ? order : order_numbers(a->node, b->node);
}

static int by_interest(const void *left, const void *right)
{
    const struct fold_group *a = left;
    const struct fold_group *b = right;
    int order = order_numbers(b->odd > 0, a->odd > 0);

    if (!order)
        order = order_numbers(b->count, a->count);
    return order ? order : order_numbers(a->first, b->first);
}

static void find_groups(struct fold *fold, const struct place *place)
{
    for (size_t i = 0; i < fold->nodes; i++) {
        fold->node[i] = place[i].node;
        if (i == 0 || order_kinds(&place[i - 1], &place[i]) != 0)
            fold->group[fold->groups++] = (struct fold_group){ .first = i,
                                                               .odd = cli_facts_count_odd(fold->facts, place[i].node) };
        fold->group[fold->groups - 1].count++;
    }
    qsort(fold->group, fold->groups, sizeof(*fold->group), by_interest);
}

static size_t count_ranges(const struct rc_roll *roll, size_t count)
{
    size_t ranges = 1;
    uint32_t first, last;

    for (size_t i = 0; i < count; i++)
        for (struct rc_str rest = roll[i].tasks; rc_roll_next_range(&rest, &first, &last);)
            ranges++;
    return ranges;
}

bool cli_fold_make(struct fold *fold, const struct rc_roll *roll, const struct facts *facts)
{
    size_t nodes = facts->nodes;
    struct place *place = calloc(nodes + 1, sizeof(*place));

    *fold = (struct fold){ .roll = roll, .facts = facts, .nodes = nodes };
    fold->node = calloc(nodes + 1, sizeof(*fold->node));
    fold->group = calloc(nodes + 1, sizeof(*fold->group));
    fold->name = calloc(nodes + 1, sizeof(*fold->name));
    fold->range = calloc(count_ranges(roll, nodes), sizeof(*fold->range));
    if (!place || !fold->node || !fold->group || !fold->name || !fold->range) {
        free(place);
        return false;
    }
    for (size_t i = 0; i < nodes; i++)
        place[i] = (struct place){ fold, i };
    qsort(place, nodes, sizeof(*place), by_kind);
    find_groups(fold, place);
    free(place);
    return true;
}

void cli_fold_free(struct fold *fold)
{
    free(fold->node);
    free(fold->group);
    free(fold->name);
    free(fold->range);
    *fold = (struct fold){ .nodes = 0 };
}

static int by_name(const void *a, const void *b)
{
    return rc_compact_order(*(const struct rc_str *)a, *(const struct rc_str *)b);
}

static int by_first(const void *a, const void *b)
{
    return order_numbers(((const struct rc_range *)a)->first, ((const struct rc_range *)b)->first);
}

const char *cli_fold_names(const struct fold *fold, const size_t *node, size_t count, struct rc_arena *arena)
{
    for (size_t i = 0; i < count; i++)
        fold->name[i] = fold->roll[node[i]].host;
    qsort(fold->name, count, sizeof(*fold->name), by_name);
    return rc_compact_hosts(fold->name, count, NAMES_LIMIT, arena);
}

const char *cli_fold_ranks(const struct fold *fold, const size_t *node, size_t count, struct rc_arena *arena)
{
    size_t ranges = 0;

    for (size_t i = 0; i < count; i++)
        for (struct rc_str rest = fold->roll[node[i]].tasks;
             rc_roll_next_range(&rest, &fold->range[ranges].first, &fold->range[ranges].last);)
            ranges++;
    qsort(fold->range, ranges, sizeof(*fold->range), by_first);
    return rc_compact_ranges(fold->range, ranges, RANKS_LIMIT, arena);
}
