/* SPDX-License-Identifier: BSD-3-Clause */
/* connections.h - the connections of a server and their queues. */
#pragma once

#include "rendezvous/wire.h"

/* An intrusive list: linking allocates nothing. */

struct rc_queue;
struct rc_gather;

struct rc_link {
    struct rc_queue *queue; /* current queue; NULL: none */
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

/* Append, after leaving the current queue. */
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

/* Shared by several connections. */
struct rc_body {
    size_t users;
    size_t size;
    char bytes[];
};

/* Copy the text, or allocate text.n bytes if text.p is NULL, for one user. Return NULL without memory. */
struct rc_body *rc_body_make(struct rc_str text);

/* Drop one user; free the body with the last. NULL is ignored. */
void rc_body_drop(struct rc_body *body);

/* A connection is pending until its complete message carries the token, then authenticated until it has its reply.
 * RC_CONNECTIONS_PATIENCE limits pending ones. Without descriptors a new connection displaces a pending one that was
 * silent for half a second, or waits. */

enum {
    RC_CONNECTIONS_PATIENCE = 5,     /* seconds for a pending connection */
    RC_CONNECTIONS_SILENCE_MS = 500, /* without descriptors */
};

struct rc_connection {
    struct rc_link link; /* first: rc_connection_of casts; the handler may move it */
    struct rc_wire wire;
    struct rc_gather *gather; /* awaited (gather.h); NULL: none */
    uint32_t member;          /* number in the gather */
    struct rc_body *reply;    /* NULL: none yet */
    size_t size;              /* bytes to send */
    size_t sent;              /* with the head */
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

/* Handle an authenticated connection with its message; the reply may follow later. Return false to drop it. */
typedef bool rc_connections_handle(void *more, struct rc_connection *connection);

/* Called before dropping an authenticated connection whose peer left before its reply. */
typedef void rc_connections_left(void *more, struct rc_connection *connection);

enum { RC_LISTENERS_MAX = 2 };

struct rc_connections {
    int listener[RC_LISTENERS_MAX]; /* -1: none */
    int epoll;
    int life;     /* becomes readable when the server must end; -1: none */
    int64_t deaf; /* when to watch the listeners again; 0: watched */
    const char *token;
    rc_connections_handle *handle;
    rc_connections_left *left;
    void *more;
    struct rc_queue pending;
    struct rc_queue authenticated;
};

/* Take over the listeners, even on failure; borrow the token. Local listeners serve this user, with RC_LOCAL_TOKEN.
 * Return 0 or -errno. */
int rc_connections_open(struct rc_connections *connections, const int listener[RC_LISTENERS_MAX], const char *token,
                        rc_connections_handle *handle, rc_connections_left *left, void *more);

void rc_connections_close(struct rc_connections *connections);

/* Replace `life` (-1: none); the caller closes the old one. Return 0 or -errno. */
int rc_connections_live(struct rc_connections *connections, int life);

/* Accept pending connections, then stop listening. Do not call from the handler. */
void rc_connections_shut(struct rc_connections *connections);

/* Handle events once, waiting until `until` (rc_milliseconds; INT64_MAX: forever). Return false when `life` is readable
 * or closed. */
bool rc_connections_serve(struct rc_connections *connections, int64_t until);

/* Reply with the first `size` bytes of a body, or drop the connection if NULL. */
void rc_connection_reply_with(struct rc_connection *connection, struct rc_body *body, size_t size);

/* Send the reply and close the connection. Do not call from the handler. */
void rc_connections_reply(struct rc_connections *connections, struct rc_connection *connection);

/* Return true if the peer has closed the connection. */
bool rc_connection_has_left(const struct rc_connection *connection);
