/* SPDX-License-Identifier: BSD-3-Clause */
/* The wrapped functions are the linker's (--wrap, see fuzz.am). */
#include "hostile.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/text.h"
#include "rendezvous/wire.h"

enum { POLLS_MAX = 100000 };

static struct {
    struct rc_str rest;
    int far; /* the server's; -1: there is none */
    int64_t now;
    int64_t begin;
    unsigned polls;
} world = { .far = -1 };

int __wrap_poll(struct pollfd *list, nfds_t count, int timeout);
int __real_poll(struct pollfd *list, nfds_t count, int timeout);
int __wrap_socket(int domain, int type, int protocol);
int __wrap_connect(int fd, const struct sockaddr *address, socklen_t size);
int __wrap_clock_gettime(clockid_t clock, struct timespec *time);
int __real_clock_gettime(clockid_t clock, struct timespec *time);

int __wrap_clock_gettime(clockid_t clock, struct timespec *time)
{
    if (clock != CLOCK_MONOTONIC)
        return __real_clock_gettime(clock, time);
    *time = (struct timespec){ .tv_sec = world.now / 1000, .tv_nsec = world.now % 1000 * 1000000 };
    return 0;
}

static void close_far(void)
{
    if (world.far >= 0)
        close(world.far);
    world.far = -1;
}

int __wrap_socket(int domain, int type, int protocol)
{
    int pair[2];

    (void)domain;
    close_far();
    CHECK(socketpair(AF_UNIX, type, protocol, pair) == 0);
    world.far = pair[1];
    return pair[0];
}

int __wrap_connect(int fd, const struct sockaddr *address, socklen_t size)
{
    (void)fd;
    (void)address;
    (void)size;
    if (world.rest.n && (world.rest.p[0] == 'x' || world.rest.p[0] == 'l')) {
        errno = world.rest.p[0] == 'x' ? ECONNREFUSED : ECONNRESET;
        rc_str_split(world.rest, '\n', &world.rest);
        close_far();
        return -1;
    }
    return 0;
}

static void send_bytes(const char *bytes, size_t size)
{
    /* a client that does not read keeps them from it */
    if (world.far >= 0)
        (void)!send(world.far, bytes, size, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void send_message(struct rc_str text)
{
    size_t size;
    char *message = rc_wire_pack(HOSTILE_TOKEN, text, &size);

    CHECK(message != NULL);
    send_bytes(message, size);
    free(message);
}

static void do_deed(struct rc_str line)
{
    struct rc_str text = { line.p + (line.n > 2 ? 2 : line.n), line.n > 2 ? line.n - 2 : 0 };
    char *bytes = fuzz_copy_string(text);
    uint32_t number = 0;

    for (size_t i = 0; i < text.n; i++)
        if (bytes[i] == '|')
            bytes[i] = '\n';
    text.p = bytes;
    switch (line.n ? line.p[0] : 'c') {
    case 'm':
        send_message(text);
        break;
    case 'b':
        send_bytes(bytes, text.n);
        break;
    case 't':
        if (rc_parse_u32(text, 100000, &number))
            world.now += number;
        break;
    default:
        close_far();
    }
    free(bytes);
}

int __wrap_poll(struct pollfd *list, nfds_t count, int timeout)
{
    int ready = count ? __real_poll(list, count, 0) : 0;

    CHECK(++world.polls < POLLS_MAX);
    world.now++;
    while (count && ready == 0 && world.far >= 0) {
        do_deed(world.rest.p ? rc_str_split(world.rest, '\n', &world.rest) : RC_STR("c"));
        ready = __real_poll(list, count, 0);
    }
    if (ready == 0 && timeout > 0)
        world.now += timeout;
    return ready;
}

void hostile_begin(struct rc_str lines)
{
    world.rest = lines;
    world.now = world.begin = 1000;
    world.polls = 0;
}

int64_t hostile_end(void)
{
    close_far();
    return world.now - world.begin;
}
