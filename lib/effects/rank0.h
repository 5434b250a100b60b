/* SPDX-License-Identifier: BSD-3-Clause */
/* rank0.h - what RANK 0's process does for all: it checks that MASTER_ADDR is here, and holds the port.
 *
 * Freestanding with ROLLCALL_RAW_SYSCALLS, but for what the caller brings along.
 */
#pragma once

#include "resolve/resolve.h"

/* What differs between plugin, command and preload. */
struct rc_rank0 {
    struct rc_str node;  /* for messages; may be absent */
    const char *outcome; /* what an error ends in: "the command is not run" */
    /* Returns whether the name result->master.addr belongs to another node. */
    bool (*is_elsewhere)(const struct rc_result *result);
    /* Writes which process has a port (net.h); NULL where that cannot be found out. */
    void (*name_owner)(uint16_t port, char *text, size_t size);
};

/* Both do what result->master asks this process for; false, with an error in result->messages, where that fails.
 *
 * Checks that MASTER_ADDR is this node. It is no error if that cannot be found out (a sandbox without sockets). */
bool rc_rank0_verify(struct rc_result *result, const struct rc_rank0 *hooks);

/* Raise the soft limit of open files to what RANK 0's process needs: one for each rank, for torch's store, and 512 for
 * the rest, or as many of them as the hard limit allows. Add RC426 if that is below the number of ranks. Return the
 * limit; 0 in any other process, and if the number of ranks is unknown. Call it once, before the program starts. */
uint32_t rc_rank0_raise_limit(struct rc_result *result);

/* Holds the port, which no other program may have. *fd is the descriptor, open across exec, or -1. */
bool rc_rank0_hold(struct rc_result *result, const struct rc_rank0 *hooks, int *fd);
