/* SPDX-License-Identifier: BSD-3-Clause */
/* mode.h - worker, launcher, torchrun's child, or none: which variables are right. */
#ifndef ROLLCALL_RESOLVE_MODE_H
#define ROLLCALL_RESOLVE_MODE_H

#include "resolve/result.h"

/* Decides result->mode and mode_reason for a task (claim RC_CLAIM_TASK).
 * Order: torchrun's child, off, a daemon's command, the mode that was asked
 * for, the node's earlier decision, the command, the counts. False, with a
 * message, where what was asked for contradicts the layout. */
bool rc_mode_decide(const struct rc_context *context, struct rc_result *result);

/* Decides for mode none, because the command is a launcher's own daemon. */
void rc_mode_of_daemon(struct rc_result *result);

#endif
