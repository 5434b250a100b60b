/* SPDX-License-Identifier: BSD-3-Clause */
/* owner.h - the process with whose end a server ends. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Zero it but for `fd`, which is -1, and `grace` to begin: it has no owner then, and does not end. */
struct rc_owner {
    uint32_t pid;
    int fd;         /* of the process, if the kernel has such (5.3); or -1 */
    uint32_t grace; /* milliseconds after its end */
    int64_t end;    /* of the server; 0: the process is there */
};

void rc_owner_watch(struct rc_owner *owner, uint32_t pid);
void rc_owner_leave(struct rc_owner *owner);

bool rc_owner_has_ended(struct rc_owner *owner);

/* When the server ends; INT64_MAX: not yet known. */
int64_t rc_owner_end(const struct rc_owner *owner);

/* When to look at the process next; INT64_MAX: its descriptor reports its end. */
int64_t rc_owner_due(const struct rc_owner *owner);
