/* SPDX-License-Identifier: BSD-3-Clause */
#include "reachability.h"

#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "resolve/resolve.h"
#include "system/net.h"
#include "system/node.h"

enum { PROBE_MS = 5000 /* for all connections to one name */ };

/* Whether the connection is decided before the deadline. */
static bool await_connection(int fd, int64_t deadline)
{
    struct pollfd one = { .fd = fd, .events = POLLOUT };
    int64_t left = deadline - rc_milliseconds();
    int n;

    do
        n = poll(&one, 1, left < 0 ? 0 : (int)left);
    while (n < 0 && errno == EINTR);
    return n == 1;
}

static int connect_to(int fd, const struct rc_netaddr *address, uint16_t port, int64_t deadline)
{
    struct sockaddr_in6 six = { .sin6_family = AF_INET6, .sin6_port = htons(port) };
    struct sockaddr_in four = { .sin_family = AF_INET, .sin_port = htons(port) };
    bool is_four = address->size == RC_IPV4_BYTES;
    socklen_t size = sizeof(int);
    int error = 0;

    memcpy(is_four ? (void *)&four.sin_addr : (void *)&six.sin6_addr, address->byte, address->size);
    if (connect(fd, is_four ? (void *)&four : (void *)&six, is_four ? sizeof(four) : sizeof(six)) < 0)
        error = errno;
    if (error != EINPROGRESS)
        return error;
    if (!await_connection(fd, deadline))
        return ETIMEDOUT;
    return getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) < 0 ? errno : error;
}

/* Returns 0 or an errno. A port that is held, and not listened on, refuses: that is 0, too. */
static int probe(const struct rc_netaddr *address, uint16_t port, int64_t deadline)
{
    int family = address->size == RC_IPV4_BYTES ? AF_INET : AF_INET6;
    int fd = socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    int error;

    if (fd < 0)
        return 0;
    error = connect_to(fd, address, port, deadline);
    close(fd);
    return error == ECONNREFUSED ? 0 : error;
}

/* One address that answers is enough, as it is for torch. A finding names the first one. */
static void probe_master(struct findings *findings, const struct rc_master *where)
{
    struct rc_addresses addresses = { .count = 0 };
    int64_t deadline = rc_milliseconds() + PROBE_MS;
    char text[RC_NETADDR_TEXT];
    int first = 0;

    if (rc_resolver_ask(where->addr, &addresses) != 0 || addresses.count == 0)
        return;
    for (unsigned i = 0; i < addresses.count; i++) {
        int error = probe(&addresses.list[i], where->port, deadline);

        if (error == 0)
            return;
        first = first ? first : error;
    }
    doctor_findings_add(findings, FINDING_D207, NULL, 0, NULL, "%s port %u (%s) cannot be reached from here: %s",
                        where->addr, (unsigned)where->port, rc_netaddr_text(&addresses.list[0], text), strerror(first));
}

void doctor_reachability(struct findings *findings, const struct rc_result *result)
{
    const struct rc_master *where = &result->master;
    uint32_t nodes = rc_identity_guess_nodes(result);
    uint32_t local = result->identity.field[RC_LOCAL_RANK];
    bool is_first = local == 0 || local == RC_UNKNOWN;

    if (getenv(RC_STAMP) && where->addr && where->port && nodes != RC_UNKNOWN && nodes > 1 && is_first &&
        !(where->todo & RC_MASTER_HOLD))
        probe_master(findings, where);
}
