/* SPDX-License-Identifier: BSD-3-Clause */
/* bind.h - the cores of the node's tasks: asked for once, each task then binds itself. */
#pragma once

#include <slurm/spank.h>

#include "resolve/resolve.h"

/* In user_init: memory that the node's tasks share. */
void rc_spank_bind_prepare(void);

/* Call it in task_init of a resolved task: only there its mask is final. The node's
 * first task asks rollcall-map for the places of all. Each task then binds itself, or
 * plans the cores of its workers. Never fails: a task that cannot be bound stays as it
 * is, with a message in result. */
void rc_spank_bind(spank_t spank, struct rc_context *context, struct rc_result *result);
