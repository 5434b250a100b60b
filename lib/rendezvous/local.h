/* SPDX-License-Identifier: BSD-3-Clause */
/* local.h - processes of one user on one node speak to each other.
 *
 * A socket of the kernel's abstract names: no file that stays, none on another
 * node, gone with the process that listens. Each side looks at the kernel's word for the
 * other's user (SO_PEERCRED); another user's process is not heard, and not
 * believed. One packet there, one back.
 */
#ifndef ROLLCALL_RENDEZVOUS_LOCAL_H
#define ROLLCALL_RENDEZVOUS_LOCAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

enum { RC_LOCAL_NAME = 108 }; /* of an address, its leading NUL left out */

/* rollcall/UID/SCOPE/NODE; a long scope goes by its hash. */
void rc_local_name(const char *scope, uint32_t node, char name[RC_LOCAL_NAME]);

/* A listening socket, not blocking, closed on exec. Returns it or -errno: -EADDRINUSE where the name is taken. */
int rc_local_listen(const char *name);

/* Accepts the next caller; -1 where none waits, and after a number of connections of other users, which it closes:
 * then poll says whether there are more. Never blocks. */
int rc_local_accept(int listener);

/* Milliseconds until a time of rc_milliseconds, for poll: 0 where it is over, a minute at most. */
int rc_local_left(int64_t deadline);

/* Sends a message and reads the reply, with a NUL behind it. Returns its bytes or -errno:
 * -ECONNREFUSED where no process listens, -EAGAIN where too many call, -ECONNRESET where
 * the listener closed the connection, -EPERM where it is another user's, -ETIMEDOUT. */
int rc_local_call(const char *name, struct rc_str message, int64_t deadline, char *text, size_t size);

/* The same, but retries until `deadline` as long as no process listens. The reply may
 * take `patience` more milliseconds. */
int rc_local_ask(const char *name, struct rc_str message, int64_t deadline, uint32_t patience, char *text, size_t size);

#endif
