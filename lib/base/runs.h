/* SPDX-License-Identifier: BSD-3-Clause */
/* runs.h - nodes by number, with the tasks on each: "2-3x8,0" is 8 tasks on each of the nodes 2 and 3, and 1 on node 0.
 *
 * Both say where ranks are, in the order of the ranks: a map of tasks (launcher/taskmap.h), in which a node may come
 * again, and an order of the network (roll/netorder.h). A hundred nodes that are filled alike are a dozen bytes.
 *
 * All functions are pure and as thread safe as their arguments.
 */
#ifndef ROLLCALL_BASE_RUNS_H
#define ROLLCALL_BASE_RUNS_H

#include "base/numbers.h"
#include "base/text.h"

/* The same number of tasks on each of some nodes that follow each other. */
struct rc_run {
    uint32_t first; /* RC_MAX_TASKS at most, like the node behind it and the number of tasks */
    uint32_t nodes; /* 1 or more */
    uint32_t tasks; /* on each, 1 or more */
};

/* Takes the first run off the text, which is absent behind the last one. False, with *run untouched, where none is
 * there. */
bool rc_run_next(struct rc_str *rest, struct rc_run *run);

/* A text that is being written; nothing else may go into the arena meanwhile. */
struct rc_runs {
    struct rc_arena *arena;
    const char *text;
    struct rc_run open; /* the last run, which may yet grow; of no nodes: there is none */
};

/* Begins a text in the arena. */
struct rc_runs rc_runs_begin(struct rc_arena *arena);

/* Adds the tasks of the next node. */
void rc_runs_add(struct rc_runs *runs, uint32_t node, uint32_t tasks);

/* The text, as short as it can be; NULL where the arena has no room. */
const char *rc_runs_end(struct rc_runs *runs);

#endif
