/* SPDX-License-Identifier: BSD-3-Clause */
/* server.h - the rendezvous server of a launch: takes one entry from each node, gives all the same answer.
 *
 * As long as it runs it also keeps the store of the launch's tasks (store.h), and
 * counts which tasks have reached init_process_group (arrivals.h).
 *
 * A listening TCP socket, a token that every message must carry (wire.h), and
 * one loop. A connection without the token costs a few hundred bytes and a
 * descriptor until it has been silent for RC_CONNECTIONS_PATIENCE seconds. Where there are
 * fewer descriptors than clients, those who wait for a reply are asked to come again
 * (connections.h). Entries that cannot be read are refused.
 */
#ifndef ROLLCALL_RENDEZVOUS_SERVER_H
#define ROLLCALL_RENDEZVOUS_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/message.h"
#include "roll/roll.h"

struct rc_server;

/* listener: of rc_listen, owned by the server from now on; token is copied.
 * NULL without memory. */
struct rc_server *rc_server_create(int listener, const char *token);
void rc_server_destroy(struct rc_server *server);

/* The entry of the server's own node, which has no connection. False if it cannot be read. */
bool rc_server_add(struct rc_server *server, struct rc_str entry);

/* Called with each message that the server itself has, while it runs. */
typedef void rc_server_say(void *more, enum rc_message_id id, const char *text);

/* So many seconds after the first task has reached init_process_group, `say` gets
 * the names of those that have not (arrivals.h). job: Slurm's. */
void rc_server_watch(struct rc_server *server, uint32_t seconds, uint32_t job, rc_server_say *say, void *more);

/* Where no client has sent the token so many seconds after the server was made, or by the end of its life,
 * `say` of rc_server_watch gets RC621, once. */
void rc_server_expect(struct rc_server *server, uint32_t seconds);

/* Makes an answer of the entries; *complete says whether those of all nodes are
 * there. Returns its text, which must live until the server is destroyed. */
typedef struct rc_str rc_server_decide(void *more, const struct rc_roll *rolls, size_t count, bool complete);

/* Takes entries until there are as many as they say that there are nodes, but
 * no longer than `seconds` after the first of them; then has an answer made and
 * gives it to all. Then, with a descriptor `life`, goes on giving the same
 * answer to latecomers until that is closed at its other end (before there is
 * an answer, too, that ends everything); without (-1) returns when all have
 * their answer. 0, or -errno for what makes a server impossible (out of descriptors). */
int rc_server_run(struct rc_server *server, uint32_t seconds, int life, rc_server_decide *decide, void *more);

#endif
