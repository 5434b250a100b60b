/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "rendezvous/connections.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "system/node.h"

/* A round accepts at most WELCOMES connections, so that those that are open already are
 * read in between. A rush of nodes then never fills the pending queue. */
enum { EVENTS = 64, WELCOMES = 64, DESCRIPTORS_MAX = 65536, DEAF_MS = 100 };

/* EPOLL_CTL_ADD or EPOLL_CTL_MOD. 0 or -errno. */
static int watch(const struct rc_connections *connections, int operation, int fd, uint32_t events, void *whom)
{
    struct epoll_event event = { .events = events, .data.ptr = whom };

    return epoll_ctl(connections->epoll, operation, fd, &event) < 0 ? -errno : 0;
}

/* Watches a connection for room to send as well. */
static bool watch_sending(const struct rc_connections *connections, struct rc_connection *connection)
{
    return watch(connections, EPOLL_CTL_MOD, connection->fd, EPOLLIN | EPOLLOUT, connection) == 0;
}

/* Raises the limit of descriptors as far as the system allows: each node needs one. The limit is also that of what
 * strangers can make the server keep. */
static void raise_limit(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
        return;
    limit.rlim_cur = limit.rlim_max < DESCRIPTORS_MAX ? limit.rlim_max : DESCRIPTORS_MAX;
    setrlimit(RLIMIT_NOFILE, &limit);
}

int rc_connections_open(struct rc_connections *connections, int listener, int life, const char *token,
                        rc_connections_handle *handle, void *more)
{
    int rc;

    raise_limit();
    *connections = (struct rc_connections){
        .listener = listener,
        .epoll = epoll_create1(EPOLL_CLOEXEC),
        .life = life,
        .token = token,
        .handle = handle,
        .more = more,
    };
    rc = connections->epoll < 0 ? -errno : watch(connections, EPOLL_CTL_ADD, listener, EPOLLIN, connections);
    if (rc == 0 && life >= 0)
        rc = watch(connections, EPOLL_CTL_ADD, life, EPOLLIN, &connections->life);
    connections->again = rc_wire_pack(token, RC_STR(RC_SERVER_AGAIN), &connections->again_size);
    if (rc == 0 && !connections->again)
        rc = -ENOMEM;
    if (rc < 0)
        rc_connections_close(connections);
    return rc;
}

static struct rc_connection *connection_of_turn(struct rc_link *turn)
{
    return (struct rc_connection *)(void *)((char *)turn - offsetof(struct rc_connection, turn));
}

static void listen_again(struct rc_connections *connections)
{
    if (watch(connections, EPOLL_CTL_MOD, connections->listener, EPOLLIN, connections) == 0)
        connections->deaf = 0;
}

static void drop_connection(struct rc_connections *connections, struct rc_connection *connection)
{
    rc_queue_leave(&connection->link);
    rc_queue_leave(&connection->turn);
    close(connection->fd); /* which also takes it out of the epoll set */
    rc_wire_free(&connection->wire);
    free(connection->own_reply);
    free(connection);
    if (connections->deaf)
        listen_again(connections);
}

void rc_connections_close(struct rc_connections *connections)
{
    connections->deaf = 0;
    while (connections->waiting.first)
        drop_connection(connections, connection_of_turn(connections->waiting.first));
    while (connections->pending.first)
        drop_connection(connections, rc_connection_of(connections->pending.first));
    while (connections->authenticated.first)
        drop_connection(connections, rc_connection_of(connections->authenticated.first));
    if (connections->epoll >= 0)
        close(connections->epoll);
    close(connections->listener);
    free(connections->again);
}

/* Returns true as long as the connection has to wait, false once it is done or lost. */
static bool send_reply(struct rc_connections *connections, struct rc_connection *connection)
{
    if (!connection->reply) {
        if (!connection->turn.queue)
            rc_queue_join(&connections->waiting, &connection->turn);
        return true;
    }
    rc_queue_leave(&connection->turn);
    while (connection->sent < connection->reply_size) {
        ssize_t n = send(connection->fd, connection->reply + connection->sent,
                         connection->reply_size - connection->sent, MSG_NOSIGNAL | MSG_DONTWAIT);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return errno == EAGAIN && watch_sending(connections, connection);
        connection->sent += (size_t)n;
    }
    /* closing with nothing unread is no reset, which could overtake the reply */
    return false;
}

void rc_connections_reply(struct rc_connections *connections, struct rc_connection *connection)
{
    if (!send_reply(connections, connection))
        drop_connection(connections, connection);
}

void rc_connections_wake(struct rc_connections *connections, struct rc_connection *connection)
{
    rc_queue_join(&connections->authenticated, &connection->link);
    rc_queue_leave(&connection->turn);
    /* without a reply it is dropped, and by its own next event as well */
    if (!connection->reply || !watch_sending(connections, connection))
        shutdown(connection->fd, SHUT_RDWR);
}

/* Whether an authenticated connection is still open and silent. Any other one is dropped. */
static bool is_patient(const struct rc_connection *connection)
{
    char byte;

    return recv(connection->fd, &byte, 1, MSG_DONTWAIT) < 0 && (errno == EAGAIN || errno == EINTR);
}

static bool hear_pending(struct rc_connections *connections, struct rc_connection *connection)
{
    switch (rc_wire_read(&connection->wire, connection->fd, connections->token)) {
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
    bool stays = connection->link.queue == &connections->pending
                     ? hear_pending(connections, connection)
                     : is_patient(connection) && send_reply(connections, connection);

    if (!stays)
        drop_connection(connections, connection);
}

/* Drops the oldest pending connection, after a last read: its message may have come since. */
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

/* Asks the one that has waited longest to come again. */
static void send_away(struct rc_connections *connections)
{
    struct rc_connection *connection = connection_of_turn(connections->waiting.first);

    connection->reply = connections->again;
    connection->reply_size = connections->again_size;
    connections->sent_away++;
    rc_queue_join(&connections->authenticated, &connection->link);
    rc_connections_reply(connections, connection);
}

/* Without a free descriptor accept4 fails even where nobody has come. */
static bool has_newcomer(const struct rc_connections *connections)
{
    struct pollfd listener = { .fd = connections->listener, .events = POLLIN };

    return poll(&listener, 1, 0) > 0;
}

/* Closes a connection for a new one. False where there is none that can go: strangers drive nobody out who waits. */
static bool make_room(struct rc_connections *connections)
{
    if (is_oldest_silent(connections, RC_CONNECTIONS_SILENCE_MS))
        drop_oldest(connections);
    else if (connections->waiting.count > connections->pending.count)
        send_away(connections);
    else
        return false;
    return true;
}

static void add_connection(struct rc_connections *connections, int fd)
{
    struct rc_connection *connection = calloc(1, sizeof(*connection));

    if (!connection || watch(connections, EPOLL_CTL_ADD, fd, EPOLLIN, connection) < 0) {
        free(connection);
        close(fd);
        return;
    }
    connection->fd = fd;
    connection->since = rc_milliseconds();
    connection->wire.limit = RC_WIRE_BODY_MAX;
    rc_queue_join(&connections->pending, &connection->link);
    /* most messages are complete by now; this round's list has no event of this connection yet */
    hear_connection(connections, connection);
}

static void accept_connections(struct rc_connections *connections)
{
    for (int i = 0; i < WELCOMES; i++) {
        int fd = accept4(connections->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

        if (fd >= 0) {
            add_connection(connections, fd);
        } else if (errno == EMFILE || errno == ENFILE) {
            if (!has_newcomer(connections))
                return;
            if (make_room(connections))
                continue;
            /* leaves the listener alone for a moment, or until a connection is closed */
            if (watch(connections, EPOLL_CTL_MOD, connections->listener, 0, connections) == 0)
                connections->deaf = rc_milliseconds() + DEAF_MS;
            return;
        } else if (errno != EINTR && errno != ECONNABORTED) {
            return;
        }
    }
}

static int64_t next_timeout(const struct rc_connections *connections)
{
    int64_t next = INT64_MAX;

    if (connections->pending.first)
        next = rc_connection_of(connections->pending.first)->since + RC_CONNECTIONS_PATIENCE * INT64_C(1000);
    return connections->deaf && connections->deaf < next ? connections->deaf : next;
}

/* A connection may be dropped while other events of the same round are still to be handled.
 * Each has one event in a round, and only its own event or the listener's drops it. So the
 * listener's event is handled last. */
bool rc_connections_serve(struct rc_connections *connections, int64_t until)
{
    int64_t patience = next_timeout(connections);
    struct epoll_event events[EVENTS];
    int count = epoll_wait(connections->epoll, events, EVENTS,
                           rc_milliseconds_left(until < patience ? until : patience));
    bool has_new = false;

    for (int i = 0; i < count; i++) {
        if (events[i].data.ptr == &connections->life)
            return false;
        if (events[i].data.ptr == connections)
            has_new = true;
        else
            hear_connection(connections, events[i].data.ptr);
    }
    if (has_new)
        accept_connections(connections);
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
