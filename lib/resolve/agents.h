/* SPDX-License-Identifier: BSD-3-Clause */
/* agents.h - torchrun's arguments, as the variables (PET_*) that it takes their defaults from. */
#ifndef ROLLCALL_RESOLVE_AGENTS_H
#define ROLLCALL_RESOLVE_AGENTS_H

#include "resolve/arguments.h"
#include "resolve/result.h"

/* Plans PET_* for launcher mode; result->master is known. nproc: workers of each agent, 0: as many as GPUs. */
void rc_agents_plan(struct rc_result *result, const struct rc_arguments *arguments, uint32_t nproc);

/* Takes away all of them that are there. */
void rc_agents_unset(struct rc_result *result, const char *reason);

#endif
