/* SPDX-License-Identifier: BSD-3-Clause */
/* bind.h - the cores of the node's tasks: asked for once, each task then binds itself. */
#ifndef ROLLCALL_SPANK_BIND_H
#define ROLLCALL_SPANK_BIND_H

#include <slurm/spank.h>

#include "resolve/resolve.h"

/* In user_init: memory that the node's tasks share. */
void rc_spank_bind_prepare(void);
void rc_spank_bind_forget(void);

/* In task_init of a task that is resolved, as its mask is final only there. The
 * node's first task asks rollcall-map where all of them go. Then this one binds
 * itself, or its workers' cores are planned, and the plan says the rest. Never
 * fails: a task that cannot be bound stays as it is, with a message in result. */
void rc_spank_bind(spank_t spank, struct rc_context *context, struct rc_result *result);

#endif
