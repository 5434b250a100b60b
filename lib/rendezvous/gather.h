/* SPDX-License-Identifier: BSD-3-Clause */
/* gather.h - the tasks of one launch on one node, which share no memory: one of them speaks for all.
 *
 * They meet at a socket of their user on this node (local.h): one packet there, "rank=3" and possibly a text on the
 * next line, one back.
 *
 * The first task waits until all others have told it their ranks, and then closes
 * the socket. A task that comes too late is refused, and the first task knows that
 * one is missing: no task can believe that all have agreed when one has not.
 */
#ifndef ROLLCALL_RENDEZVOUS_GATHER_H
#define ROLLCALL_RENDEZVOUS_GATHER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

enum { RC_GATHER_SAID_MAX = 4096 };

struct rc_gathered_task {
    int fd;
    uint32_t rank;
    char *said; /* its text, with a NUL behind it; NULL: none */
};

struct rc_gathered {
    struct rc_gathered_task *list; /* those that have told their ranks */
    uint32_t count;
};

/* For the first task, at a name of rc_local_name: waits until `expected` others have told their ranks, no
 * two the same one and none `own`, but no longer than so many milliseconds.
 * *all lists the tasks that have; the caller passes it to rc_gather_reply in any case.
 * Returns 0, or -errno without a socket; then *all is empty. */
int rc_gather_collect(const char *name, uint32_t own, uint32_t expected, uint32_t milliseconds,
                      struct rc_gathered *all);

/* The same text to all of them, and an end to it. */
void rc_gather_reply(struct rc_gathered *all, struct rc_str text);

/* For the other tasks: tells the first task this rank, and a text of less than RC_GATHER_SAID_MAX bytes, which may be
 * absent, and reads its reply into `text`, with a NUL behind it. Retries for `milliseconds` until the first task is
 * there; the reply may take `patience` more. Returns the number of bytes or -errno: -ETIMEDOUT, -ECONNREFUSED
 * where the first task never came, -EPERM where the socket is another user's. */
int rc_gather_join(const char *name, uint32_t rank, struct rc_str said, uint32_t milliseconds, uint32_t patience,
                   char *text, size_t size);

#endif
