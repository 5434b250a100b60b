/* SPDX-License-Identifier: BSD-3-Clause */
/* meet.h - in task_init: this node's part in the exchange, done once for all of its tasks. */
#pragma once

#include <slurm/spank.h>

#include "effects/rank0.h"
#include "resolve/resolve.h"

/* In user_init: the memory that the tasks share. */
void rc_spank_meet_prepare(void);

/* Call it when a task has been resolved. The node's first task holds the port, if RANK
 * 0 is here, and meets the other nodes; the other tasks wait for its answer. Then the
 * task is resolved once more with that. *held is the descriptor of the held port in
 * RANK 0's own process, else -1. False, with an error in result->messages, where the
 * step is not to start, or where the first task ended without an answer. Any other failure
 * leaves the port that each task computes by itself, with a warning. */
bool rc_spank_meet(spank_t spank, struct rc_context *context, struct rc_result *result, const struct rc_rank0 *hooks,
                   int *held);

/* Call it where rc_spank_meet was false, when the error has been reported: the node's other tasks, which know only
 * that nothing starts (RC612), wait for that. */
void rc_spank_meet_finish(void);

/* Call it instead of rc_spank_meet where a task cannot be resolved, so that the node's
 * other tasks do not wait for it. */
void rc_spank_meet_not(spank_t spank, const struct rc_options *options, const struct rc_result *result);
