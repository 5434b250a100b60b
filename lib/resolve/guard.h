/* SPDX-License-Identifier: BSD-3-Clause */
/* guard.h - guard=nccl: a rank that is taken twice is an error at once, not a hang.
 *
 * The guard is a library (shim/nccl), which LD_PRELOAD puts between a program and
 * NCCL. This file plans that LD_PRELOAD.
 */
#ifndef ROLLCALL_RESOLVE_GUARD_H
#define ROLLCALL_RESOLVE_GUARD_H

#include "resolve/result.h"

#define RC_GUARD_LIBRARY "librollcall-nccl.so"

/* Adds to the plan of worker or launcher mode what the guard needs, where it was
 * asked for; takes an outer launch's away where it was not. Asks for
 * RC_LEARN_GUARD. What keeps the guard from working is a warning, no more. */
void rc_guard_plan(const struct rc_context *context, struct rc_result *result);

#endif
