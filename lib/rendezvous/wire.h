/* SPDX-License-Identifier: BSD-3-Clause */
/* wire.h - one message, its token, an endpoint, a listener, and what starts rollcall-exchange. */
#pragma once

#include "base/env.h"
#include "base/text.h"
#include "resolve/options.h"

/* One message on a stream: a line that says whose it is and how long, then the text.
 *
 *   rollcall 1 0123456789abcdef0123456789abcdef 312\n
 *   version=0.1.0\n...
 *
 * The number is the wire's version: another one where a text has a meaning that the release before does not know.
 * Two releases of different versions say so, and all nodes start or none. For that these keep their form in every
 * version: the head, the common names of an entry (roll.h), an answer with stop alone or nothing, failed=WHY,
 * reached=, and the words RC_SERVER_... below. tests/vectors/wire-1 has a conversation of this version.
 * The token is the launch's own: a message without it is not read, and an
 * answer without it is not believed. A reader takes no more memory
 * than the head needs until the token was right. */

enum {
    RC_WIRE_TOKEN = 32, /* characters: 128 bits in hexadecimal */
    RC_WIRE_HEAD_MAX = 64,
    RC_WIRE_BODY_MAX = 65536,
    RC_WIRE_ROLL_MAX = 1 << 28, /* of a whole roll, which a server tells who asks it */
};

/* A message that is being read. Zero it but for `limit` to begin, rc_wire_free to end. */
struct rc_wire {
    uint32_t limit; /* bytes of a body */
    char head[RC_WIRE_HEAD_MAX];
    size_t head_used;
    bool is_foreign; /* of another version */
    char *body;      /* NUL-terminated once it is whole; NULL until the head was right */
    size_t size;
    size_t used;
};

enum rc_wire_state { RC_WIRE_MORE, RC_WIRE_WHOLE, RC_WIRE_WRONG };

/* Reads what there is from a non-blocking socket. WRONG: another token, no head
 * of ours, too long, ended too early, out of memory; the stream is of no use then. */
enum rc_wire_state rc_wire_read(struct rc_wire *wire, int fd, const char *token);

struct rc_str rc_wire_text(const struct rc_wire *wire);
void rc_wire_free(struct rc_wire *wire);

/* The message as it goes over the wire, from malloc, *size bytes. NULL without memory. */
char *rc_wire_pack(const char *token, struct rc_str text, size_t *size);

/* A new token, a NUL after it, from the kernel's random numbers. 0 or -errno. */
int rc_wire_new_token(char token[RC_WIRE_TOKEN + 1]);

/* Whether it has the form of a token. */
bool rc_wire_is_token(struct rc_str text);

/* Waits for one of poll's events, at most until `deadline` (rc_milliseconds). 0 or -ETIMEDOUT. */
int rc_wire_wait(int fd, short events, int64_t deadline);

/* Where a rendezvous server listens, and the token that it wants to see. */

struct rc_endpoint {
    struct rc_str token;
    uint16_t port;
    struct rc_str hosts; /* names or addresses of one host, separated by blanks, in the order to try them */
};

/* "TOKEN PORT HOST..."; false, with *endpoint untouched, where it is not that. */
bool rc_endpoint_read(struct rc_str text, struct rc_endpoint *endpoint);

/* The same text, in the arena; see arena->full. */
const char *rc_endpoint_write(const struct rc_endpoint *endpoint, struct rc_arena *arena);

/* srun's rendezvous server, as the environment of a task names it, and the step
 * that it serves, "JOB.STEP". The arena gets the endpoint's text. False, with *endpoint and *step
 * untouched, where the environment names none. */
bool rc_endpoint_of_srun(const struct rc_env *env, struct rc_endpoint *endpoint, struct rc_str *step,
                         struct rc_arena *arena);

/* Whether the process with this environment belongs to that step, "JOB.STEP". A step inside a task of another one has
 * that one's server in its environment, too. */
bool rc_endpoint_is_own_step(const struct rc_env *env, struct rc_str step);

/* A listening socket at any address of this host, IPv6 and IPv4 where there is
 * IPv6, closed on exec, not blocking, at a port from first to last (0, 0: any), if `left` other ports of these stay
 * free. Its port goes into *port. Return it or -errno. */
int rc_listen(uint16_t first, uint16_t last, uint32_t left, uint16_t *port);

/* What plugin, command and library agree on with rollcall-exchange, which they start. */

#define RC_EXCHANGE         "rollcall-exchange"
#define RC_EXCHANGE_NODE    "node"
#define RC_EXCHANGE_SERVER  "server"
#define RC_EXCHANGE_STORE   "store"
#define RC_EXCHANGE_MONITOR "monitor"

/* The variable with the endpoint of srun's server for the monitor: that of RC_SERVER_TOKEN's reason. */
#define RC_MONITOR_SERVER "ROLLCALL_SERVER"

/* srun's server inherits its listening socket, and a socket whose other end srun holds. */
enum { RC_SERVER_LISTENER = 3, RC_SERVER_LIFE = 4 };

/* The byte that srun may write into it before it ends. */
enum rc_ending {
    RC_ENDED_SOMEHOW = 0,     /* nothing: it was killed */
    RC_ENDED_WELL = 'w',      /* all tasks, with status 0 */
    RC_ENDED_BADLY = 'b',     /* srun has another status */
    RC_ENDED_UNSTARTED = 'u', /* not all tasks had been started */
};

/* The variable with its token: on a command line every user could read it. */
#define RC_SERVER_TOKEN "ROLLCALL_TOKEN"

/* The byte that the server writes into that socket when a failure is to end the step; srun sends it back. */
#define RC_LIFE_FAILED 'f'

/* The byte that srun writes when Slurm has started all tasks. */
#define RC_LIFE_STARTED 's'

/* Asks for the roll as it is now. The reply has all entries in the order in which
 * they came, a blank line after each. */
#define RC_SERVER_QUESTION "question=roll\n"

/* From a node whose tasks take no part; it asks for nothing, and the reply is empty. A line node= follows, as in an
 * entry. */
#define RC_SERVER_GREETING "question=none\n"

/* A task of so many has reached init_process_group, "3 4" (server.h). */
#define RC_SERVER_REACHED "reached="

/* A process of a task ends by an exception (server.h). */
#define RC_SERVER_RAISED "raised="

/* From a node: a line about itself, which the server prints once for all nodes that send the same (server.h). The reply
 * is empty. */
#define RC_SERVER_REPORTED "reported="

/* From a node of the step: it has received a signal; its first task has failed, without one before (spank/ending.c).
 * The reply is empty; to the latter it is sent when srun knows that the step is to end. */
#define RC_SERVER_STATE     "step="
#define RC_SERVER_SIGNALLED RC_SERVER_STATE "signalled\n"
#define RC_SERVER_FAILED    RC_SERVER_STATE "failed\n"

/* A server's reply to who waits for one, where it needs the descriptor for others. A question to
 * the store is asked again as it was; a node, whose entry is kept, asks for the answer alone. */
#define RC_SERVER_AGAIN  "again=1\n"
#define RC_SERVER_ANSWER "question=answer\n"

/* The server waits deadline= seconds for the next node after each arrival, and that many times as long in all. Nodes of
 * a large step start minutes apart: prologs, images. */
enum { RC_MEETING_MOST = 6 };

struct rc_server_settings {
    uint32_t seconds; /* it waits for the next node after each */
    enum rc_check check;
    uint32_t watch_seconds; /* after the first task it names those that have not joined; 0: it does not watch */
    uint32_t job;
    uint32_t nodes;      /* of the step, each of which calls; 0: none need call */
    enum rc_check same;  /* what a node does that is not like the others */
    struct rc_str hosts; /* the nodes' names; empty where they are not known */
};

/* As one argument, "seconds=10 check=stop ..."; NULL where there is no room. */
const char *rc_server_settings_write(const struct rc_server_settings *settings, struct rc_arena *arena);

/* Returns false, and leaves *settings, for a malformed argument. */
bool rc_server_settings_read(struct rc_str text, struct rc_server_settings *settings);
