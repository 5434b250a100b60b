/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "rendezvous/listen.h"

#include <errno.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "system/clock.h"

enum { BACKLOG = 4096 };

static int bind_any(int family, uint16_t port)
{
    struct sockaddr_in four = { .sin_family = AF_INET, .sin_port = htons(port) };
    struct sockaddr_in6 six = { .sin6_family = AF_INET6, .sin6_port = htons(port), .sin6_addr = in6addr_any };
    int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    int no = 0;
    int rc;

    if (fd < 0)
        return -errno;
    if (family == AF_INET6)
        rc = setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof(no)) < 0 ||
             bind(fd, (struct sockaddr *)&six, sizeof(six)) < 0;
    else
        rc = bind(fd, (struct sockaddr *)&four, sizeof(four)) < 0;
    if (!rc && listen(fd, BACKLOG) == 0)
        return fd;
    rc = -errno;
    close(fd);
    return rc;
}

static int bind_somehow(uint16_t port)
{
    int fd = bind_any(AF_INET6, port);

    return fd >= 0 || fd == -EADDRINUSE || fd == -EACCES ? fd : bind_any(AF_INET, port);
}

int rc_listen(uint16_t first, uint16_t last, uint16_t *port)
{
    struct sockaddr_in6 name;
    socklen_t size = sizeof(name);
    uint32_t span = (uint32_t)last - first + 1;
    uint32_t start = (uint32_t)rc_milliseconds() % span;
    int fd = -EADDRINUSE;

    /* many steps of one host share the range: not all of them begin at its beginning */
    for (uint32_t i = 0; fd == -EADDRINUSE && i < span; i++)
        fd = bind_somehow((uint16_t)(first + (start + i) % span));
    if (fd < 0)
        return fd;
    /* the port stands at the same place in both families' addresses */
    if (getsockname(fd, (struct sockaddr *)&name, &size) < 0) {
        int rc = -errno;

        close(fd);
        return rc;
    }
    *port = ntohs(name.sin6_port);
    return fd;
}
