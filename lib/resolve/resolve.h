/* SPDX-License-Identifier: BSD-3-Clause */
/* resolve.h - the core: environment block in, plan out.
 *
 * rc_resolve() is pure: it reads the environment block and the context, writes the caller's result and nothing else. No
 * I/O, no globals, no allocation, no libc: the preload library compiles the same files with -nostdlib. Thread safety:
 * as safe as its arguments; results are independent.
 *
 *   launcher's variables -> facts -> identity -> mode | master -> plan
 *
 * What is after the bar depends on what is learned on the way: the nodes' port, the GPUs that may be opened.
 */
#pragma once

#include "resolve/model.h"

/* Resolves into *result (some 90 KiB: static or heap storage, not a small
 * stack). Always leaves *result complete; returns result->status. */
enum rc_status rc_resolve(const struct rc_context *context, struct rc_result *result);

/* The same for the plugin: context->slurm_certain, or mode off. */
enum rc_status rc_resolve_certain(const struct rc_context *context, struct rc_result *result);

/* The second half once more, from master to plan, for a task that rc_resolve has recognised: its mode was worker or
 * launcher. What context has got since counts: context->told, options, here. Messages of the first plan are gone;
 * warnings and notes that were said since stay, errors do not. result->env is as it is: index it again where the
 * block has moved. */
enum rc_status rc_resolve_again(const struct rc_context *context, struct rc_result *result);

/* Takes back what was resolved: status RC_CONTRADICTION, nothing to set, and no identity, master or list of what was
 * not believed that looks as if there were. facts stay as they were read. The message is the caller's. */
void rc_result_refuse(struct rc_result *result, const char *reason);

/* Return the variables that a number of the identity comes from; NULL if it is unknown. */
const char *rc_identity_source(const struct rc_result *result, enum rc_field field);

/* Return the ranks of the launch: its tasks, or with torchrun, or one process for the GPUs of a node, its GPUs.
 * RC_UNKNOWN if nothing has counted them. */
uint32_t rc_ranks_count(const struct rc_result *result);

/* Whether the task sees other GPUs than its neighbours. */
bool rc_task_gpus_are_bound(const struct rc_gpus *gpus);

struct rc_str rc_nicnames_variable(unsigned i);

/* Returns the value of the i-th variable for a task, or for a launcher's workers where pin
 * is NULL. NULL where there is nothing to say. */
const char *rc_nicnames_value(unsigned i, const struct rc_pins *pins, const struct rc_pin *pin, struct rc_arena *arena);

/* Add RC_OWN to a plan that sets up a task, with the variables that it sets. Call it before the plan is applied. */
void rc_plan_own(struct rc_result *result);

/* Plan to remove what rollcall has set (RC_OWN), if result->stamp was made outside of this job. job is the job's
 * scope, "slurm:42", or NULL. What somebody has set since stays, and Slurm's variables, which are the job's. */
void rc_leftover_plan(struct rc_result *result, const char *job);

/* The same in sbatch, salloc or srun, for the job or step that it makes, with Slurm's variables. */
void rc_submission_plan(struct rc_result *result);

/* Adds RC309 where context->argv starts training, once in a job of several tasks. result is what rc_resolve left. In a
 * job where Lightning starts the tasks itself it plans the same as rc_forgotten_plan. */
void rc_forgotten_say(const struct rc_context *context, struct rc_result *result);

/* Adds to the plan what tells torch in a batch script's processes that they are that. Does nothing where there is
 * no room. */
void rc_forgotten_plan(const struct rc_context *context, struct rc_result *result);
