/* SPDX-License-Identifier: BSD-3-Clause */
/* wire.h - one message, its token, an endpoint, a listener, and what starts rollcall-exchange. */
#pragma once

#include "base/env.h"
#include "base/text.h"
#include "resolve/options.h"

/* One message on a stream: a line that says whose it is and how long, then the text.
 *
 *   rollcall 1 0123456789abcdef0123456789abcdef 312\n
 *   gather roll 0 2 ...\n...
 *
 * The number is the wire's version: another one if a text means something else than before. A message of another
 * version is answered with RC_SERVER_REFUSED, and no task of the step starts.
 * The token is the launch's own: a message without it is not read, and an
 * answer without it is not believed. A reader takes no more memory
 * than the head needs until the token was right. */

enum {
    RC_WIRE_TOKEN = 32, /* characters: 128 bits in hexadecimal */
    RC_WIRE_HEAD_MAX = 64,
    RC_WIRE_BODY_MAX = 65536,          /* of an answer to the roll call */
    RC_WIRE_REQUEST_MAX = 1025 * 1024, /* a value of 1 MiB, and its head */
    RC_WIRE_REPLY_MAX = 1 << 28,
};

/* A message that is being read. Zero it but for `limit` to begin, rc_wire_free to end. */
struct rc_wire {
    uint32_t limit; /* bytes of a body */
    char head[RC_WIRE_HEAD_MAX];
    size_t head_used;
    uint32_t version; /* of the sender */
    bool is_foreign;  /* it is another one than this program's */
    char *body;       /* NUL-terminated once it is whole; NULL until the head was right */
    size_t size;
    size_t used;
};

enum rc_wire_state { RC_WIRE_MORE, RC_WIRE_WHOLE, RC_WIRE_WRONG };

/* Reads what there is from a non-blocking socket. WRONG: another token, no head
 * of ours, too long, ended too early, out of memory; the stream is of no use then. */
enum rc_wire_state rc_wire_read(struct rc_wire *wire, int fd, const char *token);

struct rc_str rc_wire_text(const struct rc_wire *wire);
void rc_wire_free(struct rc_wire *wire);

/* Write the head of a message of so many bytes. Return its own size. */
size_t rc_wire_head(const char *token, size_t size, char head[RC_WIRE_HEAD_MAX]);

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

#define RC_EXCHANGE           "rollcall-exchange"
#define RC_EXCHANGE_SERVER    "server"
#define RC_EXCHANGE_INVENTORY "inventory"
#define RC_EXCHANGE_MONITOR   "monitor"

/* It prints "server=" and this if another process has its local name, else where it is. */
#define RC_SERVER_TAKEN "taken"

/* The variable with the endpoint of srun's server for the monitor: that of RC_SERVER_TOKEN's reason. */
#define RC_MONITOR_SERVER "ROLLCALL_SERVER"

/* srun's server inherits its listening socket, and a socket whose other end srun holds. */
enum { RC_SERVER_LISTENER = 3, RC_SERVER_LIFE = 4 };

/* The byte that srun writes into it before it ends. */
enum rc_ending {
    RC_ENDED_SOMEHOW = 0, /* nothing: it was killed */
    RC_ENDED_WELL = 'w',  /* with status 0 */
    RC_ENDED_BADLY = 'b', /* with another status */
};

/* The variable with its token: on a command line every user could read it. */
#define RC_SERVER_TOKEN "ROLLCALL_TOKEN"

/* The byte that the server writes into that socket when a failure is to end the step; srun sends it back. */
#define RC_LIFE_FAILED 'f'

/* From a node: a line about itself, which the server prints once for all nodes that send the same (notices.h). The
 * reply is empty. */
#define RC_SERVER_REPORTED "reported="

/* From a node of the step: it has received a signal; its first task has failed, without one before (spank/ending.c).
 * The reply is empty; to the latter it is sent when srun knows that the step is to end. */
#define RC_SERVER_STATE     "step="
#define RC_SERVER_SIGNALLED RC_SERVER_STATE "signalled\n"
#define RC_SERVER_FAILED    RC_SERVER_STATE "failed\n"

/* From a process of RANK 0, the settings with which it would start a server. Their owner owns this one from now on, if
 * the one before has ended. If they have seconds, these and the checks are the roll call's. The reply is empty. */
#define RC_SERVER_SETTINGS "settings "

/* The reply to a message that the server does not understand. */
#define RC_SERVER_REFUSED "refused\n"

/* The server waits deadline= seconds for the next node after each arrival, and that many times as long in all. Nodes of
 * a large step start minutes apart: prologs, images. */
enum { RC_MEETING_MOST = 6 };

struct rc_server_settings {
    uint32_t seconds; /* it waits for the next node after each */
    enum rc_check check;
    enum rc_check same;     /* what a node does that is not like the others */
    uint32_t watch_seconds; /* after the first task it names those that have not joined; 0: it does not watch */
    uint32_t job;
    uint32_t nodes;      /* of the step, each of which calls; 0: none need call */
    struct rc_str hosts; /* the nodes' names; empty if they are not known */
    uint32_t owner;      /* process with which the server ends; 0: srun, from which it inherits its sockets */
    uint32_t grace;      /* milliseconds after the owner's end */
    struct rc_str local; /* name for the processes of its node (local.h); empty: none */
    uint32_t pmix;       /* 1: PMIx tells the other nodes; or 0 */
};

/* As one argument, "seconds=10 check=stop ..."; NULL where there is no room. */
const char *rc_server_settings_write(const struct rc_server_settings *settings, struct rc_arena *arena);

/* Returns false, and leaves *settings, for a malformed argument. */
bool rc_server_settings_read(struct rc_str text, struct rc_server_settings *settings);

/* The hosts, if they are as many as the nodes; else absent. */
struct rc_str rc_hosts_of(const struct rc_server_settings *settings);
