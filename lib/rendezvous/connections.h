/* SPDX-License-Identifier: BSD-3-Clause */
/* crowd.h - those who are connected to a desk: who comes, who is heard, who goes when.
 *
 * A caller is a stranger until its message is whole and carries the token, and a
 * visitor from then on until it has its reply. Strangers stand in order of
 * arrival; the oldest goes when it has been silent for too long, or when there
 * are too many. What is said, and the reply to it, is the desk's.
 */
#ifndef ROLLCALL_RENDEZVOUS_CONNECTIONS_H
#define ROLLCALL_RENDEZVOUS_CONNECTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rendezvous/queue.h"
#include "rendezvous/wire.h"

enum { RC_CROWD_PATIENCE = 5 /* seconds */, RC_CROWD_STRANGERS_MAX = 65536 };

struct rc_caller {
    struct rc_link link; /* first: a link is its caller; a visitor may be put into another queue */
    struct rc_wire wire; /* what it says */
    const char *reply;   /* as it goes over the wire; NULL: not yet */
    size_t reply_size;
    char *own_reply; /* to be freed with it; NULL: the reply is of several */
    size_t sent;     /* of the reply */
    int fd;
    int64_t since;
    bool is_visitor;
};

static inline struct rc_caller *rc_caller_of(struct rc_link *link)
{
    return (struct rc_caller *)(void *)link;
}

/* A message is whole, and its caller a visitor. May give it a reply, now or later.
 * False: it is hung up. */
typedef bool rc_crowd_understand(void *more, struct rc_caller *caller);

struct rc_crowd {
    int listener;
    int epoll;
    int life;  /* its end is everybody's; -1: none */
    bool deaf; /* out of descriptors: the listener is left alone until there is one */
    const char *token;
    rc_crowd_understand *understand;
    void *more;
    struct rc_queue strangers;
    struct rc_queue visitors;
    size_t strangers_max;
};

/* listener: of rc_listen, the crowd's from now on, whatever comes of it; the token stays the caller's. 0 or -errno. */
int rc_crowd_open(struct rc_crowd *crowd, int listener, const char *token, rc_crowd_understand *understand, void *more);

/* Nobody may stand in another queue than the crowd's own. */
void rc_crowd_close(struct rc_crowd *crowd);

/* 0 or -errno. */
int rc_crowd_set_life(struct rc_crowd *crowd, int life);

/* One round of what happens, or none until `until` (rc_milliseconds; INT64_MAX:
 * ever). False once the other end of the life is closed. */
bool rc_crowd_serve(struct rc_crowd *crowd, int64_t until);

/* Gives a visitor its reply, as far as the socket takes it, and hangs up behind
 * it. Not of another caller than rc_crowd_understand's own, nor while it runs
 * (rc_crowd_wake). */
void rc_crowd_give(struct rc_crowd *crowd, struct rc_caller *caller);

/* A caller in another queue has its reply now: it is a visitor again, and gets it in the next round. */
void rc_crowd_wake(struct rc_crowd *crowd, struct rc_caller *caller);

void rc_crowd_hang_up(struct rc_crowd *crowd, struct rc_caller *caller);

#endif
