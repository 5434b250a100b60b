/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "rendezvous/connections.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "rendezvous/local.h"
#include "system/node.h"

/* At most WELCOMES accepts per round, to read open connections in between. */
enum { EVENTS = 64, WELCOMES = 64, MOST_AT_END = 4096, DEAF_MS = 100 };

/* operation: EPOLL_CTL_ADD or EPOLL_CTL_MOD. Return 0 or -errno. */
static int watch(const struct rc_connections *connections, int operation, int fd, uint32_t events, void *whom)
{
    struct epoll_event event = { .events = events, .data.ptr = whom };

    return epoll_ctl(connections->epoll, operation, fd, &event) < 0 ? -errno : 0;
}

struct rc_body *rc_body_make(struct rc_str text)
{
    struct rc_body *body = malloc(sizeof(*body) + text.n);

    if (!body)
        return NULL;
    *body = (struct rc_body){ .users = 1, .size = text.n };
    if (text.p && text.n)
        memcpy(body->bytes, text.p, text.n);
    return body;
}

void rc_body_drop(struct rc_body *body)
{
    if (body && --body->users == 0)
        free(body);
}

int rc_connections_live(struct rc_connections *connections, int life)
{
    if (connections->life >= 0)
        epoll_ctl(connections->epoll, EPOLL_CTL_DEL, connections->life, NULL);
    connections->life = life;
    return life < 0 ? 0 : watch(connections, EPOLL_CTL_ADD, life, EPOLLIN, &connections->life);
}

static int watch_listeners(struct rc_connections *connections, int operation, uint32_t events)
{
    int rc = 0;

    for (unsigned i = 0; rc == 0 && i < RC_LISTENERS_MAX; i++)
        if (connections->listener[i] >= 0)
            rc = watch(connections, operation, connections->listener[i], events, &connections->listener[i]);
    return rc;
}

int rc_connections_open(struct rc_connections *connections, const int listener[RC_LISTENERS_MAX], const char *token,
                        rc_connections_handle *handle, rc_connections_left *left, void *more)
{
    int rc;

    *connections = (struct rc_connections){
        .listener = { listener[0], listener[1] },
        .epoll = epoll_create1(EPOLL_CLOEXEC),
        .life = -1,
        .token = token,
        .handle = handle,
        .left = left,
        .more = more,
    };
    rc = connections->epoll < 0 ? -errno : watch_listeners(connections, EPOLL_CTL_ADD, EPOLLIN);
    if (rc < 0)
        rc_connections_close(connections);
    return rc;
}

static void listen_again(struct rc_connections *connections)
{
    if (watch_listeners(connections, EPOLL_CTL_MOD, EPOLLIN) == 0)
        connections->deaf = 0;
}

static void drop_connection(struct rc_connections *connections, struct rc_connection *connection)
{
    rc_queue_leave(&connection->link);
    close(connection->fd); /* also removes it from the epoll set */
    rc_wire_free(&connection->wire);
    rc_body_drop(connection->reply);
    free(connection);
    if (connections->deaf)
        listen_again(connections);
}

void rc_connections_close(struct rc_connections *connections)
{
    connections->deaf = 0;
    while (connections->pending.first)
        drop_connection(connections, rc_connection_of(connections->pending.first));
    while (connections->authenticated.first)
        drop_connection(connections, rc_connection_of(connections->authenticated.first));
    if (connections->epoll >= 0)
        close(connections->epoll);
    for (unsigned i = 0; i < RC_LISTENERS_MAX; i++)
        if (connections->listener[i] >= 0)
            close(connections->listener[i]);
}

void rc_connection_reply_with(struct rc_connection *connection, struct rc_body *body, size_t size)
{
    /* without a reply its next event drops it */
    if (!body) {
        shutdown(connection->fd, SHUT_RDWR);
        return;
    }
    body->users++;
    connection->reply = body;
    connection->size = size;
    connection->head_size = rc_wire_head(connection->token, size, connection->head);
}

/* Return false when the connection is done or lost. */
static bool send_reply(struct rc_connections *connections, struct rc_connection *connection)
{
    size_t head = connection->head_size;

    if (!connection->reply)
        return true;
    while (connection->sent < head + connection->size) {
        size_t of_head = connection->sent < head ? connection->sent : head;
        size_t of_body = connection->sent - of_head;
        struct iovec part[] = { { connection->head + of_head, head - of_head },
                                { connection->reply->bytes + of_body, connection->size - of_body } };
        const struct msghdr message = { .msg_iov = part, .msg_iovlen = 2 };
        /* MSG_MORE: the final packet carries the FIN */
        ssize_t n = sendmsg(connection->fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT | MSG_MORE);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return errno == EAGAIN &&
                   watch(connections, EPOLL_CTL_MOD, connection->fd, EPOLLIN | EPOLLOUT, connection) == 0;
        connection->sent += (size_t)n;
    }
    /* closing with nothing unread sends no reset, which could overtake the reply */
    return false;
}

void rc_connections_reply(struct rc_connections *connections, struct rc_connection *connection)
{
    rc_queue_join(&connections->authenticated, &connection->link);
    if (!send_reply(connections, connection))
        drop_connection(connections, connection);
}

/* Return whether an authenticated connection is open and silent; drop any other. */
static bool is_patient(const struct rc_connection *connection)
{
    char byte;

    return recv(connection->fd, &byte, 1, MSG_DONTWAIT) < 0 && (errno == EAGAIN || errno == EINTR);
}

static bool hear_pending(struct rc_connections *connections, struct rc_connection *connection)
{
    switch (rc_wire_read(&connection->wire, connection->fd, connection->token)) {
    case RC_WIRE_MORE:
        return true;
    case RC_WIRE_WRONG:
        return false;
    case RC_WIRE_WHOLE:
        break;
    }
    rc_queue_join(&connections->authenticated, &connection->link);
    return connections->handle(connections->more, connection) && send_reply(connections, connection);
}

static void hear_connection(struct rc_connections *connections, struct rc_connection *connection)
{
    bool is_pending = connection->link.queue == &connections->pending;
    bool stays = is_pending ? hear_pending(connections, connection)
                            : is_patient(connection) && send_reply(connections, connection);

    if (!stays && !is_pending && !connection->reply)
        connections->left(connections->more, connection);
    if (!stays)
        drop_connection(connections, connection);
}

/* Drop the oldest pending connection, after a last read. */
static void drop_oldest(struct rc_connections *connections)
{
    size_t count = connections->pending.count;

    hear_connection(connections, rc_connection_of(connections->pending.first));
    if (connections->pending.count == count)
        drop_connection(connections, rc_connection_of(connections->pending.first));
}

static bool is_oldest_silent(const struct rc_connections *connections, int64_t milliseconds)
{
    return connections->pending.first &&
           rc_connection_of(connections->pending.first)->since + milliseconds <= rc_milliseconds();
}

static void add_connection(struct rc_connections *connections, int fd, bool is_local)
{
    struct rc_connection *connection = calloc(1, sizeof(*connection));

    if (!connection || watch(connections, EPOLL_CTL_ADD, fd, EPOLLIN, connection) < 0) {
        free(connection);
        close(fd);
        return;
    }
    connection->fd = fd;
    connection->since = rc_milliseconds();
    connection->token = is_local ? RC_LOCAL_TOKEN : connections->token;
    connection->wire.limit = RC_WIRE_REQUEST_MAX;
    rc_queue_join(&connections->pending, &connection->link);
    /* most messages are complete by now, and this connection has no event yet */
    hear_connection(connections, connection);
}

/* Without a free descriptor accept4 fails even if no connection is pending. */
static bool has_newcomer(int listener)
{
    struct pollfd newcomer = { .fd = listener, .events = POLLIN };

    return poll(&newcomer, 1, 0) > 0;
}

/* Out of descriptors. Return whether to accept again; else pause the listeners for DEAF_MS, or until a connection is
 * closed. Keep authenticated connections. */
static bool make_room(struct rc_connections *connections, int listener)
{
    if (!has_newcomer(listener))
        return false;
    if (is_oldest_silent(connections, RC_CONNECTIONS_SILENCE_MS)) {
        drop_oldest(connections);
        return true;
    }
    if (watch_listeners(connections, EPOLL_CTL_MOD, 0) == 0)
        connections->deaf = rc_milliseconds() + DEAF_MS;
    return false;
}

static void accept_connections(struct rc_connections *connections, int listener)
{
    bool is_local = rc_local_is_local(listener);

    for (int i = 0; i < WELCOMES; i++) {
        int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

        if (fd >= 0 && is_local && !rc_local_is_own_users(fd)) {
            close(fd);
        } else if (fd >= 0) {
            add_connection(connections, fd, is_local);
        } else if (errno == EMFILE || errno == ENFILE) {
            if (!make_room(connections, listener))
                return;
        } else if (errno != EINTR && errno != ECONNABORTED) {
            return;
        }
    }
}

void rc_connections_shut(struct rc_connections *connections)
{
    for (unsigned i = 0; i < RC_LISTENERS_MAX; i++) {
        if (connections->listener[i] < 0)
            continue;
        for (int more = MOST_AT_END; more > 0 && has_newcomer(connections->listener[i]); more -= WELCOMES)
            accept_connections(connections, connections->listener[i]);
        close(connections->listener[i]);
        connections->listener[i] = -1;
    }
}

static int64_t next_timeout(const struct rc_connections *connections)
{
    int64_t next = INT64_MAX;

    if (connections->pending.first)
        next = rc_connection_of(connections->pending.first)->since + RC_CONNECTIONS_PATIENCE * INT64_C(1000);
    return connections->deaf && connections->deaf < next ? connections->deaf : next;
}

/* Only a connection's event (one per round) or a listener's drops it, so handle listeners last. */
bool rc_connections_serve(struct rc_connections *connections, int64_t until)
{
    int64_t patience = next_timeout(connections);
    struct epoll_event events[EVENTS];
    int count = epoll_wait(connections->epoll, events, EVENTS,
                           rc_milliseconds_left(until < patience ? until : patience));
    bool has_new[RC_LISTENERS_MAX] = { false };

    for (int i = 0; i < count; i++) {
        if (events[i].data.ptr == &connections->life)
            return false;
        if (events[i].data.ptr == &connections->listener[0])
            has_new[0] = true;
        else if (events[i].data.ptr == &connections->listener[1])
            has_new[1] = true;
        else
            hear_connection(connections, events[i].data.ptr);
    }
    for (unsigned i = 0; i < RC_LISTENERS_MAX; i++)
        if (has_new[i])
            accept_connections(connections, connections->listener[i]);
    if (connections->deaf && connections->deaf <= rc_milliseconds())
        listen_again(connections);
    while (is_oldest_silent(connections, RC_CONNECTIONS_PATIENCE * INT64_C(1000)))
        drop_oldest(connections);
    return true;
}

bool rc_connection_has_left(const struct rc_connection *connection)
{
    char byte;

    return recv(connection->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
}
