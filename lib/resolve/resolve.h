/* SPDX-License-Identifier: BSD-3-Clause */
/* resolve.h - the core: environment block in, plan out.
 *
 *   launcher's variables -> facts -> identity -> mode | master -> plan
 *
 * rc_resolve() is pure: no I/O, globals, allocation or libc; the preload library compiles it with -nostdlib. Thread
 * safety: as safe as its arguments. The part after the bar depends on facts that arrive later: the nodes' port, GPUs.
 */
#pragma once

#include "resolve/model.h"

/* Resolve into *result, completely in any case, and return result->status. *result has ~90 KiB: no small stack. */
enum rc_status rc_resolve(const struct rc_context *context, struct rc_result *result);

/* Like rc_resolve(), for the plugin: context->slurm_certain, or mode off. */
enum rc_status rc_resolve_certain(const struct rc_context *context, struct rc_result *result);

/* Repeat the part from master to plan, with the current context->told, options and here. The mode must be worker or
 * launcher. Drop the first plan's messages and later errors; keep later warnings and notes. Index result->env again
 * first if the block has moved. */
enum rc_status rc_resolve_again(const struct rc_context *context, struct rc_result *result);

/* Set RC_CONTRADICTION and remove identity, master and plan; keep the facts. The caller adds the message. */
void rc_result_refuse(struct rc_result *result, const char *reason);

/* Return the variables that a number of the identity comes from; NULL if it is unknown. */
const char *rc_identity_source(const struct rc_result *result, enum rc_field field);

/* Return the ranks of the launch: its tasks, or with torchrun, or one process for the GPUs of a node, its GPUs.
 * RC_UNKNOWN if nothing has counted them. */
uint32_t rc_ranks_count(const struct rc_result *result);

/* Return true if the task sees different GPUs from its neighbours. */
bool rc_task_gpus_are_bound(const struct rc_gpus *gpus);

struct rc_str rc_nicnames_variable(unsigned i);

/* Return the i-th variable's value for a task, or for a launcher's workers if pin is NULL; NULL if there is none. */
const char *rc_nicnames_value(unsigned i, const struct rc_pins *pins, const struct rc_pin *pin, struct rc_arena *arena);

/* Add RC_OWN to a plan that sets up a task, with the variables that it sets. Call it before the plan is applied. */
void rc_plan_own(struct rc_result *result);

/* Plan to remove rollcall's variables (RC_OWN) if result->stamp is from outside this job. job is its scope, "slurm:42",
 * or NULL. Keep later changes and Slurm's variables. */
void rc_leftover_plan(struct rc_result *result, const char *job);

/* The same in sbatch, salloc or srun, for the job or step that it makes, with Slurm's variables. */
void rc_submission_plan(struct rc_result *result);

/* Add RC309 if context->argv starts training once in a job of several tasks. result is rc_resolve()'s. If Lightning
 * starts the tasks, plan like rc_forgotten_plan(). */
void rc_forgotten_say(const struct rc_context *context, struct rc_result *result);

/* Plan the variables that let torch recognise a batch script's processes; nothing if the plan is full. */
void rc_forgotten_plan(const struct rc_context *context, struct rc_result *result);
