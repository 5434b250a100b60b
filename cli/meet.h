/* SPDX-License-Identifier: BSD-3-Clause */
/* meet.h - exec's meeting with the other tasks, and RANK 0's part. */
#pragma once

#include "effects/rank0.h"

/* For a resolved task. Under a launcher with a PMIx server the tasks of a node report to their first one (local rank
 * 0). If there are several nodes, those first tasks meet over PMIx. All get the port that RANK 0 holds, and are
 * resolved once more with it. *held is its descriptor in RANK 0's own process, else -1. Any failure leaves the port
 * that each task computes by itself, with a warning (RC611); *speaks says whether this process prints that for its
 * node. False, with an error in result->messages, where the command is not to be run. */
bool cli_meet(struct rc_context *context, struct rc_result *result, const struct rc_rank0 *hooks, int *held,
              bool *speaks);

/* With PMIx 4, sets PMIX_MCA_gds=hash in this process's environment, unless that is
 * set. Only this store also serves a second client of a task, and the program itself is
 * the second one after rollcall-pmix. All tasks of a node must have the same value. */
void cli_choose_store(struct rc_context *context, struct rc_result *result);

/* What this command brings along for rank 0's part. */
const struct rc_rank0 *cli_rank0_hooks(void);

/* Looks up what result->master leaves to the node (lib/effects/lookup.h) and does what it asks of this process
 * (lib/effects/rank0.h). If `held` is a descriptor, it holds the port already, and stays open across exec. 0, or -1
 * with an error in result->messages. */
int cli_settle_master(struct rc_context *context, struct rc_result *result, int held);
