/* SPDX-License-Identifier: BSD-3-Clause */
/* identity.h - from what the launchers say to one identity that holds together. */
#ifndef ROLLCALL_RESOLVE_IDENTITY_H
#define ROLLCALL_RESOLVE_IDENTITY_H

#include "resolve/result.h"

/* Finds the launcher whose task this is (nesting.h). What it wants to learn of
 * the node is in result->wants. */
enum rc_claim rc_identity_recognise(const struct rc_context *context, struct rc_result *result);

/* The identity as the facts have it: in the launcher's own numbers. */
void rc_identity_take(struct rc_result *result);

/* Of a task that was recognised: fills in the other facts and the identity and
 * checks the invariants: rank < size, local rank < local size, node rank <
 * nodes, no half of it unknown. False, with a message, where they do not hold. */
bool rc_identity_read(const struct rc_context *context, struct rc_result *result);

/* Applies order=node to the identity. False, with a message, where the tasks
 * of the other nodes are not known. */
bool rc_identity_order(const struct rc_context *context, struct rc_result *result);

/* Applies the order of the network that the nodes were told, now or by an earlier
 * rollcall, to the identity and to what the facts say of RANK 0's node. RC308 where
 * it was asked for, but is not known. False, with RC103, where the launch has not so
 * many nodes or tasks. */
bool rc_identity_follow_network(const struct rc_context *context, struct rc_result *result);

/* Takes a number of nodes out of the identity that no launcher has told, but that was derived. torchrun needs
 * it, and has an agent in each task: in launcher mode it is the number of tasks, and stays. */
void rc_identity_forget_nodes(struct rc_result *result);

/* The number of nodes, a derived one as well: for what a wrong one does not harm. RC_UNKNOWN where
 * the identity has no place for it. */
uint32_t rc_identity_guess_nodes(const struct rc_result *result);

/* Lists the launchers' values that contradict the identity (for explain). */
void rc_identity_list_rejected(struct rc_result *result);

#endif
