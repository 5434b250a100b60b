/* SPDX-License-Identifier: BSD-3-Clause */
/* bind.h - the cores of the node's tasks: asked for once, each task then binds itself. */
#ifndef ROLLCALL_SPANK_BIND_H
#define ROLLCALL_SPANK_BIND_H

#include <stdint.h>
#include <sys/types.h>

#include <slurm/spank.h>

#include "resolve/resolve.h"

/* In user_init, with the step's environment: which GPUs the step has here is to
 * be seen in no task that Slurm has bound to one. */
void rc_spank_bind_prepare(const struct rc_env *env);
void rc_spank_bind_forget(void);

/* In task_init of a task that is resolved. Its mask is final only there. The
 * first task of the node has rollcall-map say where all of them go; this one
 * is bound, or its workers' cores are planned, and the plan says the rest. Never
 * fails: a task that cannot be bound stays as it is, with a message in result. */
void rc_spank_bind(spank_t spank, struct rc_context *context, struct rc_result *result);

#endif
