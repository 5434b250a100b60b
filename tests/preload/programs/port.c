/* SPDX-License-Identifier: BSD-3-Clause */
/* port.c - who may have MASTER_PORT: a stranger may not while it is held, a store that shares may.
 *
 *   port    prints "held" or "free", then "listening" or why not
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static int bound(int share, uint16_t port)
{
    struct sockaddr_in any = { .sin_family = AF_INET, .sin_port = htons(port) };
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    if (share && setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &share, sizeof(share)))
        return -1;
    return bind(fd, (struct sockaddr *)&any, sizeof(any)) ? -1 : fd;
}

int main(void)
{
    const char *text = getenv("MASTER_PORT");
    uint16_t port = (uint16_t)(text ? atoi(text) : 0);
    int fd;

    if (!port)
        return 1;
    fd = bound(0, port);
    puts(fd < 0 && errno == EADDRINUSE ? "held" : "free");
    close(fd);
    fd = bound(1, port);
    puts(fd >= 0 && listen(fd, 1) == 0 ? "listening" : strerror(errno));
    return 0;
}
