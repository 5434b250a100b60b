/* SPDX-License-Identifier: BSD-3-Clause */
/* fuzz_client - the client of the rendezvous against a server that does whatever the input says: no network, and a
 * clock of its own.
 *
 * An input is "KIND MILLISECONDS\n" and the server's lines. KIND is entry, gather, claim or number. Each line is done
 * when the client waits for a connection or for bytes; in a text | stands for a newline:
 *   m TEXT   a whole message with the token      b TEXT   these very bytes
 *   c        closes                              t N      N milliseconds pass
 *   x        the connection is refused           l        it is reset as it begins
 * After the last line the connection is closed. A client that goes on all the same makes the time pass. The client must
 * come back in its time, with a reply or an error, and leave nothing open. The wrapped functions are the linker's
 * (--wrap, see fuzz.am).
 */
#include "fuzz.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/text.h"
#include "rendezvous/client.h"
#include "rendezvous/wire.h"

#define TOKEN "0123456789abcdef0123456789abcdef"

/* Of a connection that is tried, an address that does not answer may cost more. */
enum { POLLS_MAX = 100000, MARGIN_MS = 3000, BEGIN_MS = 1000 };

static struct {
    struct rc_str rest;
    int far; /* the server's; -1: there is none */
    int64_t now;
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
    char *message = rc_wire_pack(TOKEN, text, &size);

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

static int send_entry(const struct rc_endpoint *server, uint32_t milliseconds)
{
    struct rc_reply reply = { .text = NULL };
    struct rc_client_part part = { .heard = false };
    int rc = rc_client_request(server, RC_STR("roll=1\n"), milliseconds, &reply, &part);

    if (rc == 0) {
        CHECK(reply.text && reply.text[reply.size] == '\0' && part.heard);
        free(reply.text);
    }
    return rc;
}

static int send_gather(const struct rc_endpoint *server, uint32_t milliseconds)
{
    const struct rc_gather_request request = { .name = RC_STR("x"), .of = 2, .each = 1000, .most = 1000 };
    struct rc_reply reply;
    struct rc_gathered gathered;
    struct rc_str value;
    uint32_t member;
    int rc = rc_client_gather(server, &request, milliseconds, &reply, NULL);

    if (rc < 0)
        return rc;
    rc = rc_gathered_read((struct rc_str){ reply.text, reply.size }, &gathered);
    while (rc == 0 && rc_gathered_next(&gathered.list, &member, &value))
        CHECK(fuzz_is_within(value, (struct rc_str){ reply.text, reply.size }));
    free(reply.text);
    return rc;
}

static int send_kind(struct rc_str kind, const struct rc_endpoint *server, uint32_t milliseconds)
{
    uint64_t number;

    if (rc_str_is(kind, "entry"))
        return send_entry(server, milliseconds);
    if (rc_str_is(kind, "gather"))
        return send_gather(server, milliseconds);
    if (rc_str_is(kind, "claim"))
        return rc_client_claim(server, "x", RC_STR("me"), milliseconds);
    return rc_client_number(server, "x", RC_STR("me"), milliseconds, &number);
}

void fuzz_one(struct rc_str input)
{
    struct rc_endpoint server = { RC_STR(TOKEN), 4711, RC_STR("127.0.0.1") };
    int before = fuzz_free_descriptor();
    struct rc_str lines, rest;
    struct rc_str kind = rc_str_split(rc_str_split(input, '\n', &lines), ' ', &rest);
    uint32_t milliseconds = 1000;
    int rc;

    (void)rc_parse_u32(rest, 60000, &milliseconds);
    world.rest = lines;
    world.now = BEGIN_MS;
    world.polls = 0;
    rc = send_kind(kind, &server, milliseconds);
    CHECK(rc <= 1);
    close_far();
    /* the server's own lines may make more time pass than the client has */
    CHECK(world.now - BEGIN_MS <= milliseconds + MARGIN_MS || lines.n > 0);
    CHECK(fuzz_free_descriptor() == before);
}
