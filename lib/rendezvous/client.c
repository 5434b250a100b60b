/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "rendezvous/client.h"

#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/text.h"
#include "system/node.h"

/* A lost packet is sent again after 1 s, so longer is of no use. A server that refuses has ended, or is refusing for a
 * moment because too many connect at once. */
enum { ROUND_MS = 1000, REFUSALS_MAX = 10, PAUSE_MS = 20, HOST_SIZE = 256, TRIES_MAX = 2 * RC_CLIENT_HOSTS_MAX };

struct attempt {
    int64_t deadline;
    unsigned refusals;
    bool by_name; /* hosts that are names are tried, too */
};

/* Connections to the addresses of one host. poll passes over those that have failed, whose descriptor is -1. */
struct race {
    struct pollfd tries[TRIES_MAX];
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

static void begin_try(struct race *race, const struct addrinfo *address)
{
    nfds_t i = race->count++;
    int fd = socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    race->tries[i] = (struct pollfd){ .fd = fd, .events = POLLOUT };
    race->pending++;
    if (fd < 0 || (connect(fd, address->ai_addr, address->ai_addrlen) < 0 && errno != EINPROGRESS))
        drop_try(race, i, errno);
}

/* Wait until one of them is connected, all have failed, or the time has come. Return the descriptor, or -1. A deadline
 * moves by the time for which this process was suspended. */
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
    return -1;
}

static struct addrinfo *find_addresses(struct rc_str host, uint16_t port, bool by_name)
{
    const struct addrinfo hints = {
        .ai_family = AF_UNSPEC,
        .ai_socktype = SOCK_STREAM,
        .ai_flags = AI_NUMERICSERV | (by_name ? 0 : AI_NUMERICHOST),
    };
    struct addrinfo *addresses;
    char name[HOST_SIZE];
    char service[8];

    if (host.n == 0 || host.n >= sizeof(name))
        return NULL;
    memcpy(name, host.p, host.n);
    name[host.n] = '\0';
    snprintf(service, sizeof(service), "%u", (unsigned)port);
    return getaddrinfo(name, service, &hints, &addresses) == 0 ? addresses : NULL;
}

/* One round, in the order of the hosts. */
static int try_hosts(struct race *race, struct rc_str hosts, uint16_t port, bool by_name, int64_t *deadline)
{
    int fd = -1;

    for (int i = 0; fd < 0 && hosts.p && i < RC_CLIENT_HOSTS_MAX; i++) {
        struct addrinfo *addresses = find_addresses(rc_str_split(hosts, ' ', &hosts), port, by_name);

        for (const struct addrinfo *a = addresses; a && fd < 0 && race->count < TRIES_MAX; a = a->ai_next) {
            begin_try(race, a);
            fd = await_winner(race, RC_CLIENT_STAGGER_MS, deadline);
        }
        if (addresses)
            freeaddrinfo(addresses);
    }
    if (fd < 0)
        fd = await_winner(race, ROUND_MS, deadline);
    for (nfds_t i = 0; i < race->count; i++)
        if (race->tries[i].fd >= 0)
            close(race->tries[i].fd);
    return fd;
}

static int reach_server(struct attempt *attempt, struct rc_str hosts, uint16_t port)
{
    /* the first round tries addresses alone: a name may take as long as the resolver does */
    for (bool by_name = false;; by_name = attempt->by_name) {
        struct race race = { .count = 0 };
        int fd = try_hosts(&race, hosts, port, by_name, &attempt->deadline);

        if (fd >= 0)
            return fd;
        if (rc_milliseconds() >= attempt->deadline)
            return -ETIMEDOUT;
        if (race.refused && ++attempt->refusals >= REFUSALS_MAX)
            return -ECONNREFUSED;
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
    struct rc_wire wire = { .limit = RC_WIRE_ROLL_MAX };
    enum rc_wire_state state;
    int rc = 0;

    while ((state = rc_wire_read(&wire, fd, token)) == RC_WIRE_MORE && (rc = rc_wire_wait(fd, POLLIN, deadline)) == 0)
        continue;
    if (state == RC_WIRE_WHOLE) {
        *reply = (struct rc_reply){ wire.body, wire.used };
        return 0;
    }
    rc_wire_free(&wire);
    return state == RC_WIRE_WRONG ? -EPROTO : rc;
}

/* One connection. */
static int visit_server(const struct rc_endpoint *server, struct rc_str text, struct attempt *attempt, int64_t deadline,
                        struct rc_reply *reply, struct rc_client_part *part)
{
    const char *token = server->token.p;
    int64_t before = rc_milliseconds();
    int64_t reach = attempt->deadline - before;
    size_t size;
    char *message = rc_wire_pack(token, text, &size);
    int fd;
    int rc;

    if (!message)
        return -ENOMEM;
    fd = reach_server(attempt, server->hosts, server->port);
    if (fd >= 0 && part && part->begins && !part->heard)
        part->begins();
    /* the server needs its time, also if this process was suspended before it sent anything */
    deadline = rc_deadline_resume(deadline, before, reach);
    rc = fd < 0 ? fd : send_all(fd, message, size, deadline);
    if (part)
        part->heard |= rc == 0;
    if (rc == 0)
        rc = receive_reply(fd, token, deadline, reply);
    if (fd >= 0)
        close(fd);
    free(message);
    return rc;
}

/* Between half of the time and all of it, so that those who were sent away together do not
 * come back together. */
static void pause_between(uint32_t milliseconds, int64_t deadline)
{
    int left = rc_milliseconds_left(deadline);
    struct timespec now;
    int pause;

    clock_gettime(CLOCK_MONOTONIC, &now);
    pause = (int)(milliseconds / 2 + (now.tv_nsec / 1000 + getpid()) % (milliseconds / 2));
    poll(NULL, 0, pause < left ? pause : left);
}

int rc_client_request(const struct rc_endpoint *server, struct rc_str text, uint32_t milliseconds,
                      struct rc_reply *reply, struct rc_client_part *part)
{
    bool asks_store = rc_store_is_question(text);
    uint32_t longest = asks_store ? RC_CLIENT_AGAIN_TASK_MAX_MS : RC_CLIENT_AGAIN_NODE_MAX_MS;
    uint32_t pause = asks_store ? RC_CLIENT_AGAIN_TASK_MS : RC_CLIENT_AGAIN_NODE_MS;
    int64_t deadline = rc_milliseconds() + milliseconds;
    /* connecting may take half of the time: the reply needs some, too */
    struct attempt attempt = {
        .deadline = rc_milliseconds() + (part && part->reach ? part->reach : milliseconds / 2),
        .by_name = part && part->by_name,
    };
    struct rc_reply received;
    int rc;

    if (part)
        part->heard = false;
    for (;; pause = 2 * pause < longest ? 2 * pause : longest) {
        rc = visit_server(server, text, &attempt, deadline, &received, part);
        if (rc < 0 || !rc_str_is((struct rc_str){ received.text, received.size }, RC_SERVER_AGAIN))
            break;
        free(received.text);
        pause_between(pause, deadline);
        if (!asks_store)
            text = RC_STR(RC_SERVER_ANSWER);
        attempt.deadline = deadline;
        attempt.refusals = 0;
    }
    if (rc == 0)
        *reply = received;
    return rc;
}

/* Its reply, to be freed; and what the reply says: a number and perhaps a value,
 * a slice of it. */
struct answer {
    struct rc_reply reply;
    uint64_t number;
    struct rc_str value;
};

static int read_reply(struct answer *answer)
{
    struct rc_str line = rc_str_split((struct rc_str){ answer->reply.text, answer->reply.size }, '\n', &answer->value);
    struct rc_str begin = rc_str_split(line, ' ', &line);

    if (rc_str_is(begin, "store") && rc_str_is(line, "full"))
        return -ENOSPC;
    return rc_str_is(begin, "store") && answer->value.p && rc_parse_u64(line, UINT64_MAX, &answer->number) ? 0
                                                                                                           : -EPROTO;
}

static int ask_store(const struct rc_endpoint *server, const char *what, const char *key, struct rc_str value,
                     uint32_t milliseconds, struct answer *answer)
{
    char text[sizeof("store count \n") + RC_STORE_KEY_MAX + RC_STORE_VALUE_MAX];
    int head;
    int rc;

    *answer = (struct answer){ .number = 0 };
    if (!rc_store_is_key(rc_str(key)) || value.n > RC_STORE_VALUE_MAX)
        return -EINVAL;
    head = snprintf(text, sizeof(text), "store %s %s\n", what, key);
    if (value.n)
        memcpy(text + head, value.p, value.n);
    rc = rc_client_request(server, (struct rc_str){ text, (size_t)head + value.n }, milliseconds, &answer->reply, NULL);
    return rc < 0 ? rc : read_reply(answer);
}

static void copy_value(const struct answer *answer, void *value, size_t room, size_t *size)
{
    if (answer->value.n && room)
        memcpy(value, answer->value.p, answer->value.n < room ? answer->value.n : room);
    *size = answer->value.n;
}

int rc_store_client_put(const struct rc_endpoint *server, const char *key, struct rc_str value, uint32_t milliseconds,
                        void *standing, size_t room, size_t *standing_size)
{
    struct answer answer;
    int rc = ask_store(server, "put", key, value, milliseconds, &answer);

    if (rc == 0 && answer.number == 0 && standing)
        copy_value(&answer, standing, room, standing_size);
    free(answer.reply.text);
    return rc < 0 ? rc : answer.number != 0;
}

int rc_store_client_get(const struct rc_endpoint *server, const char *key, uint32_t milliseconds, void *value,
                        size_t room, size_t *size)
{
    struct answer answer;
    int rc = ask_store(server, "get", key, RC_ABSENT, milliseconds, &answer);

    if (rc == 0)
        copy_value(&answer, value, room, size);
    free(answer.reply.text);
    return rc;
}

int rc_store_client_count(const struct rc_endpoint *server, const char *key, uint32_t milliseconds, uint64_t *before)
{
    struct answer answer;
    int rc = ask_store(server, "count", key, RC_ABSENT, milliseconds, &answer);

    if (rc == 0)
        *before = answer.number;
    free(answer.reply.text);
    return rc;
}
