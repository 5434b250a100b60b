/* SPDX-License-Identifier: BSD-3-Clause */
/* client.h - one request to a rendezvous server, and its reply. */
#ifndef ROLLCALL_RENDEZVOUS_CLIENT_H
#define ROLLCALL_RENDEZVOUS_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rendezvous/endpoint.h"

enum { RC_CLIENT_HOSTS_MAX = 8 };

struct rc_reply {
    char *text; /* from malloc, with a NUL behind it: the caller frees it */
    size_t size;
};

/* Hands in a text. Of the server's hosts the first RC_CLIENT_HOSTS_MAX count. Retries
 * for half of the time while nobody answers there, for a moment only where a host
 * refuses. 0, or -errno: -ETIMEDOUT where the deadline passed, -ECONNREFUSED where
 * the server is gone, -EPROTO for an answer that is none. *heard, which may be NULL,
 * then says whether the server may have the text, and count on this node, all the
 * same. Thread safe. */
int rc_client_request(const struct rc_endpoint *server, struct rc_str text, uint32_t milliseconds,
                      struct rc_reply *reply, bool *heard);

#endif
