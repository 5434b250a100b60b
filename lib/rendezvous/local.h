/* SPDX-License-Identifier: BSD-3-Clause */
/* local.h - sockets between the processes of one user on one node.
 *
 * They have names of the kernel's abstract namespace: no file, no access from another node, and no trace when the
 * listening process ends. Each side verifies the other's user (SO_PEERCRED), so the token is no secret there. */
#pragma once

#include "base/text.h"

enum { RC_LOCAL_NAME = 108 }; /* bytes of an address without its leading NUL */

/* The token of all local servers. */
#define RC_LOCAL_TOKEN "00000000000000000000000000000000"

/* The host of a local server's endpoint is this and its name. */
#define RC_LOCAL_HOST '@'

/* rollcall/UID/SCOPE/NODE; the scope's hash if it is long, or has a blank. */
void rc_local_name(const char *scope, uint32_t node, char name[RC_LOCAL_NAME]);

/* "TOKEN 1 @NAME" */
const char *rc_local_endpoint(const char *name, struct rc_arena *arena);

/* Return a listening socket, not blocking, closed on exec; or -errno: -EADDRINUSE if the name is taken. */
int rc_local_listen(const char *name);

/* Return a connection, not blocking, closed on exec; or -errno: -ECONNREFUSED if no process listens, -EAGAIN if too
 * many call, -EPERM if the listening process is another user's. */
int rc_local_connect(struct rc_str name);

/* Wait until a process of this user listens. Return 0 or -errno: -ETIMEDOUT if none does by `deadline`
 * (rc_milliseconds). */
int rc_local_await(const char *name, int64_t deadline);

/* What to print of an error of these. */
const char *rc_local_error(int rc);

bool rc_local_is_local(int fd);

/* Return whether the other end is a process of this user. */
bool rc_local_is_own_users(int fd);
