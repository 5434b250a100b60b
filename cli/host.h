/* SPDX-License-Identifier: BSD-3-Clause */
/* host.h - where rank 0 is, looked up; and what it does for all: it is there, and holds the port. */
#ifndef ROLLCALL_CLI_HOST_H
#define ROLLCALL_CLI_HOST_H

#include "effects/rank0.h"

/* What this command brings along for rank 0's part. */
const struct rc_rank0 *cli_rank0_hooks(void);

/* Looks up what result->master leaves to the node (lib/effects/lookup.h) and does what
 * it asks of this process (lib/effects/rank0.h). If `held` is a descriptor, it holds
 * the port already, and stays open across exec. 0, or -1 with an error in
 * result->messages. */
int cli_settle_master(struct rc_result *result, int held);

#endif
