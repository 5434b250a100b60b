/* SPDX-License-Identifier: BSD-3-Clause */
/* items.h - what Slurm tells the plugin of a step or a task (spank_get_item), without its calling conventions. */
#ifndef ROLLCALL_SPANK_ITEMS_H
#define ROLLCALL_SPANK_ITEMS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <slurm/spank.h>

#include "base/env.h"

/* The environment of the step or, in task_init, of the task; NULL without one.
 * Slurm moves the block when a variable is set: ask again after spank_setenv. */
const char *const *rc_spank_environment(spank_t spank);

/* The command, NULL-terminated, or NULL. */
const char *const *rc_spank_command(spank_t spank);

/* An item that is a 32 bit number. False, with *value untouched, where Slurm does not say. */
bool rc_spank_number(spank_t spank, spank_item_t item, uint32_t *value);

/* Whether this environment is that of the step's first task, which prints for the whole step. */
bool rc_spank_is_first(const struct rc_env *env);

#endif
