/* SPDX-License-Identifier: BSD-3-Clause */
/* visit.h - a node at the desk: hands in its entry, comes back with the answer. */
#ifndef ROLLCALL_RENDEZVOUS_CLIENT_H
#define ROLLCALL_RENDEZVOUS_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rendezvous/endpoint.h"

enum { RC_VISIT_HOSTS_MAX = 8 };

struct rc_reply {
    char *text; /* from malloc, with a NUL behind it: the caller frees it */
    size_t size;
};

/* Hands in a text. Of the desk's hosts the first RC_VISIT_HOSTS_MAX count. Retries
 * for half of the time while nobody answers there, for a moment only where a host
 * refuses. 0, or -errno: -ETIMEDOUT where the deadline passed, -ECONNREFUSED where
 * the desk is gone, -EPROTO for an answer that is none. *heard, which may be NULL,
 * then says whether the desk may have the text, and count on this node, all the
 * same. Thread safe. */
int rc_visit(const struct rc_meeting *desk, struct rc_str text, uint32_t milliseconds, struct rc_reply *reply,
             bool *heard);

#endif
