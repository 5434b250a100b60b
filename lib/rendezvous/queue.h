/* SPDX-License-Identifier: BSD-3-Clause */
/* queue.h - a list whose links stand inside of what is listed: to put in and take out costs no memory. */
#ifndef ROLLCALL_RENDEZVOUS_QUEUE_H
#define ROLLCALL_RENDEZVOUS_QUEUE_H

#include <stddef.h>

struct rc_queue;

struct rc_link {
    struct rc_queue *queue; /* that it stands in; NULL: none */
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

#endif
