/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "rendezvous/times.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/lines.h"

static uint32_t *find_member(struct rc_told *told, struct rc_str name)
{
    return rc_str_is(name, "torch")    ? &told->torch
           : rc_str_is(name, "init")   ? &told->init
           : rc_str_is(name, "joined") ? &told->joined
           : rc_str_is(name, "sent")   ? &told->sent
                                       : NULL;
}

static bool is_in_order(const struct rc_told *told)
{
    uint32_t last = told->joined == RC_UNKNOWN ? told->init : told->joined;

    return told->torch <= told->init && told->init <= last && last <= told->sent && told->sent != RC_UNKNOWN;
}

bool rc_told_read(struct rc_str words, struct rc_told *told)
{
    struct rc_told read = { RC_UNKNOWN, RC_UNKNOWN, RC_UNKNOWN, RC_UNKNOWN };
    struct rc_str name, value;
    bool any = words.p;

    while (rc_pair_next(&words, ' ', &name, &value)) {
        uint32_t *member = find_member(&read, name);

        if (!name.n || !value.p || (member && !rc_lines_read_number(value, RC_UNKNOWN - 1, member)))
            return false;
    }
    if (any && !is_in_order(&read))
        return false;
    *told = read;
    return true;
}

static uint32_t since_base(const struct rc_times *times, int64_t now)
{
    int64_t passed = now - times->base;

    return passed < 1 ? 1 : passed < RC_UNKNOWN ? (uint32_t)passed : RC_UNKNOWN - 1;
}

static bool make_room(struct rc_times *times, size_t nodes)
{
    size_t room = times->room ? times->room : 16;
    uint32_t *called;

    while (room < nodes)
        room *= 2;
    if (room == times->room)
        return true;
    called = realloc(times->called, room * sizeof(*called));
    if (!called)
        return false;
    memset(called + times->room, 0, (room - times->room) * sizeof(*called));
    times->called = called;
    times->room = room;
    return true;
}

void rc_times_call(struct rc_times *times, size_t node, int64_t now)
{
    if (make_room(times, node + 1))
        times->called[node] = since_base(times, now);
}

uint32_t rc_times_called(const struct rc_times *times, size_t node)
{
    return node < times->room ? times->called[node] : 0;
}

void rc_times_answer(struct rc_times *times, int64_t now)
{
    if (!times->answered)
        times->answered = since_base(times, now);
}

/* What comes so long after the beginning. */
static uint32_t later(uint32_t begun, uint32_t by)
{
    return by < RC_UNKNOWN - begun ? begun + by : RC_UNKNOWN - 1;
}

static struct rc_task_times place_in_time(const struct rc_told *told, uint32_t now)
{
    uint32_t begun = now > told->sent ? now - told->sent : 1;
    struct rc_task_times task = { { begun, later(begun, told->torch), later(begun, told->init) } };

    if (told->joined != RC_UNKNOWN)
        task.at[RC_MARK_JOINED] = later(begun, told->joined);
    return task;
}

/* Whether the times of another process of the same task, or more of the same one, take the place of what is known. A
 * process that begins when one has joined is another program. */
static bool is_further(const struct rc_task_times *known, const struct rc_task_times *task)
{
    if (!known->at[RC_MARK_JOINED])
        return task->at[RC_MARK_JOINED] || task->at[RC_MARK_INIT] > known->at[RC_MARK_INIT];
    return task->at[RC_MARK_JOINED] > known->at[RC_MARK_JOINED] && task->at[RC_MARK_BEGUN] < known->at[RC_MARK_JOINED];
}

void rc_times_take(struct rc_times *times, uint32_t task, uint32_t tasks, const struct rc_told *told, int64_t now)
{
    struct rc_task_times placed;
    struct rc_task_times *known;

    if (told->sent == RC_UNKNOWN || tasks > RC_TIMES_TASKS_MAX)
        return;
    if (!times->task) {
        times->task = calloc(tasks, sizeof(*times->task));
        if (!times->task)
            return;
        times->tasks = tasks;
    }
    known = &times->task[task];
    placed = place_in_time(told, since_base(times, now));
    if (!is_further(known, &placed))
        return;
    times->told += !known->at[RC_MARK_BEGUN];
    times->joined += !known->at[RC_MARK_JOINED] && placed.at[RC_MARK_JOINED];
    *known = placed;
}

static void write_nodes(const struct rc_times *times, const struct rc_roll *rolls, size_t count, FILE *file)
{
    for (size_t i = 0; i < count; i++)
        fprintf(file, "node=%u %u %.*s %.*s\n", rolls[i].node, rc_times_called(times, i), (int)rolls[i].tasks.n,
                rolls[i].tasks.p, (int)rolls[i].host.n, rolls[i].host.p);
}

static void write_tasks(const struct rc_times *times, FILE *file)
{
    for (uint32_t i = 0; times->task && i < times->tasks; i++) {
        const uint32_t *at = times->task[i].at;

        if (at[RC_MARK_BEGUN])
            fprintf(file, "task=%u %u %u %u %u\n", i, at[RC_MARK_BEGUN], at[RC_MARK_TORCH], at[RC_MARK_INIT],
                    at[RC_MARK_JOINED]);
    }
}

char *rc_times_text(const struct rc_times *times, const struct rc_roll *rolls, size_t count, size_t *size)
{
    char *text = NULL;
    FILE *file = open_memstream(&text, size);

    if (!file)
        return NULL;
    fputs("times=1\n", file);
    if (times->task)
        fprintf(file, "tasks=%u\n", times->tasks);
    if (times->answered)
        fprintf(file, "answered=%u\n", times->answered);
    write_nodes(times, rolls, count, file);
    write_tasks(times, file);
    if (fclose(file) == 0)
        return text;
    free(text);
    return NULL;
}

void rc_times_free(struct rc_times *times)
{
    free(times->called);
    free(times->task);
    times->called = NULL;
    times->task = NULL;
}
