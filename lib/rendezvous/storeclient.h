/* SPDX-License-Identifier: BSD-3-Clause */
/* storeclient.h - a task puts values into the store of its launch, and reads the others' (store.h).
 *
 * Each of these is one request (client.h): a connection that is closed again behind
 * it. They return -errno as rc_client_request does, and -EINVAL for a key or a size that
 * cannot be, -ENOSPC where the server has no room. Thread safe.
 *
 * A task may run two programs one after the other, and what the first of them
 * has put stays there: a key that is used at each start needs a number of the
 * start, which rc_store_client_count gives.
 */
#ifndef ROLLCALL_RENDEZVOUS_STORECLIENT_H
#define ROLLCALL_RENDEZVOUS_STORECLIENT_H

#include <stddef.h>
#include <stdint.h>

#include "rendezvous/endpoint.h"
#include "rendezvous/store.h"

/* Puts a value, unless there is one: 1 where it is this one that stands there now,
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

#endif
