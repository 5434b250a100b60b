/* SPDX-License-Identifier: BSD-3-Clause */
#include "rendezvous/timesread.h"

#include <stdlib.h>

#include "base/lines.h"
#include "rendezvous/wire.h"

#define HEAD "times=1\n"

/* Takes a number and the blank behind it. */
static bool next_number(struct rc_str *rest, uint32_t *number)
{
    struct rc_str word = rc_str_split(*rest, ' ', rest);

    return rc_parse_u32(word, RC_UNKNOWN - 1, number);
}

static bool are_ranges(struct rc_str tasks)
{
    uint32_t first, last;

    while (rc_roll_next_range(&tasks, &first, &last))
        continue;
    return !tasks.p;
}

/* "0 2900 0-1 n1" */
static bool take_node(struct rc_times_read *read, struct rc_str value)
{
    struct rc_roll *roll = &read->roll[read->count];
    uint32_t called;
    struct rc_str host;

    if (!next_number(&value, &roll->node) || !next_number(&value, &called))
        return false;
    roll->tasks = rc_str_split(value, ' ', &host);
    roll->host = host;
    if (!host.n || !are_ranges(roll->tasks))
        return false;
    if (called)
        rc_times_call(&read->times, read->count, called);
    read->count++;
    return true;
}

static bool is_in_order(const struct rc_task_times *task)
{
    uint32_t last = task->at[RC_MARK_BEGUN];

    for (unsigned mark = RC_MARK_TORCH; mark < RC_MARKS; mark++) {
        if (mark == RC_MARK_JOINED && !task->at[mark])
            return last > 0;
        if (task->at[mark] < last)
            return false;
        last = task->at[mark];
    }
    return task->at[RC_MARK_BEGUN] > 0;
}

/* "3 3000 11400 11900 12900" */
static bool take_task(struct rc_times *times, struct rc_str value)
{
    struct rc_task_times task;
    uint32_t number;

    if (!times->task || !next_number(&value, &number) || number >= times->tasks || times->task[number].at[0])
        return false;
    for (unsigned mark = 0; mark < RC_MARKS; mark++)
        if (!next_number(&value, &task.at[mark]))
            return false;
    if (value.p || !is_in_order(&task))
        return false;
    times->told++;
    times->joined += task.at[RC_MARK_JOINED] > 0;
    times->task[number] = task;
    return true;
}

static bool take_tasks(struct rc_times *times, struct rc_str value)
{
    if (times->task || !rc_parse_u32(value, RC_TIMES_TASKS_MAX, &times->tasks) || !times->tasks)
        return false;
    times->task = calloc(times->tasks, sizeof(*times->task));
    return times->task != NULL;
}

static bool take_line(struct rc_times_read *read, struct rc_str name, struct rc_str value)
{
    if (rc_str_is(name, "node"))
        return take_node(read, value);
    if (rc_str_is(name, "task"))
        return take_task(&read->times, value);
    if (rc_str_is(name, "tasks"))
        return take_tasks(&read->times, value);
    /* a newer rollcall may say more */
    return !rc_str_is(name, "answered") || rc_parse_u32(value, RC_UNKNOWN - 1, &read->times.answered);
}

static size_t count_nodes(struct rc_str text)
{
    struct rc_str name, value;
    size_t nodes = 0;

    while (rc_lines_next(&text, &name, &value))
        nodes += rc_str_is(name, "node");
    return nodes;
}

/* Notes for each task which node it is on. */
static bool place_tasks(struct rc_times_read *read)
{
    uint32_t tasks = read->times.tasks;

    read->place = calloc(tasks + 1, sizeof(*read->place));
    for (size_t i = 0; read->place && i < read->count; i++) {
        struct rc_str rest = read->roll[i].tasks;
        uint32_t first, last;

        while (rc_roll_next_range(&rest, &first, &last))
            for (uint32_t task = first; task <= last && task < tasks; task++)
                read->place[task] = (uint32_t)i + 1;
    }
    return read->place != NULL;
}

bool rc_times_read(struct rc_str text, struct rc_times_read *read)
{
    struct rc_str name, value;

    if (!rc_lines_read_head(&text, HEAD, RC_WIRE_ROLL_MAX))
        return false;
    read->roll = calloc(count_nodes(text) + 1, sizeof(*read->roll));
    if (!read->roll)
        return false;
    while (text.n > 0)
        if (!rc_lines_next(&text, &name, &value) || !take_line(read, name, value))
            return false;
    return place_tasks(read);
}

const struct rc_roll *rc_times_node_of(const struct rc_times_read *read, uint32_t task)
{
    uint32_t place = task < read->times.tasks ? read->place[task] : 0;

    return place ? &read->roll[place - 1] : NULL;
}

void rc_times_read_free(struct rc_times_read *read)
{
    rc_times_free(&read->times);
    free(read->roll);
    free(read->place);
    *read = (struct rc_times_read){ .count = 0 };
}
