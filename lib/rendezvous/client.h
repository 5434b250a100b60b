/* SPDX-License-Identifier: BSD-3-Clause */
/* client.h - one request to a server. */
#pragma once

#include "rendezvous/gather.h"
#include "rendezvous/wire.h"

/* A connection to each of so many hosts is begun that much after the one before, and the first that is there is taken:
 * seven that packets never reach cost 0.7 s. */
enum { RC_CLIENT_HOSTS_MAX = 8, RC_CLIENT_STAGGER_MS = 100 };

struct rc_reply {
    char *text; /* from malloc, with a NUL after it: the caller frees it */
    size_t size;
};

/* How to reach the server, and what became of it. */
struct rc_client_part {
    uint32_t reach; /* milliseconds in which to reach it; 0: half of the time */
    bool heard;     /* after an error: whether the server may have the text, and so count on this member */
};

/* Send a text and wait for the reply. Try those of the server's first RC_CLIENT_HOSTS_MAX hosts that are addresses,
 * side by side, again and again for half of the time, but only for a moment if a host refuses. Names are not looked up:
 * a resolver may take any time, and runs in no child of slurmstepd.
 * Return 0 or -errno: -ETIMEDOUT if the deadline has passed, -ECONNREFUSED if the
 * server has ended, -EPROTO for a malformed reply or none, -EPROTONOSUPPORT from a server of another release.
 * `part` may be NULL. Thread safe. */
int rc_client_request(const struct rc_endpoint *server, struct rc_str text, uint32_t milliseconds,
                      struct rc_reply *reply, struct rc_client_part *part);

/* Whether this error of a request is that of a server that is not there any more. */
bool rc_client_has_ended(int rc);

/* Send a request whose reply is empty. 0 or -errno. */
int rc_client_tell(const struct rc_endpoint *server, struct rc_str text, uint32_t milliseconds);

/* Take part in a gather, and wait for its reply for so many milliseconds. Returns as rc_client_request. */
int rc_client_gather(const struct rc_endpoint *server, const struct rc_gather_request *request, uint32_t milliseconds,
                     struct rc_reply *reply, struct rc_client_part *part);

/* Write a text that no other process has, to claim names for. 0 or -errno. */
enum { RC_CLIENT_SELF = RC_WIRE_TOKEN + 1 };
int rc_client_self(char who[RC_CLIENT_SELF]);

/* Claim a name for `who`: 1 if it has it now, 0 if another one has; or -errno. */
int rc_client_claim(const struct rc_endpoint *server, const char *name, struct rc_str who, uint32_t milliseconds);

/* Claim the first of NAME/0, NAME/1 and so on that nobody else has, and write its number. 0 or -errno. */
int rc_client_number(const struct rc_endpoint *server, const char *name, struct rc_str who, uint32_t milliseconds,
                     uint64_t *number);
