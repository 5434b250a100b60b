/* SPDX-License-Identifier: BSD-3-Clause */
/* reachability.h - whether this node reaches the master port.
 *
 * The port is held, and nothing listens there before the program does. So a port that refuses is taken for the held
 * one: a firewall that answers with a reset looks the same, and only one that drops, or no route, is found.
 */
#ifndef ROLLCALL_CLI_DOCTOR_REACHABILITY_H
#define ROLLCALL_CLI_DOCTOR_REACHABILITY_H

#include "findings.h"
#include "resolve/resolve.h"

/* Does nothing unless rollcall has set the port of a launch on several nodes. Runs in one task a node. */
void doctor_reachability(struct findings *findings, const struct rc_result *result);

#endif
