/* SPDX-License-Identifier: BSD-3-Clause */
#include "connection.h"

#include <fcntl.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <unistd.h>

#include "system/descriptor.h"

enum { DESCRIPTORS = 1024 };

static bool was_open[DESCRIPTORS];

/* libpmix shuts its socket down before it closes it, which would end the connection for the copy as well. Nothing
 * else in this program calls it. */
__attribute__((visibility("default"))) int shutdown(int fd, int how)
{
    (void)fd, (void)how;
    return 0;
}

void pmix_connection_expect(void)
{
    for (int fd = 0; fd < DESCRIPTORS; fd++)
        was_open[fd] = fcntl(fd, F_GETFD) >= 0;
}

static bool is_connected(int fd)
{
    struct sockaddr_storage peer;
    socklen_t size = sizeof(peer);

    return getpeername(fd, (struct sockaddr *)&peer, &size) == 0 &&
           (peer.ss_family == AF_INET || peer.ss_family == AF_INET6);
}

int pmix_connection_copy(void)
{
    for (int fd = 0; fd < DESCRIPTORS; fd++)
        if (!was_open[fd] && is_connected(fd))
            return fcntl(fd, F_DUPFD_CLOEXEC, 0);
    return -1;
}

void pmix_connection_hand_over(int copy)
{
    if (copy >= 0)
        rc_descriptor_send(STDIN_FILENO, copy);
}
