/* SPDX-License-Identifier: BSD-3-Clause */
/* bind.h - how rollcall exec binds: each task asks rollcall-map itself, and all get the
 * same answer. */
#ifndef ROLLCALL_CLI_BIND_H
#define ROLLCALL_CLI_BIND_H

#include "resolve/resolve.h"

/* For a resolved task: binds this process, which becomes the command, or plans the
 * cores of the workers that it will start, and completes the plan. Never fails: a task
 * that cannot be bound stays as it is, with a message in result. */
void cli_bind_task(struct rc_context *context, struct rc_result *result);

#endif
