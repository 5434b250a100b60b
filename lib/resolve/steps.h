/* SPDX-License-Identifier: BSD-3-Clause */
/* steps.h - the steps from facts to a plan, in order. Private. A step that returns false has added a message. */
#pragma once

#include "resolve/model.h"

/* Return a reader for this task. */
struct rc_reader rc_reader_of(const struct rc_context *context, struct rc_result *result);

/* Query the families with a marker and choose one: set result->launcher, its launch and rank in the facts, messages,
 * and outer scopes. Return its claim or RC_CLAIM_ABSENT. */
enum rc_claim rc_nesting_recognise(const struct rc_context *context, struct rc_result *result);

/* Make a process outside any task a launch of one if its user called rollcall, with RC311 if there is no launcher.
 * Return false in a job of several tasks, for a command that starts processes (torchrun without nproc=), or, with
 * RC128, if a variable numbers the process or machine. Requires result->command. */
bool rc_single_take(const struct rc_context *context, enum rc_claim claim, struct rc_result *result);

/* Set the identity from the facts, in the launcher's numbers. */
void rc_identity_take(struct rc_result *result);

/* Read the other facts and the identity, and check that ranks are below sizes. */
bool rc_identity_read(const struct rc_context *context, struct rc_result *result, rc_facts_reader *read);

/* Set the mode of a task (RC_CLAIM_TASK). */
bool rc_mode_decide(const struct rc_context *context, struct rc_result *result);

/* Set mode none: the command is a daemon, or starts tasks (RC310). */
void rc_mode_of_daemon(const struct rc_context *context, struct rc_result *result);

/* Add RC310 if rollcall precedes a command that starts tasks. */
void rc_starter_say(const struct rc_context *context, struct rc_result *result);

/* Apply the network order to the identity and RANK 0's node. RC308 if a requested order is unknown. */
bool rc_identity_follow_network(const struct rc_context *context, struct rc_result *result);

/* Set result->master. Keep the user's usable values unless result->stamp_is_outer. */
bool rc_master_find(const struct rc_context *context, struct rc_result *result);

/* Apply order=node. */
bool rc_identity_order(const struct rc_context *context, struct rc_result *result);

/* Set result->gpus. */
void rc_gpus_decide(const struct rc_context *context, struct rc_result *result);

/* Write the plan except for the steps below. stamp: new RC_STAMP; is_repeated: this process has one of this launch,
 * task and mode. */
void rc_planning_write(const struct rc_context *context, struct rc_result *result, const char *stamp, bool is_repeated);

/* Hide the launch from frameworks and MPI. */
void rc_alone_plan(struct rc_result *result);

/* Add result->gpus. */
void rc_gpus_plan(const struct rc_context *context, struct rc_result *result);

/* Add PET_* for torchrun's agents. RC312, an error, if the command's arguments would make the step hang; RC313 if
 * torchrun refuses one; RC304 or RC305 if it only trains differently. */
void rc_agents_plan(const struct rc_context *context, struct rc_result *result);

/* Return the option for so many tasks a node, or NULL. */
static inline const char *rc_each_write(struct rc_result *result, uint32_t tasks)
{
    struct rc_str behind;
    struct rc_str before = rc_str_split(rc_str(result->launcher->each), 'N', &behind);

    return behind.p ? rc_format(&result->arena, "%pS%u%pS", &before, tasks, &behind) : NULL;
}

/* Return true if the step is one of several: its arguments name a common address, or a place among them. */
bool rc_agents_are_part(const struct rc_result *result);

/* List contradicting values, for explain. */
void rc_identity_list_rejected(struct rc_result *result);

/* Add watch and lookup=numeric, or a warning. */
void rc_preloading_plan(const struct rc_context *context, struct rc_result *result);

/* Add cores of context->told.pins, with RC913. Unset an outer launch's. */
void rc_pinning_plan(const struct rc_context *context, struct rc_result *result);

/* Add network cards and addr='s interface. Unset an outer launch's. */
void rc_nicnames_plan(const struct rc_context *context, struct rc_result *result);

/* Return true if RANK, WORLD_SIZE or LOCAL_RANK differs from this task's stamp, or, with missing_counts, is unset. */
bool rc_planning_is_changed(const struct rc_result *result, bool missing_counts);

/* Add RC507 for each such number. */
void rc_planning_say_changed(struct rc_result *result);

/* Plan the stamp's numbers, with RC501 for each that it replaces. */
void rc_planning_restore(struct rc_result *result);

/* Return true if Lightning ignores Slurm in this job (slurm.py). */
static inline bool rc_is_interactive(struct rc_str job_name)
{
    return rc_str_which(job_name, "bash|interactive");
}

/* Return true for RANK, LOCAL_RANK, ... */
bool rc_planning_is_number(struct rc_str name);

/* Unset all PET_*. */
void rc_agents_unset(struct rc_result *result, const char *reason);

/* Remove rollcall's entries from LD_PRELOAD and PYTHONPATH. */
void rc_preloading_forget(struct rc_result *result, const char *reason);

/* Append a file to LD_PRELOAD, once. file: its path, or RC_ABSENT. Return NULL, or, with the plan unchanged, why
 * programs would not load it. */
const char *rc_preloading_add(const struct rc_context *context, struct rc_result *result, struct rc_str file,
                              const char *name, const char *source, const char *reason);

/* Each entry replaces an earlier one of its name, or sets plan.full. name ends with a NUL; texts are borrowed for the
 * result's lifetime. */

/* Set a variable. Return its present value, or RC_ABSENT. */
struct rc_str rc_plan_set(struct rc_result *result, struct rc_str name, const char *value, const char *source,
                          const char *reason);

/* Remove a variable, if set. */
void rc_plan_unset(struct rc_result *result, struct rc_str name, const char *reason);

/* Leave a variable unchanged. */
void rc_plan_keep(struct rc_result *result, struct rc_str name, const char *reason);

/* Set a number, with RC501 if it replaces another. */
void rc_plan_set_number(struct rc_result *result, struct rc_str name, uint32_t value, const char *source,
                        const char *reason);

/* Set a number of the identity. */
void rc_plan_set_field(struct rc_result *result, struct rc_str name, enum rc_field field, const char *reason);

/* Remove variables, if set. */
void rc_plan_unset_all(struct rc_result *result, const struct rc_str *names, size_t count, const char *reason);

#define RC_PLAN_UNSET(result, names, reason) \
    rc_plan_unset_all((result), (names), sizeof(names) / sizeof(*(names)), (reason))

/* Return true if rollcall set the present value. */
bool rc_plan_owns(const struct rc_env *env, struct rc_str name);

/* Return the entry or NULL. */
struct rc_plan_entry *rc_plan_find(struct rc_plan *plan, struct rc_str name);

/* Return true if the arena has room for so many bytes and the plan for a few entries. Check before optional entries: a
 * full plan sets nothing. */
bool rc_plan_has_room(const struct rc_result *result, size_t bytes);

/* Return false, with RC502, if plan or arena is full. */
bool rc_plan_fits(struct rc_result *result);
