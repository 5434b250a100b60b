/* SPDX-License-Identifier: BSD-3-Clause */
#include "launcher/tasklist.h"

struct run {
    uint32_t count;
    uint32_t repeat;
};

/* Reads "COUNT" or "COUNT(xREPEAT)". */
static bool parse_run(struct rc_str item, struct run *run)
{
    struct rc_str repeat;
    struct rc_str count = rc_str_split(item, '(', &repeat);

    run->repeat = 1;
    if (!rc_parse_u32(count, RC_MAX_TASKS, &run->count) || run->count == 0)
        return false;
    if (!repeat.p)
        return true;
    if (repeat.n < 3 || repeat.p[0] != 'x' || repeat.p[repeat.n - 1] != ')')
        return false;
    return rc_parse_u32((struct rc_str){ repeat.p + 1, repeat.n - 2 }, RC_MAX_TASKS, &run->repeat) && run->repeat > 0;
}

static bool next_run(struct rc_str *rest, struct run *run)
{
    return rest->p && parse_run(rc_str_split(*rest, ',', rest), run);
}

bool rc_tasklist_parse(struct rc_str text, struct rc_tasklist *list)
{
    struct rc_tasklist sum = { .text = text, .smallest = UINT32_MAX };
    struct rc_str rest = text;
    struct run run;

    if (!text.p)
        return false;
    while (rest.p) {
        uint64_t tasks;

        if (!next_run(&rest, &run))
            return false;
        tasks = (uint64_t)run.count * run.repeat + sum.tasks;
        if (tasks > RC_MAX_TASKS)
            return false;
        sum.tasks = (uint32_t)tasks;
        sum.nodes += run.repeat;
        if (run.count < sum.smallest)
            sum.smallest = run.count;
        if (run.count > sum.largest)
            sum.largest = run.count;
    }
    *list = sum;
    return true;
}

uint32_t rc_tasklist_at(const struct rc_tasklist *list, uint32_t node, uint32_t *before)
{
    struct rc_str rest = list->text;
    struct run run;

    for (*before = 0; next_run(&rest, &run); node -= run.repeat) {
        if (node < run.repeat) {
            *before += node * run.count;
            return run.count;
        }
        *before += run.repeat * run.count;
    }
    return 0;
}
