/* SPDX-License-Identifier: BSD-3-Clause */
/* times.h - when the nodes of a step called, and when each task's process began, had torch and joined.
 *
 * A task's process tells how far it is (arrivals.h), in milliseconds since its own start:
 *   torch=11000 init=11520 sent=11523
 *   torch=11000 init=11520 joined=12900 sent=12901
 * torch: torch was imported; init: init_process_group was called; joined: it returned; sent: the
 * text was sent. The server knows when it came, and so when the process began by its own clock. No
 * clocks of two machines are compared.
 *
 * Of a task with several processes the last one to join counts, as long as it began before another one had joined.
 * The caller passes the time: `now` is in milliseconds. Kept are milliseconds after `base`, one at least.
 */
#ifndef ROLLCALL_RENDEZVOUS_TIMES_H
#define ROLLCALL_RENDEZVOUS_TIMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "roll/roll.h"

/* Of a step with more tasks only the nodes' times are kept. */
enum { RC_TIMES_TASKS_MAX = 1 << 17 };

/* How far a task's process has come. */
enum rc_mark { RC_MARK_BEGUN, RC_MARK_TORCH, RC_MARK_INIT, RC_MARK_JOINED, RC_MARKS };

struct rc_task_times {
    uint32_t at[RC_MARKS]; /* 0: not told */
};

/* Zero it but for `base` to begin, rc_times_free to end. */
struct rc_times {
    int64_t base;      /* when the server began */
    uint32_t answered; /* when the nodes had their answer; 0: not yet */
    uint32_t *called;  /* when each node did (rc_times_called) */
    size_t room;
    struct rc_task_times *task; /* NULL: no task has told anything */
    uint32_t tasks;             /* of the step */
    uint32_t told;              /* tasks with times */
    uint32_t joined;
};

/* Milliseconds since the process's start. */
struct rc_told {
    uint32_t torch;
    uint32_t init;
    uint32_t joined; /* RC_UNKNOWN: not yet */
    uint32_t sent;   /* RC_UNKNOWN: none of the times is known */
};

/* Reads words NAME=MS; none at all are right, too, and a name that is not known is skipped. False, with
 * *told untouched, for anything else, and for times that are not in the order of the names. */
bool rc_told_read(struct rc_str words, struct rc_told *told);

/* A node has called, the node-th of all. Without memory its time is not kept. */
void rc_times_call(struct rc_times *times, size_t node, int64_t now);

/* When it did; 0: not known. */
uint32_t rc_times_called(const struct rc_times *times, size_t node);

/* The nodes have got their answer; the first time counts. */
void rc_times_answer(struct rc_times *times, int64_t now);

/* Task `task` of `tasks`, a number that never changes, has told this. Without memory, and where there are too many
 * tasks, nothing is kept. */
void rc_times_take(struct rc_times *times, uint32_t task, uint32_t tasks, const struct rc_told *told, int64_t now);

/* All of it as a text, from malloc; NULL without memory. The rolls are those of the nodes, in the order in which they
 * called. Lines:
 *   times=1
 *   tasks=4                         of the step; none where no task has told anything
 *   answered=3100                   milliseconds, as all that follow; none as long as there is no answer
 *   node=0 2900 0-1 n1              node rank, when it called, its tasks, its name
 *   task=3 3000 11400 11900 12900   begun, torch, init, joined; 0: not yet
 * timesread.h reads it. */
char *rc_times_text(const struct rc_times *times, const struct rc_roll *rolls, size_t count, size_t *size);

void rc_times_free(struct rc_times *times);

#endif
