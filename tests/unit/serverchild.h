/* SPDX-License-Identifier: BSD-3-Clause */
/* serverchild.h - a real server in a process of its own, for the tests of those who connect to it. */
#pragma once

#include <sys/resource.h>
#include <sys/types.h>

#include "rendezvous/server.h"
#include "unit.h"

#define SERVER_TOKEN "0123456789abcdef0123456789abcdef"

enum { SERVER_GUARD = 100 }; /* seconds after which a test that hangs has failed */

struct server_child {
    struct rc_endpoint endpoint;
    pid_t pid;
    int life;    /* it ends once this is closed; -1: it ends by itself */
    int decided; /* what it was asked to decide: a line "COUNT COMPLETE" each time */
    int said;    /* what it has said: a line "RC707 TEXT" each time */
};

/* What is 0 is not asked for. */
struct server_start {
    unsigned seconds;         /* its deadline */
    bool ends_by_itself;      /* as one that nobody holds */
    struct rc_str own;        /* entry of its own node */
    size_t padding;           /* bytes after each answer */
    bool stops;               /* before it decides, until it gets SIGCONT */
    rlim_t descriptors;       /* that are free, beside one for its set of events */
    uint32_t watch;           /* rc_server_watch */
    uint32_t expected;        /* likewise: its silence, of nodes n1 and n2 */
    rc_server_decide *decide; /* in the place of the one below, which tells what it was asked */
    void *more;               /* its own */
};

/* Its answer to the nodes is "answer=1\nport=COUNT\n", and the padding. */
struct server_child server_open(struct server_start start);

/* What it has decided, once: "2 1\n" for two entries that are all. */
void server_decides(const struct server_child *server, const char *expected);

/* The one line that it says next begins so. */
void server_says(const struct server_child *server, const char *expected);

/* It has decided and said no more than what was read, it ended well, and it left no descriptor. */
void server_close(struct server_child *server);

/* Who says the text to it, as a client, has that answer. */
void server_answers(const struct server_child *server, const char *text, const char *answer);

/* A connection to it; flags: SOCK_NONBLOCK or 0, room: of what it receives, 0: as usual. */
int server_connect(const struct server_child *server, int flags, int room);

/* All that comes over a connection until the server hangs up, with a NUL after it. Closes it; returns the bytes. */
size_t server_hears(int fd, char *text, size_t size);

/* An entry of one task on each of `nodes`; in `text`. */
struct rc_str server_entry(char text[256], unsigned node, unsigned nodes);
