/* SPDX-License-Identifier: BSD-3-Clause */
#include "launcher/taskmap.h"

#include "launcher/hostlist.h"

/* A host's index is looked up once for each change of host. The limit: hostile
 * lists of 64 KiB on both sides must not cost seconds. */
enum { LOOKUP_BUDGET = 1 << 24 };

struct run {
    uint32_t first;
    uint32_t nodes;
    uint32_t tasks;
};

struct cursor {
    struct rc_str rest;
    struct rc_str hosts;
    bool vector;
    struct rc_str last_host;
    uint32_t last_index;
    uint64_t work;
};

static bool start_cursor(struct cursor *cursor, struct rc_str map, struct rc_str hosts)
{
    *cursor = (struct cursor){ .rest = map, .hosts = hosts };
    if (!map.p || map.n == 0)
        return false;
    cursor->vector = rc_str_starts(map, "(vector,");
    if (!cursor->vector)
        return hosts.p != NULL;
    if (map.p[map.n - 1] != ')')
        return false;
    cursor->rest = (struct rc_str){ map.p + 8, map.n - 9 };
    return true;
}

/* "(0,2,1)", with the comma that may follow it */
static bool next_vector(struct cursor *cursor, struct run *run)
{
    struct rc_str behind;
    struct rc_str inside = rc_str_split(cursor->rest, ')', &behind);
    struct rc_str rest;

    if (!behind.p || !rc_str_starts(inside, "("))
        return false;
    inside = (struct rc_str){ inside.p + 1, inside.n - 1 };
    if (!rc_parse_u32(rc_str_split(inside, ',', &rest), RC_MAX_TASKS, &run->first) || !rest.p ||
        !rc_parse_u32(rc_str_split(rest, ',', &rest), RC_MAX_TASKS, &run->nodes) || !rest.p ||
        !rc_parse_u32(rest, RC_MAX_TASKS, &run->tasks))
        return false;
    if (behind.n == 0)
        cursor->rest = RC_ABSENT;
    else if (behind.p[0] == ',')
        cursor->rest = (struct rc_str){ behind.p + 1, behind.n - 1 };
    else
        return false;
    return run->nodes > 0 && run->tasks > 0;
}

static bool next_host(struct cursor *cursor, struct run *run)
{
    struct rc_str host = rc_str_split(cursor->rest, ',', &cursor->rest);

    if (!rc_str_eq(host, cursor->last_host)) {
        cursor->work += cursor->hosts.n;
        if (cursor->work > LOOKUP_BUDGET)
            return false;
        cursor->last_host = host;
        cursor->last_index = rc_hostlist_find(cursor->hosts, host);
    }
    *run = (struct run){ cursor->last_index, 1, 1 };
    return cursor->last_index != RC_UNKNOWN;
}

static bool next_run(struct cursor *cursor, struct run *run)
{
    return cursor->vector ? next_vector(cursor, run) : next_host(cursor, run);
}

static bool test_and_set(uint64_t *seen, uint32_t node)
{
    uint64_t bit = (uint64_t)1 << (node % 64);
    bool was = seen[node / 64] & bit;

    seen[node / 64] |= bit;
    return was;
}

bool rc_taskmap_read(struct rc_str map, struct rc_str hosts, uint32_t tasks, uint32_t nodes, uint32_t node,
                     uint64_t *seen, struct rc_taskmap_node *out)
{
    struct rc_taskmap_node found = { .master_node = RC_UNKNOWN, .node_rank = RC_UNKNOWN };
    struct cursor cursor;
    struct run run;
    uint64_t walked = 0;
    uint32_t distinct = 0;

    for (uint32_t i = 0; i < (nodes + 63) / 64; i++)
        seen[i] = 0;
    if (!start_cursor(&cursor, map, hosts))
        return false;
    while (cursor.rest.p) {
        if (!next_run(&cursor, &run) || run.first >= nodes || run.nodes > nodes - run.first)
            return false;
        if (found.master_node == RC_UNKNOWN)
            found.master_node = run.first;
        for (uint32_t i = run.first; i < run.first + run.nodes; i++) {
            walked += run.tasks;
            if (walked > tasks)
                return false;
            if (i == node)
                found.tasks += run.tasks;
            if (test_and_set(seen, i))
                continue;
            if (i == node)
                found.node_rank = distinct;
            distinct++;
        }
    }
    if (walked != tasks || distinct != nodes || found.node_rank == RC_UNKNOWN)
        return false;

    /* second walk: count the tasks of the nodes that come before ours */
    for (uint32_t i = 0; i < (nodes + 63) / 64; i++)
        seen[i] = 0;
    start_cursor(&cursor, map, hosts);
    distinct = 0;
    for (bool ours_seen = false; cursor.rest.p && next_run(&cursor, &run);) {
        for (uint32_t i = run.first; i < run.first + run.nodes; i++) {
            if (i == node)
                ours_seen = true;
            else if (!ours_seen)
                test_and_set(seen, i);
            if (i != node && (seen[i / 64] >> (i % 64) & 1))
                found.tasks_before += run.tasks;
        }
    }
    *out = found;
    return true;
}
