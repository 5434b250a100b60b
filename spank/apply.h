/* SPDX-License-Identifier: BSD-3-Clause */
/* apply.h - a plan put into a task's environment, all of it or nothing. */
#ifndef ROLLCALL_SPANK_APPLY_H
#define ROLLCALL_SPANK_APPLY_H

#include <stdint.h>
#include <sys/types.h>

#include <slurm/spank.h>

#include "resolve/plan.h"

/* Carries out the entries that change something, and reads each back: spank_setenv
 * takes what is not a name, drops values over 128 KiB, and reports success (measured on
 * 22.05). Returns NULL, or the name that could not be set, after undoing all changes.
 * The strings of the plan may be part of the environment that changes. The returned
 * name belongs to the plan. */
const char *rc_spank_apply(spank_t spank, const struct rc_plan *plan);

#endif
