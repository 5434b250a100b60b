/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* struct ucred */
#include "config.h"

#include "rendezvous/local.h"

#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/text.h"
#include "system/node.h"

/* STRANGERS: how many connections of other users are closed at a time. Where more keep coming, the caller looks at
 * its clock and at those whom it has accepted in between. */
enum { PAUSE_FIRST_MS = 1, PAUSE_LAST_MS = 20, STRANGERS = 64 };

int rc_local_left(int64_t deadline)
{
    int64_t n = deadline - rc_milliseconds();

    return n < 0 ? 0 : n > 60000 ? 60000 : (int)n;
}

void rc_local_name(const char *scope, uint32_t node, char name[RC_LOCAL_NAME])
{
    struct rc_arena arena = { .base = name, .size = RC_LOCAL_NAME };

    rc_format(&arena, "rollcall/%u/%s/%u", (uint32_t)geteuid(), scope, node);
    if (!arena.full)
        return;
    arena = (struct rc_arena){ .base = name, .size = RC_LOCAL_NAME };
    rc_format(&arena, "rollcall/%u/%llu/%u", (uint32_t)geteuid(), (unsigned long long)rc_hash(scope, strlen(scope)),
              node);
}

static socklen_t address_of(const char *name, struct sockaddr_un *address)
{
    size_t n = strlen(name);

    memset(address, 0, sizeof(*address));
    address->sun_family = AF_UNIX;
    if (n > sizeof(address->sun_path) - 1)
        n = sizeof(address->sun_path) - 1;
    memcpy(address->sun_path + 1, name, n);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + n);
}

static bool is_own_users(int fd)
{
    struct ucred peer;
    socklen_t size = sizeof(peer);

    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == geteuid();
}

static int open_socket(void)
{
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    return fd < 0 ? -errno : fd;
}

int rc_local_listen(const char *name)
{
    struct sockaddr_un address;
    socklen_t size = address_of(name, &address);
    int fd = open_socket();
    int rc;

    if (fd < 0)
        return fd;
    if (bind(fd, (struct sockaddr *)&address, size) == 0 && listen(fd, SOMAXCONN) == 0)
        return fd;
    rc = -errno;
    close(fd);
    return rc;
}

int rc_local_accept(int listener)
{
    for (int i = 0; i < STRANGERS; i++) {
        int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

        if (fd < 0 && (errno == EINTR || errno == ECONNABORTED))
            continue;
        if (fd < 0 || is_own_users(fd))
            return fd;
        close(fd);
    }
    return -1;
}

int rc_local_call(const char *name, struct rc_str message, int64_t deadline, char *text, size_t size)
{
    struct sockaddr_un address;
    socklen_t length = address_of(name, &address);
    int fd = open_socket();
    ssize_t n = 0;
    int rc = 0;

    if (fd < 0)
        return fd;
    if (connect(fd, (struct sockaddr *)&address, length) < 0)
        rc = -errno;
    else if (!is_own_users(fd))
        rc = -EPERM;
    else if (send(fd, message.p, message.n, MSG_NOSIGNAL) < 0)
        rc = -errno;
    while (rc == 0) {
        struct pollfd in = { .fd = fd, .events = POLLIN };
        int wait = rc_local_left(deadline);

        if (wait == 0)
            rc = -ETIMEDOUT;
        else if (poll(&in, 1, wait) > 0) {
            n = recv(fd, text, size - 1, 0);
            if (n > 0)
                break;
            if (n == 0)
                rc = -ECONNRESET;
            else if (errno != EAGAIN && errno != EINTR)
                rc = -errno;
        }
    }
    close(fd);
    if (rc == 0)
        text[n] = '\0';
    return rc < 0 ? rc : (int)n;
}

int rc_local_ask(const char *name, struct rc_str message, int64_t deadline, uint32_t patience, char *text, size_t size)
{
    for (int pause = PAUSE_FIRST_MS;; pause = 2 * pause < PAUSE_LAST_MS ? 2 * pause : PAUSE_LAST_MS) {
        int n = rc_local_call(name, message, deadline + patience, text, size);

        /* not there yet, or not for this process any more */
        if ((n != -ECONNREFUSED && n != -EAGAIN && n != -ECONNRESET) || rc_milliseconds() >= deadline)
            return n;
        poll(NULL, 0, pause);
    }
}

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
    struct rc_str told = rc_str(rc_format(&arena, said.p ? "rank=%u\n%pS" : "rank=%u", rank, &said));

    if (arena.full)
        return -EMSGSIZE;
    return rc_local_ask(name, told, rc_milliseconds() + milliseconds, patience, text, size);
}
