/* SPDX-License-Identifier: BSD-3-Clause */
/* network.h - names, ports and interfaces of this node. */
#ifndef ROLLCALL_CLI_DOCTOR_NETWORK_H
#define ROLLCALL_CLI_DOCTOR_NETWORK_H

#include "findings.h"
#include "resolve/resolve.h"

/* Adds findings. `result` is what this process resolves to. */
void doctor_network(struct findings *findings, const struct rc_result *result);

#endif
