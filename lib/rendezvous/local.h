/* SPDX-License-Identifier: BSD-3-Clause */
/* local.h - sockets between processes of one user on one node.
 *
 * Names are in the kernel's abstract namespace: no files, and removed with the listener. Both sides verify the peer's
 * user (SO_PEERCRED), so the token is public. */
#pragma once

#include "base/text.h"

enum { RC_LOCAL_NAME = 108 }; /* bytes of an address without the leading NUL */

#define RC_LOCAL_TOKEN "00000000000000000000000000000000"

/* The host of a local endpoint is this and the name. */
#define RC_LOCAL_HOST '@'

/* Write rollcall/UID/SCOPE/NODE; hash a long scope, or one with a blank. */
void rc_local_name(const char *scope, uint32_t node, char name[RC_LOCAL_NAME]);

/* Write "TOKEN 1 @NAME". */
const char *rc_local_endpoint(const char *name, struct rc_arena *arena);

/* Return a listener or -errno: -EADDRINUSE if the name is taken. */
int rc_local_listen(const char *name);

/* Return a connection or -errno: -ECONNREFUSED without a listener, -EAGAIN if its queue is full, -EPERM if it is
 * another user's. */
int rc_local_connect(struct rc_str name);

/* Wait for a listener of this user. Return 0 or -errno: -ETIMEDOUT after `deadline` (rc_milliseconds). */
int rc_local_await(const char *name, int64_t deadline);

/* Return the text for an error. */
const char *rc_local_error(int rc);

bool rc_local_is_local(int fd);

/* Return whether the peer is this user's. */
bool rc_local_is_own_users(int fd);
