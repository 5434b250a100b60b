/* SPDX-License-Identifier: BSD-3-Clause */
/* bind.h - rollcall exec's part in binding: each task asks for itself, and all are told the same. */
#ifndef ROLLCALL_CLI_BIND_H
#define ROLLCALL_CLI_BIND_H

#include "resolve/resolve.h"

/* Of a task that is resolved: binds this process, which becomes the command, or
 * plans the cores of the workers that it will start; the plan says the rest.
 * Never fails: one that cannot be bound stays as it is, with a message in result. */
void cli_bind_task(struct rc_context *context, struct rc_result *result);

#endif
