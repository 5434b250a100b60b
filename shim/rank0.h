/* SPDX-License-Identifier: BSD-3-Clause */
/* rank0.h - what RANK 0's process does for all processes (lib/effects/rank0.h), without a libc. */
#ifndef ROLLCALL_SHIM_RANK0_H
#define ROLLCALL_SHIM_RANK0_H

#include "resolve/resolve.h"

/* Does what result->master asks of this process. *fd is the descriptor that
 * holds the port, or -1 where none is held. False, with an error in result->messages,
 * where MASTER_ADDR is another node, or where another program has the port. It is no
 * error if that cannot be found out here (a name that only a resolver knows, a sandbox
 * without sockets). */
bool shim_rank0(struct rc_result *result, int *fd);

#endif
