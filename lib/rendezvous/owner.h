/* SPDX-License-Identifier: BSD-3-Clause */
/* owner.h - the process with whose end a server ends. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Zero it except `fd` (-1) and `grace`. */
struct rc_owner {
    uint32_t pid;
    int fd;         /* pidfd, since Linux 5.3; or -1 */
    uint32_t grace; /* milliseconds after the owner's end */
    int64_t end;    /* of the server; 0: the owner runs */
};

void rc_owner_watch(struct rc_owner *owner, uint32_t pid);
void rc_owner_leave(struct rc_owner *owner);

bool rc_owner_has_ended(struct rc_owner *owner);

/* Return when the server ends; INT64_MAX: unknown. */
int64_t rc_owner_end(const struct rc_owner *owner);

/* Return when to check the owner next; INT64_MAX: the pidfd reports it. */
int64_t rc_owner_due(const struct rc_owner *owner);
