/* SPDX-License-Identifier: BSD-3-Clause */
/* forgotten.h - srun forgotten: a command of several tasks, started once, by the job's script itself.
 *
 * It waits for tasks that nobody starts (Lightning: "MEMBER: 1/4"). Most commands of a script only prepare, so
 * what the user gave to rollcall is looked at here, and the rest where torch starts to train (shim/watch).
 */
#ifndef ROLLCALL_RESOLVE_FORGOTTEN_H
#define ROLLCALL_RESOLVE_FORGOTTEN_H

#include "resolve/result.h"

/* How many tasks the job has, where this process is in a job of Slurm and no task of it: 0 elsewhere, and
 * where the job has only one. Of a job that names no number it is the nodes. */
uint32_t rc_forgotten_tasks(const struct rc_result *result);

/* Adds RC309 where context->argv starts training, which needs those tasks. result is what rc_resolve left. */
void rc_forgotten_say(const struct rc_context *context, struct rc_result *result);

/* Adds to the plan what tells torch in a batch script's processes that they are that: context->here->watch must
 * have been learned. Does nothing where there is no room. */
void rc_forgotten_plan(const struct rc_context *context, struct rc_result *result);

#endif
