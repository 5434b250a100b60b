/* SPDX-License-Identifier: BSD-3-Clause */
/* reach.h - whether this node reaches the master port.
 *
 * The port is held, and nobody listens there before the program does. Where the
 * doctor runs on all nodes of a step of srun --ddp, they meet at its server, each
 * under a number of the meeting:
 *
 *   doctor/come     counted by each; the last one of them says so in doctor/all/N
 *   doctor/door/N   rank 0's, which listens now: "TOKEN ADDRESS...", or "closed"
 *   doctor/done/N   counted by each other one, once it has knocked; the last says doctor/over/N
 *
 * Otherwise, or where they do not all come in time, each knocks alone: a port
 * that refuses is then taken for the held one.
 */
#ifndef ROLLCALL_CLI_DOCTOR_REACH_H
#define ROLLCALL_CLI_DOCTOR_REACH_H

#include "findings.h"
#include "resolve/resolve.h"

/* Of several nodes, and a launch whose port rollcall has set. Once a node. */
void doctor_reach(struct findings *findings, const struct rc_result *result);

#endif
