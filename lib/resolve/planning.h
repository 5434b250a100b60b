/* SPDX-License-Identifier: BSD-3-Clause */
/* planning.h - what the plan of each mode has: variables of a worker, of an agent, and those that must be absent. */
#ifndef ROLLCALL_RESOLVE_PLANNING_H
#define ROLLCALL_RESOLVE_PLANNING_H

#include "resolve/result.h"

/* Writes the plan of a decided result (identity, mode, master and visible are there).
 * stamp is the value of RC_STAMP that this process is to carry; is_repeated: it carries
 * one of this launch, task and mode already. */
void rc_planning_write(const struct rc_context *context, struct rc_result *result, const char *stamp, bool is_repeated);

#endif
