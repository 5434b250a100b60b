/* SPDX-License-Identifier: BSD-3-Clause */
#include "rendezvous/startup.h"

#include <stdlib.h>

#include "roll/group.h"

enum { NOTICED_MS = 1000, NOTICED_PART = 10, STAGES_NAMED = 2 };

/* A figure stands between the two halves. */
static const struct {
    const char *name;
    const char *before;
    const char *behind;
} stages[] = {
    [RC_STAGE_CALL] = { "call", "the roll call was reached after ", "" },
    [RC_STAGE_BEGIN] = { "begin", "the program began ", " after the roll call" }, /* or after srun */
    [RC_STAGE_TORCH] = { "torch", "torch came in after ", "" },
    [RC_STAGE_INIT] = { "init", "init_process_group was called ", " after torch came in" },
    [RC_STAGE_JOIN] = { "join", "init_process_group took ", "" },
};

const char *rc_stage_name(enum rc_stage stage)
{
    return stages[stage].name;
}

/* What a process does before the roll call has ended is to wait for it. */
static uint32_t begun_at(const struct rc_times *times, const struct rc_task_times *task)
{
    return task->at[RC_MARK_BEGUN] > times->answered ? task->at[RC_MARK_BEGUN] : times->answered;
}

static uint32_t passed(uint32_t from, uint32_t to)
{
    return to > from ? to - from : 0;
}

/* When the last task called init_process_group; RC_UNKNOWN while one has not. */
static uint32_t last_init(const struct rc_times *times)
{
    uint32_t last = 0;

    for (uint32_t i = 0; times->task && i < times->tasks; i++)
        if (times->task[i].at[RC_MARK_INIT] > last)
            last = times->task[i].at[RC_MARK_INIT];
    return times->told == times->tasks ? last : RC_UNKNOWN;
}

static uint32_t task_took(const struct rc_times *times, enum rc_stage stage, uint32_t which, uint32_t all)
{
    const struct rc_task_times *task = &times->task[which];

    if (!task->at[RC_MARK_BEGUN])
        return RC_UNKNOWN;
    if (stage == RC_STAGE_BEGIN)
        return passed(times->answered, begun_at(times, task));
    if (stage == RC_STAGE_TORCH)
        return passed(begun_at(times, task), task->at[RC_MARK_TORCH]);
    if (stage == RC_STAGE_INIT)
        return passed(task->at[RC_MARK_TORCH], task->at[RC_MARK_INIT]);
    return task->at[RC_MARK_JOINED] && all != RC_UNKNOWN ? passed(all, task->at[RC_MARK_JOINED]) : RC_UNKNOWN;
}

static uint32_t node_took(const struct rc_times *times, uint32_t which)
{
    uint32_t called = rc_times_called(times, which);

    return called ? called : RC_UNKNOWN;
}

uint32_t rc_stage_took(const struct rc_times *times, enum rc_stage stage, uint32_t which)
{
    if (stage == RC_STAGE_CALL)
        return node_took(times, which);
    return task_took(times, stage, which, stage == RC_STAGE_JOIN ? last_init(times) : 0);
}

static int by_number(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left;
    uint32_t b = *(const uint32_t *)right;

    return (a > b) - (a < b);
}

/* What each node or task took: all of them, RC_UNKNOWN those of whom it is not known. From malloc. */
static uint32_t *list_took(const struct rc_times *times, enum rc_stage stage, size_t nodes, uint32_t *count)
{
    uint32_t all = stage == RC_STAGE_JOIN ? last_init(times) : 0;
    uint32_t *took;

    *count = stage == RC_STAGE_CALL ? (uint32_t)nodes : times->task ? times->tasks : 0;
    took = malloc((*count + (size_t)1) * sizeof(*took));
    for (uint32_t i = 0; took && i < *count; i++)
        took[i] = stage == RC_STAGE_CALL ? node_took(times, i) : task_took(times, stage, i, all);
    return took;
}

static bool find_figures(const struct rc_times *times, enum rc_stage stage, size_t nodes,
                         struct rc_stage_figures *figures)
{
    uint32_t count;
    uint32_t *took = list_took(times, stage, nodes, &count);

    *figures = (struct rc_stage_figures){ .count = 0 };
    if (!took)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        if (took[i] == RC_UNKNOWN)
            continue;
        if (figures->count == 0 || took[i] > figures->slowest)
            *figures = (struct rc_stage_figures){ .count = figures->count, .slowest = took[i], .which = i };
        figures->count++;
    }
    /* the unknown ones are behind the others then */
    qsort(took, count, sizeof(*took), by_number);
    if (figures->count > 0)
        figures->median = took[(figures->count - 1) / 2];
    free(took);
    return true;
}

static uint32_t find_end(const struct rc_times *times)
{
    uint32_t last = 0;

    for (uint32_t i = 0; times->task && i < times->tasks; i++)
        for (unsigned mark = RC_MARK_INIT; mark < RC_MARKS; mark++)
            if (times->task[i].at[mark] > last)
                last = times->task[i].at[mark];
    return last;
}

bool rc_startup_find(const struct rc_times *times, size_t nodes, struct rc_startup *startup)
{
    struct rc_startup found = { .took = find_end(times) };

    for (unsigned stage = 0; stage < RC_STAGES; stage++) {
        if (!find_figures(times, (enum rc_stage)stage, nodes, &found.stage[stage]))
            return false;
        found.stage[stage].noticed = found.took / NOTICED_PART > NOTICED_MS ? found.took / NOTICED_PART : NOTICED_MS;
    }
    *startup = found;
    return true;
}

static bool is_odd(const struct rc_stage_figures *figures, uint32_t took)
{
    uint64_t twice = UINT64_C(2) * took;

    return took != RC_UNKNOWN && took >= UINT64_C(2) * figures->median &&
           took >= (uint64_t)figures->median + figures->noticed && twice > (uint64_t)figures->slowest + figures->median;
}

static bool is_any_odd(const struct rc_stage_figures *figures)
{
    return figures->count > 1 && is_odd(figures, figures->slowest);
}

struct odd {
    struct rc_namer namer;
    struct rc_member *member; /* nodes */
    size_t members;
    struct rc_range *range; /* tasks */
    size_t ranges;
    uint32_t tasks;  /* that are odd */
    uint32_t placed; /* of these, on a node that is known */
};

static void add_task(struct odd *odd, uint32_t task)
{
    odd->tasks++;
    if (odd->ranges > 0 && odd->range[odd->ranges - 1].last + 1 == task)
        odd->range[odd->ranges - 1].last = task;
    else
        odd->range[odd->ranges++] = (struct rc_range){ task, task };
}

static void add_node(struct odd *odd, const struct rc_roll *roll, const struct rc_stage_figures *figures,
                     const uint32_t *took, uint32_t count)
{
    struct rc_str rest = roll->tasks;
    uint32_t first, last;
    uint32_t before = odd->placed;

    while (rc_roll_next_range(&rest, &first, &last))
        for (uint32_t task = first; task <= last && task < count; task++)
            odd->placed += is_odd(figures, took[task]);
    if (odd->placed > before)
        odd->member[odd->members++] = (struct rc_member){ .roll = roll };
}

static void find_odd(struct odd *odd, enum rc_stage stage, const struct rc_stage_figures *figures,
                     const struct rc_roll *rolls, size_t nodes, const uint32_t *took, uint32_t count)
{
    if (stage == RC_STAGE_CALL) {
        for (uint32_t i = 0; i < count; i++)
            if (is_odd(figures, took[i]))
                odd->member[odd->members++] = (struct rc_member){ .roll = &rolls[i] };
        return;
    }
    for (uint32_t task = 0; task < count; task++)
        if (is_odd(figures, took[task]))
            add_task(odd, task);
    for (size_t i = 0; i < nodes; i++)
        add_node(odd, &rolls[i], figures, took, count);
}

static const char *name_odd(struct odd *odd, struct rc_arena *arena)
{
    if (odd->members > 0 && odd->placed == odd->tasks)
        return rc_format(arena, "on %s", rc_name_hosts(&odd->namer, odd->member, odd->members));
    return rc_format(arena, "in %s", rc_name_ranges(&odd->namer, "task", odd->range, odd->ranges));
}

const char *rc_startup_odd(const struct rc_times *times, const struct rc_startup *startup, enum rc_stage stage,
                           const struct rc_roll *rolls, size_t nodes, struct rc_arena *arena)
{
    const struct rc_stage_figures *figures = &startup->stage[stage];
    struct odd odd = { .members = 0 };
    const char *text = NULL;
    uint32_t count;
    uint32_t *took;

    if (!is_any_odd(figures))
        return "";
    took = list_took(times, stage, nodes, &count);
    rc_namer_reset(&odd.namer);
    odd.member = calloc(nodes + 1, sizeof(*odd.member));
    odd.range = calloc(count / 2 + (size_t)1, sizeof(*odd.range));
    odd.namer.host = calloc(nodes + 1, sizeof(*odd.namer.host));
    if (took && odd.member && odd.range && odd.namer.host) {
        find_odd(&odd, stage, figures, rolls, nodes, took, count);
        text = name_odd(&odd, arena);
    }
    free(took);
    free(odd.member);
    free(odd.range);
    free(odd.namer.host);
    return text;
}

const char *rc_startup_seconds(uint32_t milliseconds, struct rc_arena *arena)
{
    uint32_t tenths = milliseconds / 100 + (milliseconds % 100 >= 50);

    if (tenths >= 100)
        return rc_format(arena, "%u s", milliseconds / 1000 + (milliseconds % 1000 >= 500));
    return rc_format(arena, "%u.%u s", tenths / 10, tenths % 10);
}

/* The stage in which the slowest is furthest from the median, of those that are not in `named`; RC_STAGES: in none is
 * anybody odd. */
static unsigned find_gravest(const struct rc_startup *startup, unsigned named)
{
    unsigned gravest = RC_STAGES;
    uint32_t most = 0;

    for (unsigned stage = 0; stage < RC_STAGES; stage++) {
        const struct rc_stage_figures *figures = &startup->stage[stage];

        if (named >> stage & 1 || !is_any_odd(figures) || figures->slowest - figures->median <= most)
            continue;
        most = figures->slowest - figures->median;
        gravest = stage;
    }
    return gravest;
}

static void append(struct rc_arena *arena, const char *text)
{
    rc_join(arena);
    rc_format(arena, "%s", text);
}

/* "torch came in after 94 s" */
static void append_stage(struct rc_arena *arena, const struct rc_times *times, unsigned stage, uint32_t took)
{
    append(arena, stages[stage].before);
    rc_join(arena);
    rc_startup_seconds(took, arena);
    append(arena, stage == RC_STAGE_BEGIN && !times->answered ? " after srun" : stages[stage].behind);
}

/* False where nobody is odd. */
static bool append_odd(const struct rc_times *times, const struct rc_startup *startup, const struct rc_roll *rolls,
                       size_t count, struct rc_arena *arena)
{
    unsigned named = 0;
    unsigned stage;

    for (unsigned n = 0; n < STAGES_NAMED && (stage = find_gravest(startup, named)) < RC_STAGES; n++) {
        const struct rc_stage_figures *figures = &startup->stage[stage];
        char space[512];
        struct rc_arena aside = { .base = space, .size = sizeof(space) };
        const char *who = rc_startup_odd(times, startup, (enum rc_stage)stage, rolls, count, &aside);

        append(arena, named ? "; " : ": ");
        append_stage(arena, times, stage, figures->slowest);
        rc_join(arena);
        rc_format(arena, " %s, %s in the median of %u %s", who ? who : "", rc_startup_seconds(figures->median, &aside),
                  figures->count, stage == RC_STAGE_CALL ? "nodes" : "tasks");
        named |= 1U << stage;
    }
    return named;
}

/* Between the roll call and the start of its process a task mostly does nothing. */
static bool is_worth_saying(const struct rc_times *times, unsigned stage, const struct rc_stage_figures *figures)
{
    return figures->count > 0 && (stage != RC_STAGE_BEGIN || !times->answered || figures->median >= NOTICED_MS);
}

static void append_medians(const struct rc_times *times, const struct rc_startup *startup, struct rc_arena *arena)
{
    const char *separator = ": ";

    rc_join(arena);
    rc_format(arena, ", in the median of %u tasks", times->told);
    for (unsigned stage = 0; stage < RC_STAGES; stage++) {
        if (!is_worth_saying(times, stage, &startup->stage[stage]))
            continue;
        append(arena, separator);
        append_stage(arena, times, stage, startup->stage[stage].median);
        separator = ", ";
    }
}

static void append_head(const struct rc_times *times, uint32_t took, struct rc_arena *arena)
{
    if (times->joined < times->tasks) {
        rc_format(arena, "start-up of %u of %u tasks so far", times->told, times->tasks);
        return;
    }
    rc_format(arena, "start-up took ");
    rc_join(arena);
    rc_startup_seconds(took, arena);
}

const char *rc_startup_line(const struct rc_times *times, const struct rc_roll *rolls, size_t count,
                            struct rc_arena *arena)
{
    struct rc_startup startup;
    size_t start = arena->used;

    if (!rc_startup_find(times, count, &startup) || !startup.took)
        return NULL;
    append_head(times, startup.took, arena);
    if (!append_odd(times, &startup, rolls, count, arena))
        append_medians(times, &startup, arena);
    return arena->full ? NULL : arena->base + start;
}
