/* SPDX-License-Identifier: BSD-3-Clause */
/* meet.h - rollcall exec's part in the exchange (lib/rendezvous): a master port that RANK 0 holds and all know of. */
#ifndef ROLLCALL_CLI_MEET_H
#define ROLLCALL_CLI_MEET_H

#include "effects/rank0.h"

/* For a task that is resolved. Under a launcher with a PMIx server the tasks of
 * a node tell the first of them (local rank 0) that they are there; those first
 * ones meet, where there are several nodes, over PMIx; all get the port that
 * RANK 0 holds, and the task is resolved once more with that. *held is its
 * descriptor in RANK 0's own process, else -1. Whatever goes wrong leaves the
 * port that each task computes by itself, with a warning (RC611): *speaks says
 * that this process is the one of its node to print that. False, with an error
 * in result->messages, where the command is not to be run. */
bool cli_meet(struct rc_context *context, struct rc_result *result, const struct rc_rank0 *hooks, int *held,
              bool *speaks);

#endif
