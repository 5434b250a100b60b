/* SPDX-License-Identifier: BSD-3-Clause */
/* connections.h - a server's connections and their queues. */
#pragma once

#include "rendezvous/wire.h"

/* A list whose links are inside of what is listed: to put in and take out costs no memory. */

struct rc_queue;

struct rc_link {
    struct rc_queue *queue; /* that it is in; NULL: none */
    struct rc_link *previous;
    struct rc_link *next;
};

/* Zero it to begin. */
struct rc_queue {
    struct rc_link *first;
    struct rc_link *last;
    size_t count;
};

static inline void rc_queue_leave(struct rc_link *link)
{
    struct rc_queue *queue = link->queue;

    if (!queue)
        return;
    *(link->previous ? &link->previous->next : &queue->first) = link->next;
    *(link->next ? &link->next->previous : &queue->last) = link->previous;
    queue->count--;
    link->queue = NULL;
}

/* At its end; leaves the one that it stood in. */
static inline void rc_queue_join(struct rc_queue *queue, struct rc_link *link)
{
    rc_queue_leave(link);
    link->queue = queue;
    link->next = NULL;
    link->previous = queue->last;
    *(queue->last ? &queue->last->next : &queue->first) = link;
    queue->last = link;
    queue->count++;
}

/* The connections of a server: accepted, read, replied to, closed.
 *
 * A connection is pending until its message is whole and carries the token. From
 * then on it is authenticated, until it has its reply. Pending ones are kept in
 * order of arrival; the oldest is closed when it has been silent for too long.
 * What a message means is the server's business.
 *
 * Where descriptors run out, a newcomer gets that of a pending connection that has been
 * silent for half a second, or else that of the one that has waited longest for its reply, which is
 * asked to come again (wire.h, RC_SERVER_AGAIN). So who only puts something is
 * always heard, and nobody is lost: any number of clients share a few descriptors. */

enum {
    RC_CONNECTIONS_PATIENCE = 5,     /* seconds */
    RC_CONNECTIONS_SILENCE_MS = 500, /* the same where descriptors are short */
};

struct rc_connection {
    struct rc_link link; /* first: rc_connection_of casts; the handler may put it into a queue of its own */
    struct rc_link turn; /* among those that wait for a reply */
    struct rc_wire wire; /* its message */
    const char *reply;   /* as it goes over the wire; NULL: not yet */
    size_t reply_size;
    char *own_reply; /* freed with the connection; NULL: several connections share the reply */
    size_t sent;     /* of the reply */
    int fd;
    int64_t since;
};

static inline struct rc_connection *rc_connection_of(struct rc_link *link)
{
    return (struct rc_connection *)(void *)link;
}

/* Called when a message is whole and its connection authenticated. May set the reply now or
 * later. Returns false to drop the connection. */
typedef bool rc_connections_handle(void *more, struct rc_connection *connection);

struct rc_connections {
    int listener;
    int epoll;
    int life;     /* a descriptor whose other end speaks, or closes, when the server is to end; -1: none */
    int64_t deaf; /* out of descriptors: when the listener is watched again; 0: it is watched */
    const char *token;
    rc_connections_handle *handle;
    void *more;
    struct rc_queue pending;
    struct rc_queue authenticated;
    struct rc_queue waiting; /* of `turn` */
    char *again;             /* the message RC_SERVER_AGAIN */
    size_t again_size;
    size_t sent_away; /* how often it was sent */
};

/* Owns `listener` (of rc_listen) from now on, even on failure; `life` and the token stay the caller's. 0 or -errno. */
int rc_connections_open(struct rc_connections *connections, int listener, int life, const char *token,
                        rc_connections_handle *handle, void *more);

void rc_connections_close(struct rc_connections *connections);

/* Waits for events and handles them, once, at most until `until` (rc_milliseconds; INT64_MAX:
 * no limit). Returns false once the other end of `life` has said something, or is closed. */
bool rc_connections_serve(struct rc_connections *connections, int64_t until);

/* Sends the reply of an authenticated connection, as far as the socket takes it, and then
 * closes the connection. May not be called from the handler (see rc_connections_wake). */
void rc_connections_reply(struct rc_connections *connections, struct rc_connection *connection);

/* Return true if the other end has closed the connection, and so does not wait for a reply. */
bool rc_connection_has_left(const struct rc_connection *connection);

/* Puts a connection from another queue back among the authenticated; it gets its reply in the next round. */
void rc_connections_wake(struct rc_connections *connections, struct rc_connection *connection);
