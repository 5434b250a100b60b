/* SPDX-License-Identifier: BSD-3-Clause */
/* agents.h - torchrun's arguments, as the variables (PET_*) that it takes their defaults from. */
#ifndef ROLLCALL_RESOLVE_AGENTS_H
#define ROLLCALL_RESOLVE_AGENTS_H

#include "resolve/arguments.h"
#include "resolve/result.h"

/* Where agents meet; it takes precedence over PET_MASTER_ADDR and PET_MASTER_PORT. */
#define RC_AGENTS_ENDPOINT "PET_RDZV_ENDPOINT"

/* Plans PET_* for launcher mode; result->master is known. nproc: workers of each agent, 0: as many as GPUs. */
void rc_agents_plan(struct rc_result *result, const struct rc_arguments *arguments, uint32_t nproc);

/* Whether PET_RDZV_ENDPOINT has the port that this process's stamp says its task was told. */
bool rc_agents_met_there(const struct rc_result *result);

/* Takes away all of them that are there. */
void rc_agents_unset(struct rc_result *result, const char *reason);

#endif
