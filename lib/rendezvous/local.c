/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* struct ucred */
#include "config.h"

#include "rendezvous/local.h"

#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/hash.h"
#include "system/clock.h"

/* STRANGERS: how many connections of other users are closed at a time. Where more keep coming, the caller looks at
 * its clock and at those whom it has accepted in between. */
enum { PAUSE_FIRST_MS = 1, PAUSE_LAST_MS = 20, STRANGERS = 64 };

int rc_local_left(int64_t deadline)
{
    int64_t n = deadline - rc_milliseconds();

    return n < 0 ? 0 : n > 60000 ? 60000 : (int)n;
}

void rc_local_name(const char *scope, uint32_t node, char name[RC_LOCAL_NAME])
{
    struct rc_arena arena = { .base = name, .size = RC_LOCAL_NAME };

    rc_format(&arena, "rollcall/%u/%s/%u", (uint32_t)geteuid(), scope, node);
    if (!arena.full)
        return;
    arena = (struct rc_arena){ .base = name, .size = RC_LOCAL_NAME };
    rc_format(&arena, "rollcall/%u/%U/%u", (uint32_t)geteuid(), rc_hash(scope, strlen(scope)), node);
}

static socklen_t address_of(const char *name, struct sockaddr_un *address)
{
    size_t n = strlen(name);

    memset(address, 0, sizeof(*address));
    address->sun_family = AF_UNIX;
    if (n > sizeof(address->sun_path) - 1)
        n = sizeof(address->sun_path) - 1;
    memcpy(address->sun_path + 1, name, n);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + n);
}

static bool is_own_users(int fd)
{
    struct ucred peer;
    socklen_t size = sizeof(peer);

    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == geteuid();
}

static int open_socket(void)
{
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    return fd < 0 ? -errno : fd;
}

int rc_local_listen(const char *name)
{
    struct sockaddr_un address;
    socklen_t size = address_of(name, &address);
    int fd = open_socket();
    int rc;

    if (fd < 0)
        return fd;
    if (bind(fd, (struct sockaddr *)&address, size) == 0 && listen(fd, SOMAXCONN) == 0)
        return fd;
    rc = -errno;
    close(fd);
    return rc;
}

int rc_local_accept(int listener)
{
    for (int i = 0; i < STRANGERS; i++) {
        int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

        if (fd < 0 && (errno == EINTR || errno == ECONNABORTED))
            continue;
        if (fd < 0 || is_own_users(fd))
            return fd;
        close(fd);
    }
    return -1;
}

int rc_local_call(const char *name, struct rc_str message, int64_t deadline, char *text, size_t size)
{
    struct sockaddr_un address;
    socklen_t length = address_of(name, &address);
    int fd = open_socket();
    ssize_t n = 0;
    int rc = 0;

    if (fd < 0)
        return fd;
    if (connect(fd, (struct sockaddr *)&address, length) < 0)
        rc = -errno;
    else if (!is_own_users(fd))
        rc = -EPERM;
    else if (send(fd, message.p, message.n, MSG_NOSIGNAL) < 0)
        rc = -errno;
    while (rc == 0) {
        struct pollfd in = { .fd = fd, .events = POLLIN };
        int wait = rc_local_left(deadline);

        if (wait == 0)
            rc = -ETIMEDOUT;
        else if (poll(&in, 1, wait) > 0) {
            n = recv(fd, text, size - 1, 0);
            if (n > 0)
                break;
            if (n == 0)
                rc = -ECONNRESET;
            else if (errno != EAGAIN && errno != EINTR)
                rc = -errno;
        }
    }
    close(fd);
    if (rc == 0)
        text[n] = '\0';
    return rc < 0 ? rc : (int)n;
}

int rc_local_ask(const char *name, struct rc_str message, int64_t deadline, uint32_t patience, char *text, size_t size)
{
    for (int pause = PAUSE_FIRST_MS;; pause = 2 * pause < PAUSE_LAST_MS ? 2 * pause : PAUSE_LAST_MS) {
        int n = rc_local_call(name, message, deadline + patience, text, size);

        /* not there yet, or not for this process any more */
        if ((n != -ECONNREFUSED && n != -EAGAIN && n != -ECONNRESET) || rc_milliseconds() >= deadline)
            return n;
        poll(NULL, 0, pause);
    }
}
