/* SPDX-License-Identifier: BSD-3-Clause */
/* client.h - one request to a rendezvous server, and its reply. */
#ifndef ROLLCALL_RENDEZVOUS_CLIENT_H
#define ROLLCALL_RENDEZVOUS_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rendezvous/endpoint.h"

enum { RC_CLIENT_HOSTS_MAX = 8 };

/* How long a client that was asked to come again stays away. It doubles each time, so that thousands of tasks that
 * wait for minutes do not keep the server busy. A node has to hear of the server's decision within a second or so. */
enum {
    RC_CLIENT_AGAIN_NODE_MS = 100,
    RC_CLIENT_AGAIN_NODE_MAX_MS = 800,
    RC_CLIENT_AGAIN_TASK_MS = 400,
    RC_CLIENT_AGAIN_TASK_MAX_MS = 12800,
};

struct rc_reply {
    char *text; /* from malloc, with a NUL behind it: the caller frees it */
    size_t size;
};

/* Sends a text and waits for the reply. Tries the server's first RC_CLIENT_HOSTS_MAX hosts,
 * again and again for half of the time, but only for a moment where a host refuses.
 * Comes again where the server asks for that, as often as the time allows.
 * Returns 0 or -errno: -ETIMEDOUT when the deadline has passed, -ECONNREFUSED when the
 * server has ended, -EPROTO for a malformed reply. `heard` may be NULL. After an error
 * *heard says whether the server may have the text, and so count on this node. Thread safe. */
int rc_client_request(const struct rc_endpoint *server, struct rc_str text, uint32_t milliseconds,
                      struct rc_reply *reply, bool *heard);

#endif
