/* SPDX-License-Identifier: BSD-3-Clause */
/* connections.h - a server's connections and their queues. */
#pragma once

#include "rendezvous/wire.h"

/* A list whose links are inside of what is listed: to put in and take out costs no memory. */

struct rc_queue;
struct rc_gather;

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

/* A text that several connections send. */
struct rc_body {
    size_t users;
    size_t size;
    char bytes[];
};

/* A copy of the text, or room for so many bytes if text.p is NULL. It has one user. NULL without memory. */
struct rc_body *rc_body_make(struct rc_str text);

/* One user less: the last one's frees it. NULL is ignored. */
void rc_body_drop(struct rc_body *body);

/* The connections of a server: accepted, read, replied to, closed.
 *
 * A connection is pending until its message is whole and carries the token. From
 * then on it is authenticated, until it has its reply. Pending ones are kept in
 * order of arrival; the oldest is closed when it has been silent for too long.
 * What a message means is the server's business.
 *
 * If descriptors run out, a newcomer gets that of a pending connection that has been
 * silent for half a second, or waits until a connection is closed: a node or a task that waits has one of them. */

enum {
    RC_CONNECTIONS_PATIENCE = 5,     /* seconds */
    RC_CONNECTIONS_SILENCE_MS = 500, /* the same if descriptors are short */
};

struct rc_connection {
    struct rc_link link;      /* first: rc_connection_of casts; the handler may put it into a queue of its own */
    struct rc_wire wire;      /* its message */
    struct rc_gather *gather; /* that it waits for (gather.h); NULL: none */
    uint32_t member;          /* its number there */
    struct rc_body *reply;    /* NULL: not yet */
    size_t size;              /* bytes of the reply that this connection gets */
    size_t sent;              /* of them, and of the head */
    char head[RC_WIRE_HEAD_MAX];
    size_t head_size;
    const char *token;
    int fd;
    int64_t since;
};

static inline struct rc_connection *rc_connection_of(struct rc_link *link)
{
    return (struct rc_connection *)(void *)link;
}

/* Called when a message is whole and its connection authenticated. May set the reply now or
 * later. Return false to drop the connection. */
typedef bool rc_connections_handle(void *more, struct rc_connection *connection);

/* Called before an authenticated connection without a reply is dropped, because its other end has closed it. */
typedef void rc_connections_left(void *more, struct rc_connection *connection);

enum { RC_LISTENERS_MAX = 2 };

struct rc_connections {
    int listener[RC_LISTENERS_MAX]; /* -1: none */
    int epoll;
    int life;     /* a descriptor whose other end speaks, or closes, when the server is to end; -1: none */
    int64_t deaf; /* out of descriptors: when the listeners are watched again; 0: they are watched */
    const char *token;
    rc_connections_handle *handle;
    rc_connections_left *left;
    void *more;
    struct rc_queue pending;
    struct rc_queue authenticated;
};

/* Owns the listeners (of rc_listen or rc_local_listen) from now on, even on failure; the token stays the caller's.
 * Processes of other users are not served at a local one, where the token is RC_LOCAL_TOKEN. Return 0 or -errno. */
int rc_connections_open(struct rc_connections *connections, const int listener[RC_LISTENERS_MAX], const char *token,
                        rc_connections_handle *handle, rc_connections_left *left, void *more);

void rc_connections_close(struct rc_connections *connections);

/* Watch this descriptor instead of the one before, which the caller closes; -1: none. Return 0 or -errno. */
int rc_connections_live(struct rc_connections *connections, int life);

/* Accept all who have come, and listen no more. May not be called from the handler. */
void rc_connections_shut(struct rc_connections *connections);

/* Wait for events and handle them, once, at most until `until` (rc_milliseconds; INT64_MAX:
 * no limit). Return false once the other end of `life` has said something, or is closed. */
bool rc_connections_serve(struct rc_connections *connections, int64_t until);

/* Set the first `size` bytes of a body as the connection's reply; the connection is one more user. NULL: drop it. */
void rc_connection_reply_with(struct rc_connection *connection, struct rc_body *body, size_t size);

/* Send the reply of an authenticated connection, as far as the socket takes it, and then
 * close the connection. May not be called from the handler. */
void rc_connections_reply(struct rc_connections *connections, struct rc_connection *connection);

/* Return true if the other end has closed the connection, and so does not wait for a reply. */
bool rc_connection_has_left(const struct rc_connection *connection);
