/* SPDX-License-Identifier: BSD-3-Clause */
/* visible.h - which of its node's GPUs a task sees, so that cuda:LOCAL_RANK is its own.
 *
 * What a launcher leaves visible is one of three things: all of the step's GPUs
 * in every task; one, or some, of them by variable, while the others' device
 * files may be opened all the same; or by a device cgroup, which hides the others
 * and the way to them. The rule, for n GPUs of the step and t tasks on this node,
 * and the task of local rank r:
 *
 * 1. No variable, or one that names no GPU: nothing is touched. Nor where the
 *    local rank is LOCAL_RANK's own word: somebody else has numbered the tasks.
 * 2. All tasks see the same list, n >= t, no MIG: nothing is touched, cuda:r is
 *    the task's own.
 * 3. The task sees one by variable, n >= t, and the step's list is known: the
 *    variables become the step's list, with the task's own GPU at place r. So
 *    does every one of its neighbours, and peers reach each other's memory.
 *    Where srun was told not to bind (--gpu-bind=none) Slurm up to 23.02 takes all
 *    the variables away, a later one if there are device cgroups: they are put back.
 * 4. Else, in Slurm, where it sees one, or where there are more tasks than GPUs (then entry
 *    r mod n is its own), or of MIG devices, of which a process uses only the
 *    first, or with gpus=own: it sees its own alone, as device 0, and LOCAL_RANK
 *    is 0, as with torch's own "virtual local rank". Nothing else changes its
 *    number. Under other launchers with gpus=own alone: outside of Slurm Lightning
 *    takes its rank from LOCAL_RANK, and 0 in several tasks is the very thing that
 *    rollcall is there to prevent. For the same reason an interactive job's name,
 *    which Lightning takes for "no Slurm", is replaced (plan.c).
 * 5. The task sees several, other ones than its neighbours: left as they are;
 *    widened as in 3 with gpus=all.
 *
 * Whatever it decides once, it finds to be decided when it looks again: a task
 * that has its own GPU alone has LOCAL_RANK 0, one with the step's list has r.
 */
#ifndef ROLLCALL_RESOLVE_VISIBLE_H
#define ROLLCALL_RESOLVE_VISIBLE_H

#include "resolve/taskgpus.h"

struct rc_context;
struct rc_result;

struct rc_visible {
    struct rc_task_gpus gpus; /* what the task sees before that, and whose it is */
    uint32_t device;          /* what LOCAL_RANK says in worker mode */
    uint32_t count;           /* GPUs that the task sees in the end; RC_UNKNOWN where there is no telling */
    const char *why;          /* LOCAL_RANK is not the local rank; NULL where it is */
    const char *list;         /* what the variables of `alike` become; NULL: as they are */
    const char *reason;
    unsigned alike; /* one bit a list: those that say the same as the first */
    unsigned drop;  /* one bit a list: taken away, as they would count what ROCR left */
};

/* Decides result->visible of a result whose identity, mode and master are there. */
void rc_visible_decide(const struct rc_context *context, struct rc_result *result);

/* Adds to the plan what result->visible says of the variables. */
void rc_visible_plan(const struct rc_context *context, struct rc_result *result);

#endif
