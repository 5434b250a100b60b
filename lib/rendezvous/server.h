/* SPDX-License-Identifier: BSD-3-Clause */
/* server.h - the server of a launch: gathers, and the lines that it prints. */
#pragma once

#include "rendezvous/gather.h"
#include "rendezvous/notices.h"

/* Listening sockets, a token that every message must carry (wire.h), and one loop (connections.h). It serves `gather`
 * and `attend` (gather.h), and takes the words of wire.h. */

struct rc_server;

/* listener: of rc_listen or rc_local_listen, or -1; owned by the server from now on. token is copied. Return 0 or
 * -errno. */
int rc_server_create(const int listener[RC_LISTENERS_MAX], const char *token, struct rc_server **created);
void rc_server_destroy(struct rc_server *server);

/* Add a member that has no connection: the server's own process. */
void rc_server_gather(struct rc_server *server, const struct rc_gather_request *request);

/* The gather of that name; NULL if there is none. */
struct rc_gather *rc_server_find(const struct rc_server *server, const char *name);

/* `say` gets the names of tasks that have not reached init_process_group, of the process that failed first, and of
 * nodes that have not called, as the settings say, whose hosts must live as long: `silence` seconds after the first
 * node (muster.h), and once more at the end of the server's life. */
void rc_server_watch(struct rc_server *server, const struct rc_server_settings *settings, uint32_t silence,
                     rc_server_say *say);

/* Call it before the missing nodes are named elsewhere (RC601). Return whether they have been named already. */
bool rc_server_name_missing(struct rc_server *server);

/* The gather `roll` when it ends. */
struct rc_roll_call {
    const struct rc_gather *gather;
    const struct rc_server_settings *settings; /* seconds and checks, of the latest who holds a roll call */
    const char *foreign; /* "2, at 10.0.0.7": a node of another version of the wire, for RC_FOREIGN; NULL: none */
};

/* Make the answer to the roll call, which must be to stop if there is a foreign node. Return its text. */
typedef struct rc_str rc_server_decide(void *more, const struct rc_roll_call *call);

/* RC608 of a node that speaks another version of the wire. */
#define RC_FOREIGN      "a node uses version %s, of the protocol, and rollcall " PACKAGE_VERSION " here another one; "
#define RC_FOREIGN_CURE "install the same version of rollcall on all nodes and login hosts"

/* Serve until srun has ended, at the other end of a socket; or if `srun` is -1, until the grace after the end of the
 * settings' owner. With neither, serve one roll call, and return when all have their reply; who comes late then, or
 * again, cannot connect. `decide` NULL: a roll call gets the values, as any gather. Return 0 or -errno. */
int rc_server_run(struct rc_server *server, int srun, const struct rc_server_settings *settings,
                  rc_server_decide *decide, void *more);
