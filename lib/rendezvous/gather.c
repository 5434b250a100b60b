/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "rendezvous/gather.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/numbers.h"
#include "rendezvous/local.h"
#include "system/clock.h"

/* SPARE: room for connections that are not of tasks, or of a task that comes twice. */
enum { SPARE = 16, HEAD_SIZE = 32, MESSAGE_SIZE = HEAD_SIZE + RC_GATHER_SAID_MAX, TELL_MS = 1000 };

/* The state while the first task waits. poll[0] is the listener, the others are connections;
 * `rank` of a connection is RC_UNKNOWN until it has told it. */
struct gathering {
    struct pollfd *poll;
    uint32_t *rank;
    char **said;
    uint32_t count;
    uint32_t room;
    uint32_t told;
    uint32_t own;
};

static void drop_task(struct gathering *g, uint32_t i)
{
    close(g->poll[i].fd);
    free(g->said[i]);
    g->told -= g->rank[i] != RC_UNKNOWN;
    g->count--;
    g->poll[i] = g->poll[g->count];
    g->rank[i] = g->rank[g->count];
    g->said[i] = g->said[g->count];
}

/* No more than have room: others wait for the next round, which looks at the deadline. */
static void accept_tasks(struct gathering *g)
{
    for (uint32_t i = 0; i < g->room; i++) {
        int fd = rc_local_accept(g->poll[0].fd);

        if (fd < 0)
            return;
        if (g->count == g->room) {
            close(fd);
            continue;
        }
        g->poll[g->count] = (struct pollfd){ .fd = fd, .events = POLLIN };
        g->said[g->count] = NULL;
        g->rank[g->count++] = RC_UNKNOWN;
    }
}

static bool is_new(const struct gathering *g, uint32_t rank)
{
    for (uint32_t i = 1; i < g->count; i++)
        if (g->rank[i] == rank)
            return false;
    return rank != g->own;
}

/* Returns false where the connection is closed, or its message wrong. */
static bool hear_task(struct gathering *g, uint32_t i)
{
    char text[MESSAGE_SIZE];
    ssize_t n = recv(g->poll[i].fd, text, sizeof(text), 0);
    struct rc_str said, number;
    uint32_t rank;

    if (n < 0)
        return errno == EAGAIN || errno == EINTR;
    if (g->rank[i] != RC_UNKNOWN || n < 5 || memcmp(text, "rank=", 5) != 0)
        return false;
    number = rc_str_split((struct rc_str){ text + 5, (size_t)n - 5 }, '\n', &said);
    if (!rc_parse_u32(number, RC_MAX_TASKS - 1, &rank) || !is_new(g, rank))
        return false;
    g->said[i] = said.p ? strndup(said.p, said.n) : NULL;
    g->rank[i] = rank;
    g->told++;
    return true;
}

static void wait_for_all(struct gathering *g, uint32_t expected, int64_t deadline)
{
    while (g->told < expected) {
        int wait = rc_local_left(deadline);

        if (wait == 0)
            return;
        if (poll(g->poll, g->count, wait) <= 0)
            continue;
        /* from the last one: drop_task fills the gap with a connection that has been read */
        for (uint32_t i = g->count; i-- > 1;)
            if (g->poll[i].revents && !hear_task(g, i))
                drop_task(g, i);
        if (g->poll[0].revents)
            accept_tasks(g);
    }
}

/* Those that have told their ranks stay, the others are sent away. */
static void keep_tasks(struct gathering *g, struct rc_gathered *all)
{
    for (uint32_t i = 1; i < g->count; i++) {
        if (g->rank[i] == RC_UNKNOWN)
            close(g->poll[i].fd);
        else
            all->list[all->count++] = (struct rc_gathered_task){ .fd = g->poll[i].fd,
                                                                 .rank = g->rank[i],
                                                                 .said = g->said[i] };
    }
}

int rc_gather_collect(const char *name, uint32_t own, uint32_t expected, uint32_t milliseconds, struct rc_gathered *all)
{
    struct gathering g = { .room = expected + 1 + SPARE, .count = 1, .own = own };
    int64_t deadline = rc_milliseconds() + milliseconds;
    int rc = rc_local_listen(name);

    *all = (struct rc_gathered){ .list = NULL };
    if (rc < 0)
        return rc;
    g.poll = calloc(g.room, sizeof(*g.poll));
    g.rank = calloc(g.room, sizeof(*g.rank));
    g.said = calloc(g.room, sizeof(*g.said));
    all->list = calloc(g.room, sizeof(*all->list));
    if (g.poll && g.rank && g.said && all->list) {
        g.poll[0] = (struct pollfd){ .fd = rc, .events = POLLIN };
        g.rank[0] = RC_UNKNOWN;
        wait_for_all(&g, expected, deadline);
        keep_tasks(&g, all);
        close(rc);
        rc = 0;
    } else {
        close(rc);
        rc = -ENOMEM;
    }
    free(g.poll);
    free(g.rank);
    free(g.said);
    return rc;
}

void rc_gather_reply(struct rc_gathered *all, struct rc_str text)
{
    for (uint32_t i = 0; i < all->count; i++) {
        struct pollfd out = { .fd = all->list[i].fd, .events = POLLOUT };

        /* the socket's buffer is empty: poll fails only where a signal interrupts it */
        if (poll(&out, 1, TELL_MS) > 0)
            send(out.fd, text.p, text.n, MSG_NOSIGNAL | MSG_DONTWAIT);
        close(out.fd);
        free(all->list[i].said);
    }
    free(all->list);
    *all = (struct rc_gathered){ .list = NULL };
}

int rc_gather_join(const char *name, uint32_t rank, struct rc_str said, uint32_t milliseconds, uint32_t patience,
                   char *text, size_t size)
{
    char message[MESSAGE_SIZE];
    struct rc_arena arena = { .base = message, .size = sizeof(message) };
    struct rc_str told = rc_str(rc_format(&arena, said.p ? "rank=%u\n%S" : "rank=%u", rank, &said));

    if (arena.full)
        return -EMSGSIZE;
    return rc_local_ask(name, told, rc_milliseconds() + milliseconds, patience, text, size);
}
