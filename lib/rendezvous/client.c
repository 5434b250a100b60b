/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "rendezvous/client.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/text.h"
#include "rendezvous/local.h"
#include "system/node.h"
#include "system/port.h"

/* TCP retransmits after 1 s, so longer rounds are useless. A server that refuses has ended, or is overloaded. */
enum { ROUND_MS = 1000, REFUSALS_MAX = 10, PAUSE_MS = 20 };

/* Failed connections have descriptor -1, which poll ignores. */
struct race {
    struct pollfd tries[RC_CLIENT_HOSTS_MAX];
    nfds_t count;
    nfds_t pending;
    bool refused;
};

static void drop_try(struct race *race, nfds_t i, int error)
{
    if (race->tries[i].fd >= 0)
        close(race->tries[i].fd);
    race->tries[i].fd = -1;
    race->pending--;
    race->refused |= error == ECONNREFUSED;
}

static void begin_try(struct race *race, const struct rc_netaddr *address, uint16_t port)
{
    union rc_socket_name name;
    socklen_t size = rc_socket_name(&name, address, port);
    nfds_t i = race->count++;
    int fd = socket(name.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    race->tries[i] = (struct pollfd){ .fd = fd, .events = POLLOUT };
    race->pending++;
    if (fd < 0 || (connect(fd, &name.any, size) < 0 && errno != EINPROGRESS))
        drop_try(race, i, errno);
}

/* Return the first connected descriptor, or -EAGAIN. Extend the deadline by the time of a suspension. */
static int await_winner(struct race *race, int milliseconds, int64_t *deadline)
{
    int64_t until = rc_milliseconds() + milliseconds;

    while (race->pending > 0) {
        int left = rc_milliseconds_left(until < *deadline ? until : *deadline);
        int64_t before = rc_milliseconds();

        poll(race->tries, race->count, left);
        *deadline = rc_deadline_resume(*deadline, before, left);
        for (nfds_t i = 0; i < race->count; i++) {
            int error = 0;
            socklen_t size = sizeof(error);
            int fd = race->tries[i].fd;

            if (fd < 0 || !race->tries[i].revents)
                continue;
            if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) == 0 && !error) {
                race->tries[i].fd = -1;
                return fd;
            }
            drop_try(race, i, error);
        }
        if (rc_milliseconds() >= until || rc_milliseconds() >= *deadline)
            break;
    }
    return -EAGAIN;
}

/* Try each host once. Return a descriptor, -ECONNREFUSED if any refused, or -EAGAIN. */
static int try_hosts(struct rc_str hosts, uint16_t port, int64_t *deadline)
{
    struct race race = { .count = 0 };
    int fd = -EAGAIN;

    for (int i = 0; fd < 0 && hosts.p && i < RC_CLIENT_HOSTS_MAX; i++) {
        struct rc_netaddr address;

        if (!rc_netaddr_read(rc_str_split(hosts, ' ', &hosts), &address))
            continue;
        begin_try(&race, &address, port);
        fd = await_winner(&race, RC_CLIENT_STAGGER_MS, deadline);
    }
    if (fd < 0)
        fd = await_winner(&race, ROUND_MS, deadline);
    for (nfds_t i = 0; i < race.count; i++)
        if (race.tries[i].fd >= 0)
            close(race.tries[i].fd);
    return fd < 0 && race.refused ? -ECONNREFUSED : fd;
}

static int reach_server(struct rc_str hosts, uint16_t port, int64_t deadline)
{
    unsigned refusals = 0;

    for (;;) {
        int fd = hosts.p[0] == RC_LOCAL_HOST ? rc_local_connect((struct rc_str){ hosts.p + 1, hosts.n - 1 })
                                             : try_hosts(hosts, port, &deadline);

        if (fd != -EAGAIN && fd != -ECONNREFUSED)
            return fd;
        if (rc_milliseconds() >= deadline)
            return -ETIMEDOUT;
        if (fd == -ECONNREFUSED && ++refusals >= REFUSALS_MAX)
            return fd;
        poll(NULL, 0, PAUSE_MS);
    }
}

static int send_all(int fd, const char *message, size_t size, int64_t deadline)
{
    while (size > 0) {
        ssize_t n = send(fd, message, size, MSG_NOSIGNAL | MSG_DONTWAIT);
        int rc = 0;

        if (n >= 0) {
            message += n;
            size -= (size_t)n;
        } else if (errno == EAGAIN) {
            rc = rc_wire_wait(fd, POLLOUT, deadline);
        } else if (errno != EINTR) {
            rc = -errno;
        }
        if (rc < 0)
            return rc;
    }
    return 0;
}

static int receive_reply(int fd, const char *token, int64_t deadline, struct rc_reply *reply)
{
    struct rc_wire wire = { .limit = RC_WIRE_REPLY_MAX };
    enum rc_wire_state state;
    int rc = 0;

    while ((state = rc_wire_read(&wire, fd, token)) == RC_WIRE_MORE && (rc = rc_wire_wait(fd, POLLIN, deadline)) == 0)
        continue;
    if (state == RC_WIRE_WHOLE && wire.is_foreign) {
        rc_wire_free(&wire);
        return -EPROTONOSUPPORT;
    }
    if (state == RC_WIRE_WHOLE) {
        *reply = (struct rc_reply){ wire.body, wire.used };
        return 0;
    }
    rc_wire_free(&wire);
    return state == RC_WIRE_WRONG ? -EPROTO : rc;
}

static int visit_server(const struct rc_endpoint *server, const char *message, size_t size, uint32_t milliseconds,
                        struct rc_reply *reply, struct rc_client_part *part)
{
    int64_t before = rc_milliseconds();
    /* leave half of the time for the reply */
    int64_t reach = part && part->reach ? part->reach : milliseconds / 2;
    int fd = reach_server(server->hosts, server->port, before + reach);
    /* the server needs its time even if this process was suspended */
    int64_t deadline = rc_deadline_resume(before + milliseconds, before, reach);
    int rc = fd;

    if (fd >= 0)
        rc = send_all(fd, message, size, deadline);
    if (part)
        part->heard = rc == 0;
    if (rc == 0)
        rc = receive_reply(fd, server->token.p, deadline, reply);
    if (fd >= 0)
        close(fd);
    return rc;
}

int rc_client_request(const struct rc_endpoint *server, struct rc_str text, uint32_t milliseconds,
                      struct rc_reply *reply, struct rc_client_part *part)
{
    size_t size;
    char *message = rc_wire_pack(server->token.p, text, &size);
    struct rc_reply received;
    int rc = -ENOMEM;

    if (part)
        part->heard = false;
    if (message)
        rc = visit_server(server, message, size, milliseconds, &received, part);
    free(message);
    if (rc == 0 && rc_str_is((struct rc_str){ received.text, received.size }, RC_SERVER_REFUSED)) {
        free(received.text);
        return -EPROTONOSUPPORT;
    }
    if (rc == 0)
        *reply = received;
    return rc;
}

int rc_client_tell(const struct rc_endpoint *server, struct rc_str text, uint32_t milliseconds)
{
    struct rc_reply reply;
    int rc = rc_client_request(server, text, milliseconds, &reply, NULL);

    if (rc < 0)
        return rc;
    free(reply.text);
    return reply.size ? -EPROTO : 0;
}

int rc_client_gather(const struct rc_endpoint *server, const struct rc_gather_request *request, uint32_t milliseconds,
                     struct rc_reply *reply, struct rc_client_part *part)
{
    size_t size = RC_GATHER_HEAD_MAX + request->value.n;
    char *text = malloc(size);
    struct rc_arena arena = { .base = text, .size = RC_GATHER_HEAD_MAX };
    int rc;

    if (!text)
        return -ENOMEM;
    rc_gather_request_write(request, &arena);
    rc_join(&arena);
    if (request->value.n)
        memcpy(text + arena.used, request->value.p, request->value.n);
    rc = rc_client_request(server, (struct rc_str){ text, arena.used + request->value.n }, milliseconds, reply, part);
    free(text);
    return rc;
}

bool rc_client_has_ended(int rc)
{
    return rc == -ECONNREFUSED || rc == -ECONNRESET || rc == -EPIPE || rc == -EPROTO;
}

int rc_client_self(char who[RC_CLIENT_SELF])
{
    return rc_wire_new_token(who);
}

int rc_client_claim(const struct rc_endpoint *server, const char *name, struct rc_str who, uint32_t milliseconds)
{
    const struct rc_gather_request request = { .name = rc_str(name), .of = 1, .each = 1, .most = 1, .value = who };
    struct rc_gathered gathered;
    struct rc_reply reply;
    struct rc_str value = RC_ABSENT;
    uint32_t member;
    int rc = rc_client_gather(server, &request, milliseconds, &reply, NULL);

    if (rc < 0)
        return rc;
    rc = rc_gathered_read((struct rc_str){ reply.text, reply.size }, &gathered);
    if (rc == 0)
        rc = rc_gathered_next(&gathered.list, &member, &value) ? rc_str_eq(value, who) : -EPROTO;
    free(reply.text);
    return rc;
}

int rc_client_number(const struct rc_endpoint *server, const char *name, struct rc_str who, uint32_t milliseconds,
                     uint64_t *number)
{
    int64_t deadline = rc_milliseconds() + milliseconds;

    for (*number = 0;; ++*number) {
        char text[RC_GATHER_NAME_MAX + 1];
        struct rc_arena arena = { .base = text, .size = sizeof(text) };
        int rc = rc_client_claim(server, rc_format(&arena, "%s/%llu", name, (unsigned long long)*number), who,
                                 rc_milliseconds_of_request(deadline));

        if (rc != 0)
            return rc < 0 ? rc : 0;
    }
}
