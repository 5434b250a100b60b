/* SPDX-License-Identifier: BSD-3-Clause */
/* server.h - the server of a launch: gathers, and the lines that it prints. */
#pragma once

#include "rendezvous/gather.h"
#include "rendezvous/notices.h"

/* One loop (connections.h) for gathers (gather.h) and the messages of wire.h. */

struct rc_server;

/* Take over the listeners (-1: none), copy the token. Return 0 or -errno. */
int rc_server_create(const int listener[RC_LISTENERS_MAX], const char *token, struct rc_server **created);
void rc_server_destroy(struct rc_server *server);

/* Add a member without a connection. */
void rc_server_gather(struct rc_server *server, const struct rc_gather_request *request);

/* Return the gather of that name, or NULL. */
struct rc_gather *rc_server_find(const struct rc_server *server, const char *name);

/* Call `say` with lines that the settings enable, `silence` seconds after the first node (muster.h), and at the end.
 * The settings' hosts must outlive the server. */
void rc_server_watch(struct rc_server *server, const struct rc_server_settings *settings, uint32_t silence,
                     rc_server_say *say);

/* Call before missing nodes are printed elsewhere (RC601). Return whether they were printed already. */
bool rc_server_name_missing(struct rc_server *server);

/* The finished roll call. */
struct rc_roll_call {
    const struct rc_gather *gather;
    const struct rc_server_settings *settings; /* seconds and checks of the latest caller */
    const char *foreign;                       /* "2, at 10.0.0.7": a node with another wire version; or NULL */
};

/* Return the answer, which must be to stop if there is a foreign node. */
typedef struct rc_str rc_server_decide(void *more, const struct rc_roll_call *call);

/* RC608: a node has another wire version. */
#define RC_FOREIGN      "a node uses version %s, of the protocol, and rollcall " PACKAGE_VERSION " here another one; "
#define RC_FOREIGN_CURE "install the same version of rollcall on all nodes and login hosts"

/* Serve until srun closes the socket `srun`; if -1, until `grace` after the end of the settings' owner; without both,
 * serve one roll call and return when all have the reply. If `decide` is NULL, the roll call is an ordinary gather.
 * Return 0 or -errno. */
int rc_server_run(struct rc_server *server, int srun, const struct rc_server_settings *settings,
                  rc_server_decide *decide, void *more);
