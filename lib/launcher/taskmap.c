/* SPDX-License-Identifier: BSD-3-Clause */
#include "launcher/taskmap.h"

#include "base/runs.h"

struct cursor {
    struct rc_str rest;
    bool vector;
};

static bool start_cursor(struct cursor *cursor, struct rc_str map)
{
    *cursor = (struct cursor){ .rest = map };
    if (!map.p || map.n == 0)
        return false;
    cursor->vector = rc_str_starts(map, "(vector,");
    if (!cursor->vector)
        return true;
    if (map.p[map.n - 1] != ')')
        return false;
    cursor->rest = (struct rc_str){ map.p + 8, map.n - 9 };
    return true;
}

/* "(0,2,1)", with the comma that may follow it */
static bool next_vector(struct cursor *cursor, struct rc_run *run)
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

static bool next_run(struct cursor *cursor, struct rc_run *run)
{
    return cursor->vector ? next_vector(cursor, run) : rc_run_next(&cursor->rest, run);
}

static bool test_and_set(uint64_t *seen, uint32_t node)
{
    uint64_t bit = (uint64_t)1 << (node % 64);
    bool was = seen[node / 64] & bit;

    seen[node / 64] |= bit;
    return was;
}

bool rc_taskmap_read(struct rc_str map, uint32_t tasks, uint32_t nodes, uint32_t node, uint64_t *seen,
                     struct rc_taskmap_node *out)
{
    struct rc_taskmap_node found = { .master_node = RC_UNKNOWN, .node_rank = RC_UNKNOWN };
    struct cursor cursor;
    struct rc_run run;
    uint64_t walked = 0;
    uint32_t distinct = 0;

    for (uint32_t i = 0; i < (nodes + 63) / 64; i++)
        seen[i] = 0;
    if (!start_cursor(&cursor, map))
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
    start_cursor(&cursor, map);
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

/* The tasks from `task` on that are on one node. */
static uint32_t count_together(const uint32_t *node_of, uint32_t tasks, uint32_t task)
{
    uint32_t count = 1;

    while (task + count < tasks && node_of[task + count] == node_of[task])
        count++;
    return count;
}

const char *rc_taskmap_write(const uint32_t *node_of, uint32_t tasks, struct rc_arena *arena)
{
    struct rc_runs runs = rc_runs_begin(arena);
    uint32_t together;

    for (uint32_t task = 0; task < tasks; task += together) {
        together = count_together(node_of, tasks, task);
        rc_runs_add(&runs, node_of[task], together);
    }
    return rc_runs_end(&runs);
}
