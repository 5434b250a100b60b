/* SPDX-License-Identifier: BSD-3-Clause */
#include "timesjson.h"

enum { LINE_SIZE = 2048 };

static void write_stage(struct json *json, const struct cli_times *times, enum rc_stage stage)
{
    const struct rc_stage_figures *figures = &times->startup.stage[stage];

    json_open_object(json, NULL);
    json_text(json, "stage", rc_stage_name(stage));
    json_number(json, "count", figures->count);
    json_number_if(json, "median_ms", figures->count, figures->median);
    json_number_if(json, "slowest_ms", figures->count, figures->slowest);
    json_slice(json, "slowest_host", figures->count ? cli_times_slowest(times, stage) : RC_ABSENT);
    json_close(json);
}

static void write_nodes(struct json *json, const struct cli_times *times)
{
    json_open_array(json, "nodes");
    for (size_t i = 0; i < times->read.count; i++) {
        uint32_t called = rc_times_called(&times->read.times, i);

        json_open_object(json, NULL);
        json_slice(json, "host", times->read.roll[i].host);
        json_number_if(json, "called_ms", called, called);
        json_close(json);
    }
    json_close(json);
}

static void write_task(struct json *json, const struct cli_times *times, uint32_t task)
{
    static const char *const names[] = { "begun_ms", "torch_ms", "init_ms", "joined_ms" };
    const uint32_t *at = times->read.times.task[task].at;
    const struct rc_roll *roll = rc_times_node_of(&times->read, task);

    json_open_object(json, NULL);
    json_number(json, "task", task);
    json_slice(json, "host", roll ? roll->host : RC_ABSENT);
    for (unsigned mark = 0; mark < RC_MARKS; mark++)
        json_number_if(json, names[mark], at[mark], at[mark]);
    json_close(json);
}

static void write_tasks(struct json *json, const struct cli_times *times)
{
    json_open_array(json, "tasks");
    for (uint32_t task = 0; times->read.times.task && task < times->read.times.tasks; task++)
        if (times->read.times.task[task].at[RC_MARK_BEGUN])
            write_task(json, times, task);
    json_close(json);
}

void cli_times_json(struct json *json, const struct cli_times *times)
{
    char space[LINE_SIZE];
    struct rc_arena arena = { .base = space, .size = sizeof(space) };
    uint32_t answered = times->read.times.answered;

    if (!times->known) {
        json_text(json, "startup", NULL);
        return;
    }
    json_open_object(json, "startup");
    json_text(json, "text", cli_times_line(times, &arena));
    json_number_if(json, "took_ms", times->startup.took, times->startup.took);
    json_number_if(json, "answered_ms", answered, answered);
    json_open_array(json, "stages");
    for (unsigned stage = 0; stage < RC_STAGES; stage++)
        write_stage(json, times, (enum rc_stage)stage);
    json_close(json);
    write_nodes(json, times);
    write_tasks(json, times);
    json_close(json);
}
