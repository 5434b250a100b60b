/* SPDX-License-Identifier: BSD-3-Clause */
/* rank0.h - RANK 0's process verifies MASTER_ADDR, holds the port and raises a limit. Freestanding with
 * ROLLCALL_RAW_SYSCALLS, apart from the hooks. */
#pragma once

#include "resolve/resolve.h"

/* The plugin's, the command's or the preload library's part. */
struct rc_rank0 {
    struct rc_str node;  /* for messages; may be unset */
    const char *outcome; /* of an error: "the command is not run" */
    /* Return true if the name result->master.addr belongs to another node. */
    bool (*is_elsewhere)(const struct rc_result *result);
    /* Write which process has a port (net.h). NULL: it cannot be found out. */
    void (*name_owner)(uint16_t port, char *text, size_t size);
};

/* If result->master requires it of this process, check that MASTER_ADDR is this node. Return false with an error in
 * result->messages if it is not; true if that cannot be found out (a sandbox without sockets). */
bool rc_rank0_verify(struct rc_result *result, const struct rc_rank0 *hooks);

/* In RANK 0's process raise the soft limit of open files to one for each rank (torch's store) and 512, within the hard
 * limit. Add RC426 if that is below the ranks. Return the limit; 0 elsewhere, and if the ranks are unknown. */
uint32_t rc_rank0_raise_limit(struct rc_result *result);

/* If result->master requires it of this process, hold the port. *fd is the descriptor, open across exec, or -1. Return
 * false with an error in result->messages if another program has the port. */
bool rc_rank0_hold(struct rc_result *result, const struct rc_rank0 *hooks, int *fd);
