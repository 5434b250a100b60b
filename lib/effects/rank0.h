/* SPDX-License-Identifier: BSD-3-Clause */
/* rank0.h - what RANK 0's process does for all: it checks that MASTER_ADDR is here, and holds the port.
 *
 * Freestanding with ROLLCALL_RAW_SYSCALLS, but for what the caller brings along.
 */
#ifndef ROLLCALL_EFFECTS_RANK0_H
#define ROLLCALL_EFFECTS_RANK0_H

#include "base/netaddr.h"
#include "resolve/resolve.h"

/* What differs between plugin, command and preload. */
struct rc_rank0 {
    struct rc_str node;  /* for messages; may be absent */
    const char *outcome; /* what an error ends in: "the command is not run" */
    /* Whether the name result->master.addr is another node's. */
    bool (*is_elsewhere)(const struct rc_result *result);
    /* Writes who has a port (portowner.h); NULL where that cannot be found out. */
    void (*name_owner)(uint16_t port, char *text, size_t size);
};

/* Does what result->master asks of this process: both of the next. *fd is the
 * descriptor that holds the port, open across exec, or -1 where none is held.
 * False, with an error in result->messages, where one of them is. */
bool rc_rank0_begin(struct rc_result *result, const struct rc_rank0 *hooks, int *fd);

/* False where MASTER_ADDR is seen to be another node. What cannot be found out
 * (a sandbox without sockets) is no error. */
bool rc_rank0_verify(struct rc_result *result, const struct rc_rank0 *hooks);

/* False where another program has the port. */
bool rc_rank0_hold(struct rc_result *result, const struct rc_rank0 *hooks, int *fd);

/* An address is another node's if no socket can be bound to it, port left open.
 * Whatever else may go wrong proves nothing. */
bool rc_netaddr_is_elsewhere(const struct rc_netaddr *address);

#endif
