/* SPDX-License-Identifier: BSD-3-Clause */
#include "launcher/layout.h"

bool rc_run_next(struct rc_str *rest, struct rc_run *run)
{
    struct rc_str after;
    struct rc_str each;
    struct rc_str high;
    struct rc_str low = rc_str_split(rc_str_split(rc_str_split(*rest, ',', &after), 'x', &each), '-', &high);
    uint32_t tasks = 1;
    uint32_t first;
    uint32_t last;

    if (!rc_parse_u32(low, RC_MAX_TASKS, &first) || !rc_parse_u32(high.p ? high : low, RC_MAX_TASKS, &last) ||
        (each.p && !rc_parse_u32(each, RC_MAX_TASKS, &tasks)) || last < first || tasks == 0)
        return false;
    *rest = after;
    *run = (struct rc_run){ first, last - first + 1, tasks };
    return true;
}

struct rc_runs rc_runs_begin(struct rc_arena *arena)
{
    return (struct rc_runs){ .arena = arena, .text = rc_copy(arena, RC_STR("")) };
}

static void write_open(struct rc_runs *runs)
{
    const struct rc_run *run = &runs->open;

    if (run->nodes == 0)
        return;
    rc_join(runs->arena);
    rc_format(runs->arena, run->nodes > 1 ? "%u-%u" : "%u", run->first, run->first + run->nodes - 1);
    if (run->tasks > 1) {
        rc_join(runs->arena);
        rc_format(runs->arena, "x%u", run->tasks);
    }
}

void rc_runs_add(struct rc_runs *runs, uint32_t node, uint32_t tasks)
{
    struct rc_run *run = &runs->open;

    if (run->nodes > 0 && node == run->first + run->nodes && tasks == run->tasks) {
        run->nodes++;
        return;
    }
    write_open(runs);
    if (run->nodes > 0) {
        rc_join(runs->arena);
        rc_format(runs->arena, ",");
    }
    *run = (struct rc_run){ node, 1, tasks };
}

const char *rc_runs_end(struct rc_runs *runs)
{
    write_open(runs);
    return runs->arena->full ? NULL : runs->text;
}

/* Remove "COUNT" or "COUNT(xREPEAT)", tasks per node and nodes, from the text. */
static bool next_count(struct rc_str *rest, struct rc_run *run)
{
    struct rc_str repeat;
    struct rc_str count = rc_str_split(rc_str_split(*rest, ',', rest), '(', &repeat);

    run->nodes = 1;
    if (!rc_parse_u32(count, RC_MAX_TASKS, &run->tasks) || run->tasks == 0)
        return false;
    if (!repeat.p)
        return true;
    if (repeat.n < 3 || repeat.p[0] != 'x' || repeat.p[repeat.n - 1] != ')')
        return false;
    return rc_parse_u32((struct rc_str){ repeat.p + 1, repeat.n - 2 }, RC_MAX_TASKS, &run->nodes) && run->nodes > 0;
}

bool rc_tasklist_parse(struct rc_str text, struct rc_tasklist *list)
{
    struct rc_tasklist sum = { .text = text, .smallest = UINT32_MAX };
    struct rc_str rest = text;
    struct rc_run run;

    if (!text.p)
        return false;
    while (rest.p) {
        uint64_t tasks;

        if (!next_count(&rest, &run))
            return false;
        tasks = (uint64_t)run.tasks * run.nodes + sum.tasks;
        if (tasks > RC_MAX_TASKS)
            return false;
        sum.tasks = (uint32_t)tasks;
        sum.nodes += run.nodes;
        if (run.tasks < sum.smallest)
            sum.smallest = run.tasks;
        if (run.tasks > sum.largest)
            sum.largest = run.tasks;
    }
    *list = sum;
    return true;
}

uint32_t rc_tasklist_at(const struct rc_tasklist *list, uint32_t node, uint32_t *before)
{
    struct rc_str rest = list->text;
    struct rc_run run;

    for (*before = 0; rest.p && next_count(&rest, &run); node -= run.nodes) {
        if (node < run.nodes) {
            *before += node * run.tasks;
            return run.tasks;
        }
        *before += run.nodes * run.tasks;
    }
    return 0;
}

/* Remove "(0,2,1)" and a comma or the outer bracket. */
static bool next_vector(struct rc_str *rest, struct rc_run *run)
{
    struct rc_str after;
    struct rc_str inside = rc_str_split((struct rc_str){ rest->p + 1, rest->n - 1 }, ')', &after);

    if (!rc_parse_u32(rc_str_split(inside, ',', &inside), RC_MAX_TASKS, &run->first) || !inside.p ||
        !rc_parse_u32(rc_str_split(inside, ',', &inside), RC_MAX_TASKS, &run->nodes) ||
        !rc_parse_u32(inside, RC_MAX_TASKS, &run->tasks) || run->nodes == 0 || run->tasks == 0)
        return false;
    if (rc_str_starts(after, ",("))
        *rest = (struct rc_str){ after.p + 1, after.n - 1 };
    else if (rc_str_is(after, ")"))
        *rest = RC_ABSENT;
    else
        return false;
    return true;
}

bool rc_taskmap_next(struct rc_str *rest, struct rc_run *run)
{
    static const char vector[] = "(vector,";

    if (!rest->p)
        return false;
    if (rc_str_starts(*rest, vector))
        *rest = (struct rc_str){ rest->p + sizeof(vector) - 1, rest->n - (sizeof(vector) - 1) };
    return rc_str_starts(*rest, "(") ? next_vector(rest, run) : rc_run_next(rest, run);
}

static void clear(uint64_t *seen, uint32_t nodes)
{
    for (uint32_t i = 0; i < (nodes + 63) / 64; i++)
        seen[i] = 0;
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
    struct rc_str rest = map;
    struct rc_run run;
    uint64_t walked = 0;
    uint32_t distinct = 0;

    clear(seen, nodes);
    while (rest.p || !walked) {
        if (!rc_taskmap_next(&rest, &run) || run.first >= nodes || run.nodes > nodes - run.first)
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

    /* second walk: tasks of nodes before this one */
    clear(seen, nodes);
    rest = map;
    for (bool ours_seen = false; rc_taskmap_next(&rest, &run);) {
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

const char *rc_taskmap_write(const uint32_t *node_of, uint32_t tasks, struct rc_arena *arena)
{
    struct rc_runs runs = rc_runs_begin(arena);
    uint32_t together = 0; /* consecutive tasks on one node */

    for (uint32_t task = 0; task < tasks; task++) {
        together++;
        if (task + 1 < tasks && node_of[task + 1] == node_of[task])
            continue;
        rc_runs_add(&runs, node_of[task], together);
        together = 0;
    }
    return rc_runs_end(&runs);
}
