/* SPDX-License-Identifier: BSD-3-Clause */
/* step.h - the launch that this process is a task of, and the roll of its nodes. */
#ifndef ROLLCALL_CLI_DOCTOR_STEP_H
#define ROLLCALL_CLI_DOCTOR_STEP_H

#include "findings.h"
#include "resolve/resolve.h"

/* Adds the messages of resolving, and, from rank 0 of a step of srun --ddp, those of the roll of all nodes. */
void doctor_step(struct findings *findings, const struct rc_result *result);

#endif
