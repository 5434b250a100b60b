/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/runs.h"

bool rc_run_next(struct rc_str *rest, struct rc_run *run)
{
    struct rc_str behind;
    struct rc_str each;
    struct rc_str high;
    struct rc_str low = rc_str_split(rc_str_split(rc_str_split(*rest, ',', &behind), 'x', &each), '-', &high);
    uint32_t tasks = 1;
    uint32_t first;
    uint32_t last;

    if (!rc_parse_u32(low, RC_MAX_TASKS, &first))
        return false;
    last = first;
    if ((high.p && !rc_parse_u32(high, RC_MAX_TASKS, &last)) || (each.p && !rc_parse_u32(each, RC_MAX_TASKS, &tasks)) ||
        last < first || tasks == 0)
        return false;
    *rest = behind;
    *run = (struct rc_run){ first, last - first + 1, tasks };
    return true;
}

struct rc_runs rc_runs_begin(struct rc_arena *arena)
{
    return (struct rc_runs){ .arena = arena, .text = rc_format(arena, "") };
}

static void write_open(struct rc_runs *runs)
{
    const struct rc_run *run = &runs->open;

    if (run->nodes == 0)
        return;
    rc_join(runs->arena);
    rc_format_number(runs->arena, run->first);
    if (run->nodes > 1) {
        rc_join(runs->arena);
        rc_format(runs->arena, "-%u", run->first + run->nodes - 1);
    }
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
