/* SPDX-License-Identifier: BSD-3-Clause */
/* node.h - the GPUs, cores and limits of this task. */
#ifndef ROLLCALL_CLI_DOCTOR_NODE_H
#define ROLLCALL_CLI_DOCTOR_NODE_H

#include "findings.h"
#include "resolve/resolve.h"

/* Adds findings. `result` is what this process resolves to. */
void doctor_node(struct findings *findings, const struct rc_result *result);

#endif
