/* SPDX-License-Identifier: BSD-3-Clause */
/* planning.h - what the plan of each mode has: variables of a worker, of an agent, and those that must be absent. */
#ifndef ROLLCALL_RESOLVE_PLANNING_H
#define ROLLCALL_RESOLVE_PLANNING_H

#include "resolve/result.h"

/* Writes the plan of a decided result (identity, mode, master and visible are there).
 * stamp is the value of RC_STAMP that this process is to carry; is_repeated: it carries
 * one of this launch, task and mode already. */
void rc_planning_write(const struct rc_context *context, struct rc_result *result, const char *stamp, bool is_repeated);

/* Whether RANK, WORLD_SIZE or LOCAL_RANK has another value than this task's own stamp
 * says that it was told; missing_counts: or is not there. */
bool rc_planning_is_changed(const struct rc_result *result, bool missing_counts);

/* The name of a worker's i-th number in its stamp, below RC_STAMP_TOLD. */
struct rc_str rc_planning_told_name(unsigned i);

/* Plans what the stamp says that the task was told, with RC501 for what it replaces. */
void rc_planning_restore(struct rc_result *result);

#endif
