/* SPDX-License-Identifier: BSD-3-Clause */
/* client.h - requests to a server. */
#pragma once

#include "rendezvous/gather.h"
#include "rendezvous/wire.h"

/* Try hosts in parallel, started at this interval: seven unreachable ones cost 0.7 s. */
enum { RC_CLIENT_HOSTS_MAX = 8, RC_CLIENT_STAGGER_MS = 100 };

struct rc_reply {
    char *text; /* NUL-terminated; free it */
    size_t size;
};

/* Limits and outcome of a request. */
struct rc_client_part {
    uint32_t reach; /* milliseconds to connect; 0: half of the time */
    bool heard;     /* after an error: the server may have the text */
};

/* Send a text and wait for the reply. Try the first RC_CLIENT_HOSTS_MAX hosts for half of the time, or briefly if one
 * refuses. Skip names: a resolver is slow, and fails in a child of slurmstepd.
 * Return 0 or -errno: -ETIMEDOUT, -ECONNREFUSED if the server ended, -EPROTO for a malformed or missing reply,
 * -EPROTONOSUPPORT from another release. `part` may be NULL. Thread safe. */
int rc_client_request(const struct rc_endpoint *server, struct rc_str text, uint32_t milliseconds,
                      struct rc_reply *reply, struct rc_client_part *part);

/* Return whether the error means that the server has ended. */
bool rc_client_has_ended(int rc);

/* Send a request whose reply is empty. Return 0 or -errno. */
int rc_client_tell(const struct rc_endpoint *server, struct rc_str text, uint32_t milliseconds);

/* Join a gather and wait for its reply. Return as rc_client_request. */
int rc_client_gather(const struct rc_endpoint *server, const struct rc_gather_request *request, uint32_t milliseconds,
                     struct rc_reply *reply, struct rc_client_part *part);

/* Write a unique text for rc_client_claim. Return 0 or -errno. */
enum { RC_CLIENT_SELF = RC_WIRE_TOKEN + 1 };
int rc_client_self(char who[RC_CLIENT_SELF]);

/* Claim a name for `who`. Return 1, 0 if another process has it, or -errno. */
int rc_client_claim(const struct rc_endpoint *server, const char *name, struct rc_str who, uint32_t milliseconds);

/* Claim the first free name of NAME/0, NAME/1, ... and write its number. Return 0 or -errno. */
int rc_client_number(const struct rc_endpoint *server, const char *name, struct rc_str who, uint32_t milliseconds,
                     uint64_t *number);
