/* SPDX-License-Identifier: BSD-3-Clause */
#include "timesjson.h"

#include "console/value.h"

enum { LINE_SIZE = 2048 };

/* Milliseconds; null where `known` is false. */
static json_t *number(uint32_t value, bool known)
{
    return known ? json_integer(value) : json_null();
}

static json_t *stage_json(const struct cli_times *times, enum rc_stage stage)
{
    const struct rc_stage_figures *figures = &times->startup.stage[stage];
    struct rc_str slowest = figures->count ? cli_times_slowest(times, stage) : RC_ABSENT;
    json_t *object = json_object();
    int failed = value_put(object, "stage", value_text(rc_stage_name(stage))) |
                 value_put(object, "count", json_integer(figures->count)) |
                 value_put(object, "median_ms", number(figures->median, figures->count)) |
                 value_put(object, "slowest_ms", number(figures->slowest, figures->count)) |
                 value_put(object, "slowest_host", value_slice(slowest));

    return value_whole(object, failed);
}

static json_t *stages_json(const struct cli_times *times)
{
    json_t *list = json_array();
    int failed = 0;

    for (unsigned stage = 0; stage < RC_STAGES; stage++)
        failed |= json_array_append_new(list, stage_json(times, (enum rc_stage)stage));
    return value_whole(list, failed);
}

static json_t *node_json(const struct cli_times *times, size_t i)
{
    uint32_t called = rc_times_called(&times->read.times, i);
    json_t *object = json_object();
    int failed = value_put(object, "host", value_slice(times->read.roll[i].host)) |
                 value_put(object, "called_ms", number(called, called));

    return value_whole(object, failed);
}

static json_t *nodes_json(const struct cli_times *times)
{
    json_t *list = json_array();
    int failed = 0;

    for (size_t i = 0; i < times->read.count; i++)
        failed |= json_array_append_new(list, node_json(times, i));
    return value_whole(list, failed);
}

static json_t *task_json(const struct cli_times *times, uint32_t task)
{
    static const char *const names[] = { "begun_ms", "torch_ms", "init_ms", "joined_ms" };
    const uint32_t *at = times->read.times.task[task].at;
    const struct rc_roll *roll = rc_times_node_of(&times->read, task);
    json_t *object = json_object();
    int failed = value_put(object, "task", json_integer(task)) |
                 value_put(object, "host", value_slice(roll ? roll->host : RC_ABSENT));

    for (unsigned mark = 0; mark < RC_MARKS; mark++)
        failed |= value_put(object, names[mark], number(at[mark], at[mark]));
    return value_whole(object, failed);
}

static json_t *tasks_json(const struct cli_times *times)
{
    json_t *list = json_array();
    int failed = 0;

    for (uint32_t task = 0; times->read.times.task && task < times->read.times.tasks; task++)
        if (times->read.times.task[task].at[RC_MARK_BEGUN])
            failed |= json_array_append_new(list, task_json(times, task));
    return value_whole(list, failed);
}

json_t *cli_times_json(const struct cli_times *times)
{
    char space[LINE_SIZE];
    struct rc_arena arena = { .base = space, .size = sizeof(space) };
    const struct rc_times *known = &times->read.times;
    json_t *object;
    int failed;

    if (!times->known)
        return json_null();
    object = json_object();
    failed = value_put(object, "text", value_text(cli_times_line(times, &arena))) |
             value_put(object, "took_ms", number(times->startup.took, times->startup.took)) |
             value_put(object, "answered_ms", number(known->answered, known->answered)) |
             value_put(object, "stages", stages_json(times)) | value_put(object, "nodes", nodes_json(times)) |
             value_put(object, "tasks", tasks_json(times));
    return value_whole(object, failed);
}
