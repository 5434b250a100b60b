/* SPDX-License-Identifier: BSD-3-Clause */
/* serverchild.h - a real server in a process of its own, for the tests of those who connect to it. */
#pragma once

#include <sys/resource.h>
#include <sys/types.h>

#include "rendezvous/server.h"
#include "unit.h"

#define SERVER_TOKEN "0123456789abcdef0123456789abcdef"

enum {
    SERVER_GUARD = 100, /* seconds after which a test that hangs has failed */
    SERVER_ENTRY = 256, /* bytes of server_entry */
};

/* EACH and MOST of a request whose time is not over before. */
#define SERVER_LONG "600000 600000"

struct server_child {
    struct rc_endpoint endpoint;
    pid_t pid;
    int life;    /* a socket to it, as srun's: it ends when this is closed; -1: it ends after the roll call */
    int decided; /* a line "COUNT whole|part[ foreign]" for each roll call that it decided */
    int said;    /* a line "RC707 TEXT" for each message */
};

/* 0: the default. */
struct server_start {
    bool ends_by_itself;
    const char *local;        /* it listens at this name instead (local.h) */
    struct rc_str own;        /* request of its own process */
    size_t padding;           /* bytes after each answer */
    bool stops;               /* before it decides, until it gets SIGCONT */
    rlim_t descriptors;       /* that are free, beside one for its set of events */
    uint32_t watch;           /* rc_server_watch: after so many seconds it names missing tasks */
    uint32_t silence;         /* likewise nodes, of n1 and n2 */
    rc_server_decide *decide; /* default: the one below */
    void *more;               /* of `decide` */
};

/* Its answer to the roll call is "answer=1\nport=COUNT\n", and the padding. */
struct server_child server_open(struct server_start start);

/* It has decided one roll call more: "2 whole\n". */
void server_decides(const struct server_child *server, const char *expected);

/* The next message begins with this text. */
void server_says(const struct server_child *server, const char *expected);

/* It has decided and said no more than what was read, it ended well, and it left no descriptor. */
void server_close(struct server_child *server);

/* The text, sent by a client, gets this reply. */
void server_answers(const struct server_child *server, const char *text, const char *answer);

/* A connection to it; flags: SOCK_NONBLOCK or 0, room: of what it receives, 0: as usual. */
int server_connect(const struct server_child *server, int flags, int room);

/* A connection that has sent a message with this text. */
int server_send(const struct server_child *server, const char *text);

/* The same; the server has handled the message. */
int server_tell(const struct server_child *server, const char *text);

/* All that comes over a connection until the server hangs up, with a NUL after it. Closes it; returns the bytes. */
size_t server_hears(int fd, char *text, size_t size);

/* The only message that comes over a connection has this text; NULL: none comes. */
void server_replies(int fd, const char *text);

/* A request of the roll call, of a node with one task; in `text`. */
const char *server_entry(char text[SERVER_ENTRY], unsigned node, unsigned nodes);
