/* SPDX-License-Identifier: BSD-3-Clause */
/* nodemode.h - the mode of all tasks of a node.
 *
 * The mode is the node's decision, because in the block of user_init the GPUs of all its
 * tasks can be seen: a task that Slurm binds to GPUs sees only its own. In a step of several het
 * components this node's place is not right, because Slurm's items count within the
 * component and the environment over all; the mode does not depend on it.
 */
#ifndef ROLLCALL_SPANK_NODEMODE_H
#define ROLLCALL_SPANK_NODEMODE_H

#include <stdint.h>
#include <sys/types.h>

#include <slurm/spank.h>

#include "resolve/resolve.h"

/* Recognises the node's first task, as it will be, in the step's environment (step->env, of which result->env is an
 * index). RC_MODE_AUTO where that does not work: each task decides then. Writes why into
 * *reason; overwrites *result. */
enum rc_mode rc_spank_node_mode(spank_t spank, const struct rc_context *step, struct rc_result *result,
                                struct rc_arena *reason);

#endif
