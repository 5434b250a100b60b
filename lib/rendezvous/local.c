/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "rendezvous/local.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "system/node.h"

enum { PAUSE_FIRST_MS = 1, PAUSE_LAST_MS = 20 };

void rc_local_name(const char *scope, uint32_t node, char name[RC_LOCAL_NAME])
{
    struct rc_arena arena = { .base = name, .size = RC_LOCAL_NAME };

    rc_format(&arena, "rollcall/%u/%s/%u", (uint32_t)geteuid(), scope, node);
    if (!arena.full && !strchr(scope, ' '))
        return;
    arena = (struct rc_arena){ .base = name, .size = RC_LOCAL_NAME };
    rc_format(&arena, "rollcall/%u/%llu/%u", (uint32_t)geteuid(), (unsigned long long)rc_hash(scope, strlen(scope)),
              node);
}

const char *rc_local_endpoint(const char *name, struct rc_arena *arena)
{
    return rc_format(arena, RC_LOCAL_TOKEN " 1 @%s", name);
}

static socklen_t address_of(struct rc_str name, struct sockaddr_un *address)
{
    size_t most = sizeof(address->sun_path) - 1;
    size_t n = name.n < most ? name.n : most;

    memset(address, 0, sizeof(*address));
    address->sun_family = AF_UNIX;
    memcpy(address->sun_path + 1, name.p, n);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + n);
}

/* Open a socket and `use` (bind or connect) the name. */
static int open_socket(struct rc_str name, int (*use)(int fd, const struct sockaddr *address, socklen_t size))
{
    struct sockaddr_un address;
    socklen_t size = address_of(name, &address);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    int rc;

    if (fd >= 0 && use(fd, (struct sockaddr *)&address, size) == 0)
        return fd;
    rc = -errno;
    if (fd >= 0)
        close(fd);
    return rc;
}

int rc_local_listen(const char *name)
{
    int fd = open_socket(rc_str(name), bind);
    int rc;

    if (fd < 0 || listen(fd, SOMAXCONN) == 0)
        return fd;
    rc = -errno;
    close(fd);
    return rc;
}

int rc_local_connect(struct rc_str name)
{
    int fd = open_socket(name, connect);

    if (fd < 0 || rc_local_is_own_users(fd))
        return fd;
    close(fd);
    return -EPERM;
}

int rc_local_await(const char *name, int64_t deadline)
{
    for (int pause = PAUSE_FIRST_MS;; pause = 2 * pause < PAUSE_LAST_MS ? 2 * pause : PAUSE_LAST_MS) {
        int fd = rc_local_connect(rc_str(name));

        if (fd >= 0) {
            close(fd);
            return 0;
        }
        if (fd != -ECONNREFUSED && fd != -EAGAIN)
            return fd;
        if (rc_milliseconds() >= deadline)
            return -ETIMEDOUT;
        poll(NULL, 0, pause);
    }
}

const char *rc_local_error(int rc)
{
    return rc == -EPERM ? "another user's process has its name" : strerror(-rc);
}

bool rc_local_is_local(int fd)
{
    int domain = 0;
    socklen_t size = sizeof(domain);

    return getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &size) == 0 && domain == AF_UNIX;
}

bool rc_local_is_own_users(int fd)
{
    struct ucred peer;
    socklen_t size = sizeof(peer);

    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == geteuid();
}
