/* SPDX-License-Identifier: BSD-3-Clause */
/* slurm.h - Slurm's calls: items, lines, programs, variables. */
#pragma once

#include <slurm/spank.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/env.h"
#include "base/message.h"
#include "resolve/resolve.h"

/* What Slurm tells the plugin of a step or a task (spank_get_item), without its calling conventions. */

/* The environment of the step or, in task_init, of the task; NULL without one.
 * Slurm moves the block when a variable is set: ask again after spank_setenv. */
const char *const *rc_spank_environment(spank_t spank);

/* The command, NULL-terminated, or NULL. */
const char *const *rc_spank_command(spank_t spank);

/* An item that is a 32 bit number. False, with *value untouched, where Slurm does not say. */
bool rc_spank_number(spank_t spank, spank_item_t item, uint32_t *value);

/* Whether this environment is that of the step's first task, which prints for the whole step. */
bool rc_spank_is_first(const struct rc_env *env);

/* Lines of rollcall's, through Slurm: `rollcall: warning RC301: TEXT`.
 *
 * In srun they go to its standard error, in user_init and task_init to the
 * task's, through srun's own channels (--label, --error, --output). */

void rc_spank_say(enum rc_level level, enum rc_message_id id, const char *text);

/* Prints the messages of this level or worse. */
void rc_spank_say_all(const struct rc_messages *messages, enum rc_level least);

/* Looks for their folder. slurmstepd does it once, for all tasks that it forks later: its list of mapped files
 * is long (40 us, measured). */
void rc_spank_programs_find(void);

/* The path of one of them, until the next call; it need not be there. "" where it cannot be known. */
const char *rc_spank_program(const char *name);

/* Carries out the entries that change something, and reads each back: spank_setenv
 * takes what is not a name, drops values over 128 KiB, and reports success (measured on
 * 22.05). Returns NULL, or the name that could not be set, after undoing all changes.
 * The strings of the plan may be part of the environment that changes. The returned
 * name belongs to the plan. */
const char *rc_spank_apply(spank_t spank, const struct rc_plan *plan);
