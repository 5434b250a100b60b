/* SPDX-License-Identifier: BSD-3-Clause */
/* protocol.h - what plugin, command and library agree on with rollcall-exchange, which they start.
 *
 *   rollcall-exchange node                                   request.h on standard input
 *   rollcall-exchange server SECONDS CHECK [WATCH JOB NODES SAME]   srun's rendezvous server
 *   rollcall-exchange store                                  a server for values alone
 */
#ifndef ROLLCALL_RENDEZVOUS_PROTOCOL_H
#define ROLLCALL_RENDEZVOUS_PROTOCOL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"
#include "resolve/option.h"

#define RC_EXCHANGE        "rollcall-exchange"
#define RC_EXCHANGE_NODE   "node"
#define RC_EXCHANGE_SERVER "server"
#define RC_EXCHANGE_STORE  "store"

/* srun's server inherits its listening socket, and a pipe whose other end srun holds. */
enum { RC_SERVER_LISTENER = 3, RC_SERVER_LIFE = 4, RC_SERVER_ARGUMENTS = 8 };

/* The variable with its token: on a command line every user could read it. */
#define RC_SERVER_TOKEN "ROLLCALL_TOKEN"

/* Asks for the roll as it is now. The reply has all entries in the order in which
 * they came, a blank line behind each. */
#define RC_SERVER_QUESTION "question=roll\n"

/* A server's reply to who waits for one, where it needs the descriptor for others. A question to
 * the store is asked again as it was; a node, whose entry is kept, asks for the answer alone. */
#define RC_SERVER_AGAIN  "again=1\n"
#define RC_SERVER_ANSWER "question=answer\n"

struct rc_server_settings {
    uint32_t seconds; /* it waits for the last node, after the first */
    enum rc_check check;
    uint32_t watch_seconds; /* 0: it does not watch who joins */
    uint32_t job;
    uint32_t nodes;     /* of the step; 0: not known */
    enum rc_check same; /* what a node does that is not like the others */
};

/* The program's arguments, from its name on, NULL behind the last; text of the
 * arena. False where there is no room. */
bool rc_server_settings_write(const struct rc_server_settings *settings, struct rc_arena *arena,
                              const char *argv[RC_SERVER_ARGUMENTS + 1]);

/* Returns false, and leaves *settings, for malformed arguments. */
bool rc_server_settings_read(int argc, char *const *argv, struct rc_server_settings *settings);

#endif
