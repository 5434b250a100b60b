/* SPDX-License-Identifier: BSD-3-Clause */
/* startup.h - where the time of a step's start-up went: its stages, and the nodes that took much longer than others.
 *
 *   call    srun's start to a node's call; behind it all nodes wait for the last one
 *   begin   the end of the roll call to the start of the program's process; without a roll call from srun's start
 *   torch   from there to the end of `import torch`
 *   init    from there to the call of init_process_group, in which each waits for the last one
 *   join    from the last task's call of it to its end
 *
 * A node stands out in a stage if one of its tasks took twice the median, if that is a second and a tenth of the
 * whole start-up more than the median, and if it is nearer to the slowest. Of two medians the lower one counts, so
 * that of two nodes the slower one can stand out.
 */
#ifndef ROLLCALL_RENDEZVOUS_STARTUP_H
#define ROLLCALL_RENDEZVOUS_STARTUP_H

#include "rendezvous/times.h"

enum rc_stage { RC_STAGE_CALL, RC_STAGE_BEGIN, RC_STAGE_TORCH, RC_STAGE_INIT, RC_STAGE_JOIN, RC_STAGES };

/* Of one stage; times are in milliseconds. */
struct rc_stage_figures {
    uint32_t count; /* nodes (call) or tasks that are through it; 0: the rest means nothing */
    uint32_t median;
    uint32_t slowest;
    uint32_t which;   /* the slowest one: the node's index (call) or the task */
    uint32_t noticed; /* who took less more than the median does not stand out */
};

struct rc_startup {
    struct rc_stage_figures stage[RC_STAGES];
    uint32_t took; /* milliseconds from srun's start to the last thing that a task told; 0: none has told any */
};

/* False without memory. The rolls are those of rc_times_text. */
bool rc_startup_find(const struct rc_times *times, size_t nodes, struct rc_startup *startup);

/* The name of a stage for programs: "torch". */
const char *rc_stage_name(enum rc_stage stage);

/* What a task, or with RC_STAGE_CALL a node, took for a stage; RC_UNKNOWN: not known (yet). */
uint32_t rc_stage_took(const struct rc_times *times, enum rc_stage stage, uint32_t which);

/* Who stands out in a stage: "on n[7-8]", or where the nodes are not known "in task 3"; "": nobody. NULL without
 * memory. */
const char *rc_startup_odd(const struct rc_times *times, const struct rc_startup *startup, enum rc_stage stage,
                           const struct rc_roll *rolls, size_t count, struct rc_arena *arena);

/* "start-up took 98 s: torch came in after 94 s on n7, 11 s in the median of 32 tasks"; where nobody stands out the
 * medians alone; "start-up of 30 of 32 tasks so far: ..." until all have joined. NULL where no task has told
 * anything, and without memory. */
const char *rc_startup_line(const struct rc_times *times, const struct rc_roll *rolls, size_t count,
                            struct rc_arena *arena);

/* "94 s", "1.2 s". */
const char *rc_startup_seconds(uint32_t milliseconds, struct rc_arena *arena);

#endif
