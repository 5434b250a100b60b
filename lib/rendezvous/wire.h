/* SPDX-License-Identifier: BSD-3-Clause */
/* wire.h - messages, tokens, endpoints, listeners; arguments of rollcall-exchange. */
#pragma once

#include "base/env.h"
#include "base/text.h"
#include "resolve/options.h"

/* A message on a stream: version, token and size in a line, then the text.
 *
 *   rollcall 1 0123456789abcdef0123456789abcdef 312\n
 *   gather roll 0 2 ...\n...
 *
 * The version changes with the meaning of any text; another version gets RC_SERVER_REFUSED, and no task starts.
 * Messages and answers without the launch's token are dropped, before anything is allocated. */

enum {
    RC_WIRE_TOKEN = 32, /* characters: 128 bits in hexadecimal */
    RC_WIRE_HEAD_MAX = 64,
    RC_WIRE_BODY_MAX = 65536,          /* answer to the roll call */
    RC_WIRE_REQUEST_MAX = 1025 * 1024, /* 1 MiB of value, and the head */
    RC_WIRE_REPLY_MAX = 1 << 28,
};

/* A message being read. Zero it except `limit`; end with rc_wire_free. */
struct rc_wire {
    uint32_t limit; /* bytes of the body */
    char head[RC_WIRE_HEAD_MAX];
    size_t head_used;
    uint32_t version; /* of the sender */
    bool is_foreign;  /* not this program's version */
    char *body;       /* NUL-terminated when complete; NULL until the head is valid */
    size_t size;
    size_t used;
};

enum rc_wire_state { RC_WIRE_MORE, RC_WIRE_WHOLE, RC_WIRE_WRONG };

/* Read from a non-blocking socket. Return WRONG for a bad token or head, an early end, an oversized body, or no
 * memory. */
enum rc_wire_state rc_wire_read(struct rc_wire *wire, int fd, const char *token);

struct rc_str rc_wire_text(const struct rc_wire *wire);
void rc_wire_free(struct rc_wire *wire);

/* Write the head for `size` bytes. Return its length. */
size_t rc_wire_head(const char *token, size_t size, char head[RC_WIRE_HEAD_MAX]);

/* Return head and text, *size bytes, to be freed; or NULL. */
char *rc_wire_pack(const char *token, struct rc_str text, size_t *size);

/* Generate a random NUL-terminated token. Return 0 or -errno. */
int rc_wire_new_token(char token[RC_WIRE_TOKEN + 1]);

/* Return whether `text` has the form of a token. */
bool rc_wire_is_token(struct rc_str text);

/* Wait for `events` until `deadline` (rc_milliseconds). Return 0 or -ETIMEDOUT. */
int rc_wire_wait(int fd, short events, int64_t deadline);

/* A rendezvous server. */

struct rc_endpoint {
    struct rc_str token;
    uint16_t port;
    struct rc_str hosts; /* names or addresses of one host, in the order to try them */
};

/* Parse "TOKEN PORT HOST...". Return false, with *endpoint unchanged, if malformed. */
bool rc_endpoint_read(struct rc_str text, struct rc_endpoint *endpoint);

/* Write the same text; check arena->full. */
const char *rc_endpoint_write(const struct rc_endpoint *endpoint, struct rc_arena *arena);

/* Find srun's server and its step, "JOB.STEP", in a task's environment. The arena backs *endpoint. Return false, with
 * both unchanged, if there is none. */
bool rc_endpoint_of_srun(const struct rc_env *env, struct rc_endpoint *endpoint, struct rc_str *step,
                         struct rc_arena *arena);

/* Return whether `env` belongs to `step`: nested steps inherit server variables. */
bool rc_endpoint_is_own_step(const struct rc_env *env, struct rc_str step);

/* Listen on all addresses (IPv6 and IPv4) at a port from first to last (0, 0: any), if `left` other ports of the range
 * are free. Return the socket, non-blocking, with its port in *port, or -errno. */
int rc_listen(uint16_t first, uint16_t last, uint32_t left, uint16_t *port);

/* Arguments and variables of rollcall-exchange. */

#define RC_EXCHANGE           "rollcall-exchange"
#define RC_EXCHANGE_SERVER    "server"
#define RC_EXCHANGE_INVENTORY "inventory"
#define RC_EXCHANGE_MONITOR   "monitor"

/* Printed as "server=taken" if another process has the local name. */
#define RC_SERVER_TAKEN "taken"

/* The endpoint of srun's server, for the monitor. */
#define RC_MONITOR_SERVER "ROLLCALL_SERVER"

/* The server's listener, and a socket to srun. */
enum { RC_SERVER_LISTENER = 3, RC_SERVER_LIFE = 4 };

/* Written to this socket by srun before it ends. */
enum rc_ending {
    RC_ENDED_SOMEHOW = 0, /* srun was killed */
    RC_ENDED_WELL = 'w',  /* status 0 */
    RC_ENDED_BADLY = 'b', /* another status */
};

/* The token: every user can read a command line. */
#define RC_SERVER_TOKEN "ROLLCALL_TOKEN"

/* Written to this socket by the server when a failure must end the step; srun echoes it. */
#define RC_LIFE_FAILED 'f'

/* From a node: a line, printed once for all nodes (notices.h). The reply is empty. */
#define RC_SERVER_REPORTED "reported="

/* From a node: the step received a signal; or a task failed without one (spank/ending.c). The reply is empty,
 * after `failed` when srun knows that the step must end. */
#define RC_SERVER_STATE     "step="
#define RC_SERVER_SIGNALLED RC_SERVER_STATE "signalled\n"
#define RC_SERVER_FAILED    RC_SERVER_STATE "failed\n"

/* From a process of RANK 0: settings. If the owner has ended, theirs succeeds it. With `seconds` they apply to the roll
 * call. The reply is empty. */
#define RC_SERVER_SETTINGS "settings "

/* The reply to an unknown message. */
#define RC_SERVER_REFUSED "refused\n"

/* The server waits deadline= seconds after each arrival, and this many times as long in total: prologs and images delay
 * nodes by minutes. */
enum { RC_MEETING_MOST = 6 };

struct rc_server_settings {
    uint32_t seconds; /* to wait after each arrival */
    enum rc_check check;
    enum rc_check same;     /* action for a mismatched node */
    uint32_t watch_seconds; /* when to print the tasks that have not joined; 0: off */
    uint32_t job;
    uint32_t nodes;      /* of the step; 0: none need call */
    struct rc_str hosts; /* empty: unknown */
    uint32_t owner;      /* process; 0: srun */
    uint32_t grace;      /* milliseconds after the owner's end */
    struct rc_str local; /* local name (local.h); empty: none */
    uint32_t pmix;       /* 1: publish the endpoint over PMIx */
};

/* Return "seconds=10 check=stop ..."; NULL without room. */
const char *rc_server_settings_write(const struct rc_server_settings *settings, struct rc_arena *arena);

/* Return false, with *settings unchanged, if malformed. */
bool rc_server_settings_read(struct rc_str text, struct rc_server_settings *settings);

/* Return the hosts if they match the number of nodes; else RC_ABSENT. */
struct rc_str rc_hosts_of(const struct rc_server_settings *settings);
