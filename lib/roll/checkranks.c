/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "launcher/hosts.h"
#include "roll/check.h"
#include "roll/checking.h"

/* Begin or end of a range of ranks. */
struct edge {
    uint32_t at;
    int32_t change;
};

struct coverage {
    struct rc_range *gap;   /* ranks without a member */
    struct rc_range *twice; /* ranks with several */
    size_t gaps;
    size_t twices;
};

static int by_place(const void *left, const void *right)
{
    uint32_t a = ((const struct edge *)left)->at;
    uint32_t b = ((const struct edge *)right)->at;

    return (a > b) - (a < b);
}

static size_t find_edges(struct edge *edge, const struct rc_member *member, size_t count)
{
    size_t edges = 0;

    for (size_t i = 0; i < count; i++) {
        struct rc_str rest = member[i].roll->tasks;
        uint32_t first;
        uint32_t last;

        while (rc_roll_next_range(&rest, &first, &last)) {
            edge[edges++] = (struct edge){ first, 1 };
            edge[edges++] = (struct edge){ last + 1, -1 };
        }
    }
    qsort(edge, edges, sizeof(*edge), by_place);
    return edges;
}

/* Count the members of each rank: between two edges the count is constant. Return false if memory is exhausted. */
static bool find_coverage(struct rc_checking *check, uint32_t world, struct coverage *coverage)
{
    struct edge *edge = rc_checking_allocate(check, 2 * check->ranges, sizeof(*edge));
    size_t edges;
    uint32_t often = 0;
    uint32_t at = 0;

    *coverage = (struct coverage){
        .gap = rc_checking_allocate(check, 2 * check->ranges, sizeof(*coverage->gap)),
        .twice = rc_checking_allocate(check, 2 * check->ranges, sizeof(*coverage->twice)),
    };
    if (check->failed)
        return false;
    edges = find_edges(edge, check->member, check->count);
    for (size_t i = 0; i <= edges; i++) {
        uint32_t next = i < edges ? edge[i].at : world;

        if (next > at && often == 0 && at < world)
            coverage->gap[coverage->gaps++] = (struct rc_range){ at, (next < world ? next : world) - 1 };
        if (next > at && often > 1)
            coverage->twice[coverage->twices++] = (struct rc_range){ at, next - 1 };
        if (i < edges) {
            often += (uint32_t)edge[i].change;
            at = next;
        }
    }
    return true;
}

static int by_overlap(const void *own, const void *other)
{
    const struct rc_range *a = own;
    const struct rc_range *b = other;

    return a->last < b->first ? -1 : a->first > b->last;
}

static bool has_rank_of_another(const struct coverage *coverage, const struct rc_roll *roll)
{
    struct rc_str rest = roll->tasks;
    struct rc_range own;

    while (rc_roll_next_range(&rest, &own.first, &own.last))
        if (bsearch(&own, coverage->twice, coverage->twices, sizeof(own), by_overlap))
            return true;
    return false;
}

static const char *name_involved(struct rc_checking *check, const struct coverage *ranks)
{
    size_t parts = 0;

    for (size_t i = 0; i < check->count; i++)
        if (has_rank_of_another(ranks, check->member[i].roll))
            check->part[parts++].roll = check->member[i].roll;
    return rc_name_hosts(&check->namer, check->part, parts);
}

static void check_repeated(struct rc_checking *check, const struct coverage *ranks)
{
    bool one = ranks->twices == 1 && ranks->twice->first == ranks->twice->last;

    if (ranks->twices == 0)
        return;
    rc_checking_add(check, RC602,
                    "%s come%s more than once: on %s; every rank must be there once; start all tasks with one "
                    "launcher, or unset RANK and SLURM_PROCID where a script exports them",
                    rc_name_ranges(&check->namer, "rank", ranks->twice, ranks->twices), one ? "s" : "",
                    name_involved(check, ranks));
}

/* Find the ranges of node ranks without an entry. Entries of another launch count: their nodes answered. */
static size_t find_silent(struct rc_checking *check, uint32_t nodes, struct rc_range *silent, uint64_t *ranks)
{
    uint32_t next = 0;
    size_t count = 0;

    for (size_t i = 0; i < check->all; i++)
        check->part[i] = (struct rc_member){ &check->rolls[i], RC_ABSENT, check->rolls[i].node };
    rc_member_sort(check->part, check->all);
    *ranks = 0;
    for (size_t i = 0; i <= check->all; i++) {
        uint32_t node = i < check->all && check->part[i].number < nodes ? check->part[i].number : nodes;

        if (node > next) {
            silent[count++] = (struct rc_range){ next, node - 1 };
            *ranks += node - next;
        }
        if (node >= next)
            next = node + 1;
    }
    return count;
}

/* Return the launch's host list if it has `nodes` hosts. */
static struct rc_str find_hosts(const struct rc_checking *check, uint32_t nodes)
{
    for (size_t i = 0; i < check->count; i++) {
        struct rc_str hosts = check->member[i].roll->hosts;
        uint32_t count;

        if (hosts.n && rc_hostlist_count(hosts, &count) && count == nodes)
            return hosts;
    }
    return RC_ABSENT;
}

/* Flag each host of the list that has an entry. Return NULL if an entry's name is not in the list or is repeated. */
static bool *find_present(const struct rc_checking *check, struct rc_str hosts, uint32_t nodes)
{
    bool *is_there = hosts.p ? calloc(nodes, sizeof(*is_there)) : NULL;

    for (size_t i = 0; is_there && i < check->all; i++) {
        uint32_t index = rc_hostlist_find_node(hosts, check->rolls[i].host);

        if (index == RC_UNKNOWN || is_there[index]) {
            free(is_there);
            return NULL;
        }
        is_there[index] = true;
    }
    return is_there;
}

static void blame_silent_hosts(struct rc_checking *check, struct rc_str hosts, const bool *is_there, uint32_t nodes)
{
    char name[RC_HOST_MAX + 1];

    for (uint32_t i = 0; check->blame && i < nodes; i++)
        if (!is_there[i] && rc_hostlist_nth(hosts, i, name))
            rc_checking_blame_name(check, rc_str(name));
}

static void add_silent(struct rc_checking *check, const struct coverage *coverage, uint32_t nodes,
                       const struct rc_roll_known *known)
{
    struct rc_namer *namer = &check->namer;
    uint64_t ranks;
    size_t ranges = find_silent(check, nodes, namer->range, &ranks);
    struct rc_str hosts = find_hosts(check, nodes);
    bool *is_there = find_present(check, hosts, nodes);
    const char *tasks = "";
    const char *within = "";
    const char *who;

    if (is_there)
        who = rc_name_absent_hosts(namer, hosts, is_there, nodes);
    else
        who = rc_name_ranges(namer, "node", namer->range, ranges);
    /* some that answered have others' node ranks, so the silent ones are unknown */
    if (ranks != nodes - check->all)
        who = rc_format(&namer->text, "%u of %u nodes", nodes - (uint32_t)check->all, nodes);
    else if (coverage->gaps > 0 && check->count == check->all)
        tasks = rc_format(&namer->text, " (%s)", rc_name_ranges(namer, "task", coverage->gap, coverage->gaps));
    if (known->deadline)
        within = rc_format(&namer->text, " within the deadline of %u s", known->deadline);
    rc_checking_add(check, RC601, "nothing from %s%s%s; %s; deadline=SECONDS waits longer", who, tasks, within,
                    known->silence ? known->silence
                                   : "see what keeps them from starting, or from reaching the node of rank 0");
    if (is_there)
        blame_silent_hosts(check, hosts, is_there, nodes);
    free(is_there);
}

static void check_missing(struct rc_checking *check, const struct coverage *ranks, uint32_t nodes,
                          const struct rc_roll_known *known)
{
    if (check->all < nodes) {
        add_silent(check, ranks, nodes, known);
    } else if (ranks->gaps > 0 && ranks->twices == 0 && check->count == check->all) {
        bool one = ranks->gaps == 1 && ranks->gap->first == ranks->gap->last;

        rc_checking_add(check, RC614, "%s %s on no node; every rank must be there once; " RC_ONE_LAUNCHER,
                        rc_name_ranges(&check->namer, "task", ranks->gap, ranks->gaps), one ? "is" : "are");
    }
}

/* Report nodes that share a node rank. */
static void check_node_ranks(struct rc_checking *check)
{
    struct rc_member *part = check->part;
    size_t kept = 0;
    size_t n;

    for (size_t i = 0; i < check->count; i++)
        part[i] = (struct rc_member){ check->member[i].roll, RC_ABSENT, check->member[i].roll->node };
    rc_member_sort(part, check->count);
    for (size_t i = 0; i < check->count; i += n) {
        n = rc_member_run(&part[i], check->count - i);
        for (size_t k = 0; n > 1 && k < n; k++)
            part[kept++] = part[i + k];
    }
    if (kept > 0) {
        const char *nodes = rc_name_numbers(&check->namer, "node", part, kept);
        const char *tasks = rc_name_tasks(&check->namer, part, kept);
        const char *hosts = rc_name_hosts(&check->namer, part, kept);

        rc_checking_add(check, RC603,
                        "%s of %s on %s have the same node rank; every node needs a different one; " RC_ONE_LAUNCHER,
                        nodes, tasks, hosts);
    }
}

void rc_check_ranks(struct rc_checking *check, uint32_t world, uint32_t nodes, const struct rc_roll_known *known)
{
    struct coverage ranks;

    if (!find_coverage(check, world, &ranks))
        return;
    if (ranks.twices == 0)
        check_node_ranks(check);
    check_repeated(check, &ranks);
    check_missing(check, &ranks, nodes, known);
}
