/* SPDX-License-Identifier: BSD-3-Clause */
/* nicnames.h - the node's network cards as NCCL, UCX, gloo and tensorpipe want to be told of them.
 *
 *   NCCL_IB_HCA         =mlx5_0,mlx5_1   all of the job's cards: NCCL takes the one next to each GPU
 *                                        by itself, and ranks of a node that see different ones disagree
 *   UCX_NET_DEVICES     mlx5_0:1         the task's own, with its port; for a launcher's workers, all
 *   NCCL_SOCKET_IFNAME  =ib0,ib1         the interfaces of these cards, for NCCL's bootstrap and sockets
 *   GLOO_SOCKET_IFNAME, TP_SOCKET_IFNAME   the first of them, the same in all tasks of the node
 *
 * Set with nic=auto alone, and only where the user has set nothing. The socket
 * names are addr='s, where that is an interface or a network.
 */
#ifndef ROLLCALL_RESOLVE_NICNAMES_H
#define ROLLCALL_RESOLVE_NICNAMES_H

#include "resolve/pins.h"
#include "resolve/result.h"

enum { RC_NIC_VARIABLES = 5 };

struct rc_str rc_nicnames_variable(unsigned i);

/* Returns the value of the i-th variable for a task, or for a launcher's workers where pin
 * is NULL. NULL where there is nothing to say. */
const char *rc_nicnames_value(unsigned i, const struct rc_pins *pins, const struct rc_pin *pin, struct rc_arena *arena);

/* Adds the variables to the plan of worker or launcher mode, and takes an outer launch's away. */
void rc_nicnames_plan(const struct rc_context *context, struct rc_result *result);

#endif
