/* SPDX-License-Identifier: BSD-3-Clause */
/* local.h - processes of one node that meet. */
#pragma once

#include "base/text.h"

/* Sockets between the processes of one user on one node, with names of the kernel's abstract namespace: no file, no
 * access from another node, and no trace when the listening process ends. Each side verifies the other's user
 * (SO_PEERCRED). One packet in each direction. */

enum { RC_LOCAL_NAME = 108 }; /* of an address, its leading NUL left out */

/* rollcall/UID/SCOPE/NODE; a long scope goes by its hash. */
void rc_local_name(const char *scope, uint32_t node, char name[RC_LOCAL_NAME]);

/* A listening socket, not blocking, closed on exec. Returns it or -errno: -EADDRINUSE where the name is taken. */
int rc_local_listen(const char *name);

/* Accepts the next caller; -1 where none waits, and after a number of connections of other users, which it closes:
 * then poll says whether there are more. Never blocks. */
int rc_local_accept(int listener);

/* Sends a message and reads the reply, with a NUL after it. Returns its bytes or -errno:
 * -ECONNREFUSED where no process listens, -EAGAIN where too many call, -ECONNRESET where
 * the listener closed the connection, -EPERM where it is another user's, -ETIMEDOUT. */
int rc_local_call(const char *name, struct rc_str message, int64_t deadline, char *text, size_t size);

/* The same, but retries until `deadline` as long as no process listens. The reply may
 * take `patience` more milliseconds. */
int rc_local_ask(const char *name, struct rc_str message, int64_t deadline, uint32_t patience, char *text, size_t size);

/* The tasks of one launch on one node, which share no memory: one of them speaks for all.
 *
 * They meet at a socket of their user on this node (above): one packet there, "rank=3" and possibly a text on the
 * next line, one back.
 *
 * The first task waits until all others have told it their ranks, and then closes
 * the socket. A task that comes too late is refused, and the first task knows that
 * one is missing: no task can believe that all have agreed when one has not. */

enum { RC_GATHER_SAID_MAX = 65536 };

struct rc_gathered_task {
    int fd;
    uint32_t rank;
    char *said; /* its text, with a NUL after it; NULL: none */
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

/* Send the text to every task and close its connection. */
void rc_gather_reply(struct rc_gathered *all, struct rc_str text);

/* For the other tasks: tells the first task this rank, and a text of less than RC_GATHER_SAID_MAX bytes, which may be
 * absent, and reads its reply into `text`, with a NUL after it. Retries for `milliseconds` until the first task is
 * there; the reply may take `patience` more. Returns the number of bytes or -errno: -ETIMEDOUT, -ECONNREFUSED
 * where the first task never came, -EPERM where the socket is another user's. */
int rc_gather_join(const char *name, uint32_t rank, struct rc_str said, uint32_t milliseconds, uint32_t patience,
                   char *text, size_t size);
