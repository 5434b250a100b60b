/* SPDX-License-Identifier: BSD-3-Clause */
/* steps.h - the steps from facts to a plan, in their order. Private to lib/resolve. A step that returns false has said
 * why. */
#pragma once

#include "resolve/model.h"

/* Who is this process? */

/* What the families and this task's numbers are read with. */
struct rc_reader rc_reader_of(const struct rc_context *context, struct rc_result *result);

/* Asks the families that have a marker in the environment and decides for one: result->launcher, its launch and rank in
 * the facts, its messages, and the scopes of the launchers further outside. Returns what it claims; for RC_CLAIM_ABSENT
 * there is none. */
enum rc_claim rc_nesting_recognise(const struct rc_context *context, struct rc_result *result);

/* Decide for a process that is no task, but for which its user called rollcall: it is a launch of one, with RC311 if
 * no launcher is there. Return false, with nothing changed, in a job of several tasks, for a command that starts its
 * processes itself (torchrun without nproc=), and, with RC128, if a variable numbers the process or its machine.
 * result->command is read. */
bool rc_single_take(const struct rc_context *context, enum rc_claim claim, struct rc_result *result);

/* The identity as the facts have it: in the launcher's own numbers. */
void rc_identity_take(struct rc_result *result);

/* Of a task that was recognised: fills in the other facts and the identity and
 * checks the invariants: rank < size, local rank < local size, node rank < nodes. */
bool rc_identity_read(const struct rc_context *context, struct rc_result *result, rc_facts_reader *read);

/* Decides result->mode and mode_reason for a task (claim RC_CLAIM_TASK). */
bool rc_mode_decide(const struct rc_context *context, struct rc_result *result);

/* Decide for mode none, because the command is a launcher's own daemon, or starts tasks (RC310). */
void rc_mode_of_daemon(const struct rc_context *context, struct rc_result *result);

/* Add RC310 if the user put rollcall in front of a command that starts tasks. */
void rc_starter_say(const struct rc_context *context, struct rc_result *result);

/* What does it need, in worker or launcher mode? */

/* Applies the order of the network that the nodes were told, now or by an earlier rollcall, to the identity and to what
 * the facts say of RANK 0's node. RC308 where it was asked for, but is not known. */
bool rc_identity_follow_network(const struct rc_context *context, struct rc_result *result);

/* Fills in result->master. The user's own values are kept where they can work, unless result->stamp_is_outer. */
bool rc_master_find(const struct rc_context *context, struct rc_result *result);

/* Applies order=node to the identity. */
bool rc_identity_order(const struct rc_context *context, struct rc_result *result);

/* Decides result->gpus. */
void rc_gpus_decide(const struct rc_context *context, struct rc_result *result);

/* Writes the plan, but for what the steps below add. stamp is the value of RC_STAMP that this process is to carry;
 * is_repeated: it carries one of this launch, task and mode already. */
void rc_planning_write(const struct rc_context *context, struct rc_result *result, const char *stamp, bool is_repeated);

/* For --ddp=alone: hide the variables by which frameworks and MPI count the launch that the process is in. */
void rc_alone_plan(struct rc_result *result);

/* Adds what result->gpus says of the variables. */
void rc_gpus_plan(const struct rc_context *context, struct rc_result *result);

/* Plans PET_* for an agent, or for a script that may start one. RC312, an error, if the command's arguments contradict
 * the step so that it would hang, RC313 if torchrun refuses one; RC304 or RC305 if it only trains differently. */
void rc_agents_plan(const struct rc_context *context, struct rc_result *result);

/* What a user types for so many tasks on each node; NULL if the launcher has no option for that. */
static inline const char *rc_each_write(struct rc_result *result, uint32_t tasks)
{
    struct rc_str behind;
    struct rc_str before = rc_str_split(rc_str(result->launcher->each), 'N', &behind);

    return behind.p ? rc_format(&result->arena, "%pS%u%pS", &before, tasks, &behind) : NULL;
}

/* Whether the command's arguments say that its step is one of several: each names where all of them meet, or its own
 * place among them. */
bool rc_agents_are_part(const struct rc_result *result);

/* Lists the launchers' values that contradict the identity (for explain). */
void rc_identity_list_rejected(struct rc_result *result);

/* Adds what watch and lookup=numeric need. What keeps them from working is a warning, no more. */
void rc_preloading_plan(const struct rc_context *context, struct rc_result *result);

/* Adds what context->told.pins say of cores, with RC913, and takes an outer launch's away. */
void rc_pinning_plan(const struct rc_context *context, struct rc_result *result);

/* Adds what they say of network cards, and the interface towards the master that addr= has found. Takes away what an
 * outer launch set for its cards or its interface. */
void rc_nicnames_plan(const struct rc_context *context, struct rc_result *result);

/* What is left over of another launch, or was changed since. */

/* Whether RANK, WORLD_SIZE or LOCAL_RANK has another value than this task's own stamp
 * says that it was told; missing_counts: or is not there. */
bool rc_planning_is_changed(const struct rc_result *result, bool missing_counts);

/* Add RC507 for each number that differs from the one in this task's own stamp. */
void rc_planning_say_changed(struct rc_result *result);

/* Plans what the stamp says that the task was told, with RC501 for what it replaces. */
void rc_planning_restore(struct rc_result *result);

/* Return whether Lightning ignores Slurm in a job of that name and starts its workers itself (slurm.py). */
static inline bool rc_is_interactive(struct rc_str job_name)
{
    return rc_str_which(job_name, "bash|interactive");
}

/* Return whether it is RANK, LOCAL_RANK or the like. */
bool rc_planning_is_number(struct rc_str name);

/* Takes away all PET_* that are there. */
void rc_agents_unset(struct rc_result *result, const char *reason);

/* Libraries in LD_PRELOAD. */

/* Plan to take rollcall's entries out of LD_PRELOAD and PYTHONPATH. */
void rc_preloading_forget(struct rc_result *result, const char *reason);

/* Plans to add a file of that name to LD_PRELOAD, after the user's own files and those planned before,
 * and only once. `file` is its path, absent where this process does not find it; `source` and `reason` are for
 * explain. Returns NULL; or why the task's programs would not load it, with the plan untouched. */
const char *rc_preloading_add(const struct rc_context *context, struct rc_result *result, struct rc_str file,
                              const char *name, const char *source, const char *reason);

/* The three ways to put an entry into result->plan. Each replaces an earlier entry of
 * the same name. Where the plan has no room, plan.full says so (rc_plan_fits).
 * name ends with a NUL; all texts are borrowed, for the life of the result. */

/* Sets a variable. Returns the value that the environment has, absent where it has none. */
struct rc_str rc_plan_set(struct rc_result *result, struct rc_str name, const char *value, const char *source,
                          const char *reason);

/* Removes a variable. Does nothing where the environment does not have it. */
void rc_plan_unset(struct rc_result *result, struct rc_str name, const char *reason);

/* The variable stays as it is. */
void rc_plan_keep(struct rc_result *result, struct rc_str name, const char *reason);

/* A number, with RC501 where it replaces another value. */
void rc_plan_set_number(struct rc_result *result, struct rc_str name, uint32_t value, const char *source,
                        const char *reason);

/* A number of the identity, with its source. */
void rc_plan_set_field(struct rc_result *result, struct rc_str name, enum rc_field field, const char *reason);

/* Removes those of the names that are there. */
void rc_plan_unset_all(struct rc_result *result, const struct rc_str *names, size_t count, const char *reason);

#define RC_PLAN_UNSET(result, names, reason) \
    rc_plan_unset_all((result), (names), sizeof(names) / sizeof(*(names)), (reason))

/* Return whether rollcall has set the variable to the value that it has. */
bool rc_plan_owns(const struct rc_env *env, struct rc_str name);

/* Returns the entry of this name, or NULL. */
struct rc_plan_entry *rc_plan_find(struct rc_plan *plan, struct rc_str name);

/* Whether so many bytes have room in the arena, and a few entries in the plan, beside what is planned after them. What
 * only helps asks this first: a plan that is full sets nothing at all. */
bool rc_plan_has_room(const struct rc_result *result, size_t bytes);

/* False, with message RC502, where plan or arena had no room for something: nothing of it may be applied. */
bool rc_plan_fits(struct rc_result *result);
