/* SPDX-License-Identifier: BSD-3-Clause */
/* client.h - one request to a server, and the store of a launch. */
#pragma once

#include "rendezvous/store.h"
#include "rendezvous/wire.h"

/* One request to a rendezvous server, and its reply. */

/* A connection to each of so many hosts is begun that much after the one before, and the first that is there is taken:
 * seven that packets never reach cost 0.7 s. */
enum { RC_CLIENT_HOSTS_MAX = 8, RC_CLIENT_STAGGER_MS = 100 };

/* How long a client that was asked to come again stays away. It doubles each time, so that thousands of tasks that
 * wait for minutes do not keep the server busy. A node has to hear of the server's decision within a second or so. */
enum {
    RC_CLIENT_AGAIN_NODE_MS = 100,
    RC_CLIENT_AGAIN_NODE_MAX_MS = 800,
    RC_CLIENT_AGAIN_TASK_MS = 400,
    RC_CLIENT_AGAIN_TASK_MAX_MS = 12800,
};

struct rc_reply {
    char *text; /* from malloc, with a NUL after it: the caller frees it */
    size_t size;
};

/* What rollcall-exchange does in a request, and no other process: a resolver may take any time, and who waits for
 * that program ends it. */
struct rc_client_part {
    bool by_name;         /* a host that is a name is looked up, too */
    void (*begins)(void); /* called before the text is sent for the first time */
    uint32_t reach;       /* milliseconds in which to reach it; 0: half of the time */
    bool heard;           /* after an error: whether the server may have the text, and so count on this node */
};

/* Sends a text and waits for the reply. Tries those of the server's first RC_CLIENT_HOSTS_MAX hosts that are addresses,
 * side by side, again and again for half of the time, but only for a moment if a host refuses.
 * Comes again where the server asks for that, as often as the time allows.
 * Returns 0 or -errno: -ETIMEDOUT when the deadline has passed, -ECONNREFUSED when the
 * server has ended, -EPROTO for a malformed reply. `part` may be NULL. Thread safe. */
int rc_client_request(const struct rc_endpoint *server, struct rc_str text, uint32_t milliseconds,
                      struct rc_reply *reply, struct rc_client_part *part);

/* A task puts values into the store of its launch, and reads the others' (store.h).
 *
 * Each of these is one request (rc_client_request): a connection that is closed again after
 * it. They return -errno as rc_client_request does, and -EINVAL for a key or a size that
 * cannot be, -ENOSPC where the server has no room. Thread safe.
 *
 * A task may run two programs one after the other, and what the first of them
 * has put stays there: a key that is used at each start needs a number of the
 * start. rc_store_client_count gives one, another one to each that asks. */

/* Puts a value, unless there is one: 1 where it is this one that is there now,
 * 0 where it is another, which `standing` then gets as rc_store_client_get's `value` does;
 * it may be NULL. */
int rc_store_client_put(const struct rc_endpoint *server, const char *key, struct rc_str value, uint32_t milliseconds,
                        void *standing, size_t room, size_t *standing_size);

/* Waits until there is a value, -ETIMEDOUT if there is none by then. Writes
 * its first `room` bytes, and into *size how many it has. 0 or -errno. */
int rc_store_client_get(const struct rc_endpoint *server, const char *key, uint32_t milliseconds, void *value,
                        size_t room, size_t *size);

/* How often the key was counted before; counts it once more. 0 or -errno. */
int rc_store_client_count(const struct rc_endpoint *server, const char *key, uint32_t milliseconds, uint64_t *before);
