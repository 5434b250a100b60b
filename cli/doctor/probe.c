/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* accept4 */
#include "probe.h"

#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "system/clock.h"

enum { BACKLOG = 4096, CONNECTIONS = 128, LONGEST_SECONDS = 60 };

/* Whether one of these events comes before the deadline. */
static bool await_events(int fd, short events, int64_t deadline)
{
    struct pollfd one = { .fd = fd, .events = events };
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
    if (!await_events(fd, POLLOUT, deadline))
        return ETIMEDOUT;
    return getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) < 0 ? errno : error;
}

static int receive_token(int fd, const char *token, int64_t deadline)
{
    char text[RC_WIRE_TOKEN];
    size_t used = 0;

    while (used < sizeof(text)) {
        ssize_t n = await_events(fd, POLLIN, deadline) ? recv(fd, text + used, sizeof(text) - used, 0) : -1;

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return EBADMSG;
        used += (size_t)n;
    }
    return memcmp(text, token, sizeof(text)) == 0 ? 0 : EBADMSG;
}

int doctor_probe(const struct rc_netaddr *address, uint16_t port, const char *token, int64_t deadline)
{
    int family = address->size == RC_IPV4_BYTES ? AF_INET : AF_INET6;
    int fd = socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    int error;

    if (fd < 0)
        return token ? errno : 0;
    error = connect_to(fd, address, port, deadline);
    if (error == 0 && token)
        error = receive_token(fd, token, deadline);
    close(fd);
    return error == ECONNREFUSED && !token ? 0 : error;
}

/* Listens as torch's store does, beside the socket that holds the port. */
static int open_port(int family, uint16_t port)
{
    struct sockaddr_in four = { .sin_family = AF_INET, .sin_port = htons(port) };
    struct sockaddr_in6 six = { .sin6_family = AF_INET6, .sin6_port = htons(port), .sin6_addr = in6addr_any };
    int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int yes = 1;
    int no = 0;

    if (fd < 0)
        return -1;
    if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes)) == 0 &&
        (family == AF_INET ? bind(fd, (struct sockaddr *)&four, sizeof(four)) == 0
                           : setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof(no)) == 0 &&
                                 bind(fd, (struct sockaddr *)&six, sizeof(six)) == 0) &&
        listen(fd, BACKLOG) == 0)
        return fd;
    close(fd);
    return -1;
}

/* The side that closes a connection first keeps its port in TIME_WAIT. So this one
 * closes none, until there are many. */
static void serve_connections(int fd, const char *token)
{
    int connections[CONNECTIONS];

    for (unsigned n = 0;; n++) {
        int connection = accept4(fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

        if (n >= CONNECTIONS)
            close(connections[n % CONNECTIONS]);
        connections[n % CONNECTIONS] = connection;
        if (connection < 0 && errno != EINTR && errno != ECONNABORTED)
            return;
        if (connection >= 0)
            send(connection, token, RC_WIRE_TOKEN, MSG_NOSIGNAL);
    }
}

pid_t doctor_listener_start(uint16_t port, const char token[RC_WIRE_TOKEN + 1])
{
    pid_t parent = getpid();
    int fd = open_port(AF_INET6, port);
    pid_t child;

    if (fd < 0)
        fd = open_port(AF_INET, port);
    if (fd < 0)
        return -1;
    child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        signal(SIGALRM, SIG_DFL);
        alarm(LONGEST_SECONDS);
        if (getppid() == parent)
            serve_connections(fd, token);
        _exit(0);
    }
    close(fd);
    return child;
}

void doctor_listener_stop(pid_t child)
{
    kill(child, SIGKILL);
    while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
        continue;
}
