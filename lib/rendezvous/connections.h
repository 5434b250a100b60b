/* SPDX-License-Identifier: BSD-3-Clause */
/* connections.h - the connections of a server: accepted, read, replied to, closed.
 *
 * A connection is pending until its message is whole and carries the token. From
 * then on it is authenticated, until it has its reply. Pending ones are kept in
 * order of arrival; the oldest is closed when it has been silent for too long, or
 * when there are too many. What a message means is the server's business.
 */
#ifndef ROLLCALL_RENDEZVOUS_CONNECTIONS_H
#define ROLLCALL_RENDEZVOUS_CONNECTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rendezvous/queue.h"
#include "rendezvous/wire.h"

enum { RC_CONNECTIONS_PATIENCE = 5 /* seconds */, RC_CONNECTIONS_PENDING_MAX = 65536 };

struct rc_connection {
    struct rc_link link; /* first: a link is its connection; an authenticated one may be put into another queue */
    struct rc_wire wire; /* what it says */
    const char *reply;   /* as it goes over the wire; NULL: not yet */
    size_t reply_size;
    char *own_reply; /* to be freed with it; NULL: the reply is of several */
    size_t sent;     /* of the reply */
    int fd;
    int64_t since;
    bool is_authenticated;
};

static inline struct rc_connection *rc_connection_of(struct rc_link *link)
{
    return (struct rc_connection *)(void *)link;
}

/* A message is whole, and its connection authenticated. May give it a reply, now or later.
 * False: it is hung up. */
typedef bool rc_connections_handle(void *more, struct rc_connection *connection);

struct rc_connections {
    int listener;
    int epoll;
    int life;  /* closed at its other end: all is over; -1: none */
    bool deaf; /* out of descriptors: the listener is left alone until there is one */
    const char *token;
    rc_connections_handle *handle;
    void *more;
    struct rc_queue pending;
    struct rc_queue authenticated;
    size_t pending_max;
};

/* listener: of rc_listen, rc_connections' from now on, even on failure; the token stays the caller's. 0 or -errno. */
int rc_connections_open(struct rc_connections *connections, int listener, const char *token,
                        rc_connections_handle *handle, void *more);

/* Nobody may stand in another queue than these queues. */
void rc_connections_close(struct rc_connections *connections);

/* 0 or -errno. */
int rc_connections_set_life(struct rc_connections *connections, int life);

/* One round of what happens, or none until `until` (rc_milliseconds; INT64_MAX:
 * ever). False once the other end of the life is closed. */
bool rc_connections_serve(struct rc_connections *connections, int64_t until);

/* Sends the reply of an authenticated connection, as far as the socket takes it,
 * and closes it behind that. Not for another connection than rc_connections_handle's own, nor while it runs
 * (rc_connections_wake). */
void rc_connections_reply(struct rc_connections *connections, struct rc_connection *connection);

/* A connection in another queue has its reply now: it is among the authenticated again, and gets it in the next round. */
void rc_connections_wake(struct rc_connections *connections, struct rc_connection *connection);

void rc_connections_drop(struct rc_connections *connections, struct rc_connection *connection);

#endif
