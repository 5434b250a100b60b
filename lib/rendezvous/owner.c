/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "rendezvous/owner.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "system/node.h"

enum { TICK_MS = 200 };

void rc_owner_leave(struct rc_owner *owner)
{
    if (owner->fd >= 0)
        close(owner->fd);
    owner->fd = -1;
}

void rc_owner_watch(struct rc_owner *owner, uint32_t pid)
{
    rc_owner_leave(owner);
    owner->pid = pid;
    owner->end = 0;
#ifdef SYS_pidfd_open
    owner->fd = (int)syscall(SYS_pidfd_open, (pid_t)pid, 0);
#endif
}

static bool is_there(const struct rc_owner *owner)
{
    struct pollfd ended = { .fd = owner->fd, .events = POLLIN };

    if (owner->fd >= 0)
        return poll(&ended, 1, 0) == 0;
    return kill((pid_t)owner->pid, 0) == 0 || errno == EPERM;
}

bool rc_owner_has_ended(struct rc_owner *owner)
{
    if (owner->pid && !owner->end && !is_there(owner))
        owner->end = rc_milliseconds() + owner->grace;
    return owner->end;
}

int64_t rc_owner_end(const struct rc_owner *owner)
{
    return owner->end ? owner->end : INT64_MAX;
}

int64_t rc_owner_due(const struct rc_owner *owner)
{
    if (owner->end || !owner->pid || owner->fd >= 0)
        return rc_owner_end(owner);
    return rc_milliseconds() + TICK_MS;
}
