/* SPDX-License-Identifier: BSD-3-Clause */
/* reachability.h - whether this node reaches the master port.
 *
 * The port is held, and nothing listens there before the program does. So rank 0's
 * doctor listens there meanwhile. Where the doctor runs on all nodes of a step of
 * srun --ddp, the nodes agree on that through the store of srun's rendezvous server,
 * under the number N of the check:
 *
 *   doctor/arrived     counted by each node; the last one sets doctor/all/N
 *   doctor/listener/N  set by rank 0's node, which listens now: "TOKEN ADDRESS...", or "closed"
 *   doctor/done/N      counted by each other node after its probe; the last one sets doctor/over/N
 *
 * Otherwise, or where not all nodes arrive in time, each node probes alone. A port
 * that refuses is then taken for the held one.
 */
#ifndef ROLLCALL_CLI_DOCTOR_REACHABILITY_H
#define ROLLCALL_CLI_DOCTOR_REACHABILITY_H

#include "findings.h"
#include "resolve/resolve.h"

/* Does nothing unless rollcall has set the port of a launch on several nodes. Runs in one task a node. */
void doctor_reachability(struct findings *findings, const struct rc_result *result);

#endif
