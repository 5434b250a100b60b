/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "rendezvous/local.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "rendezvous/wire.h"
#include "system/node.h"

/* STRANGERS: how many connections of other users are closed at a time. Where more keep coming, the caller looks at
 * its clock and at those whom it has accepted in between. */
enum { PAUSE_FIRST_MS = 1, PAUSE_LAST_MS = 20, STRANGERS = 64 };

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

/* A socket that has the name, by bind, or is connected to it, by connect. */
static int open_socket(const char *name, int (*use)(int fd, const struct sockaddr *address, socklen_t size))
{
    struct sockaddr_un address;
    socklen_t size = address_of(name, &address);
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    int rc;

    if (fd >= 0 && use(fd, (struct sockaddr *)&address, size) == 0)
        return fd;
    rc = -errno;
    if (fd >= 0)
        close(fd);
    return rc;
}

int rc_local_listen(const char *name)
{
    int fd = open_socket(name, bind);
    int rc;

    if (fd < 0 || listen(fd, SOMAXCONN) == 0)
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
    int fd = open_socket(name, connect);
    ssize_t n = 0;
    int rc = 0;

    if (fd < 0)
        return fd;
    if (!is_own_users(fd))
        rc = -EPERM;
    else if (send(fd, message.p, message.n, MSG_NOSIGNAL) < 0)
        rc = -errno;
    while (rc == 0 && n <= 0 && (rc = rc_wire_wait(fd, POLLIN, deadline)) == 0) {
        n = recv(fd, text, size - 1, 0);
        if (n == 0)
            rc = -ECONNRESET;
        else if (n < 0 && errno != EAGAIN && errno != EINTR)
            rc = -errno;
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

/* The state while the first task waits. poll[0] is the listener, poll[i + 1] the connection all->list[i], whose rank is
 * RC_UNKNOWN until it has told it. */
struct gathering {
    struct pollfd *poll;
    struct rc_gathered *all;
    uint32_t room;
    uint32_t told;
    uint32_t own;
};

static void drop_task(struct gathering *g, uint32_t i)
{
    struct rc_gathered *all = g->all;

    close(all->list[i].fd);
    free(all->list[i].said);
    g->told -= all->list[i].rank != RC_UNKNOWN;
    all->list[i] = all->list[--all->count];
    g->poll[i + 1] = g->poll[all->count + 1];
}

/* No more than have room: others wait for the next round, which looks at the deadline. */
static void accept_tasks(struct gathering *g)
{
    for (uint32_t i = 0; i < g->room; i++) {
        int fd = rc_local_accept(g->poll[0].fd);

        if (fd < 0)
            return;
        if (g->all->count == g->room) {
            close(fd);
            continue;
        }
        g->all->list[g->all->count++] = (struct rc_gathered_task){ .fd = fd, .rank = RC_UNKNOWN };
        g->poll[g->all->count] = (struct pollfd){ .fd = fd, .events = POLLIN };
    }
}

static bool is_new(const struct gathering *g, uint32_t rank)
{
    for (uint32_t i = 0; i < g->all->count; i++)
        if (g->all->list[i].rank == rank)
            return false;
    return rank != g->own;
}

/* Returns false where the connection is closed, or its message wrong. */
static bool hear_task(struct gathering *g, struct rc_gathered_task *task)
{
    char text[MESSAGE_SIZE];
    ssize_t n = recv(task->fd, text, sizeof(text), 0);
    struct rc_str said, number;
    uint32_t rank;

    if (n < 0)
        return errno == EAGAIN || errno == EINTR;
    if (task->rank != RC_UNKNOWN || n < 5 || memcmp(text, "rank=", 5) != 0)
        return false;
    number = rc_str_split((struct rc_str){ text + 5, (size_t)n - 5 }, '\n', &said);
    if (!rc_parse_u32(number, RC_MAX_TASKS - 1, &rank) || !is_new(g, rank))
        return false;
    task->said = said.p ? strndup(said.p, said.n) : NULL;
    task->rank = rank;
    g->told++;
    return true;
}

/* In the end only those that have told their ranks stay. */
static void wait_for_all(struct gathering *g, uint32_t expected, int64_t deadline)
{
    int wait;

    while (g->told < expected && (wait = rc_milliseconds_left(deadline)) > 0) {
        if (poll(g->poll, g->all->count + 1, wait) <= 0)
            continue;
        /* from the last one: drop_task fills the gap with a connection that has been read */
        for (uint32_t i = g->all->count; i-- > 0;)
            if (g->poll[i + 1].revents && !hear_task(g, &g->all->list[i]))
                drop_task(g, i);
        if (g->poll[0].revents)
            accept_tasks(g);
    }
    for (uint32_t i = g->all->count; i-- > 0;)
        if (g->all->list[i].rank == RC_UNKNOWN)
            drop_task(g, i);
}

int rc_gather_collect(const char *name, uint32_t own, uint32_t expected, uint32_t milliseconds, struct rc_gathered *all)
{
    struct gathering g = { .all = all, .room = expected + SPARE, .own = own };
    int64_t deadline = rc_milliseconds() + milliseconds;
    int listener = rc_local_listen(name);
    int rc = -ENOMEM;

    *all = (struct rc_gathered){ .list = NULL };
    if (listener < 0)
        return listener;
    g.poll = calloc(g.room + 1, sizeof(*g.poll));
    all->list = calloc(g.room, sizeof(*all->list));
    if (g.poll && all->list) {
        g.poll[0] = (struct pollfd){ .fd = listener, .events = POLLIN };
        wait_for_all(&g, expected, deadline);
        rc = 0;
    }
    close(listener);
    free(g.poll);
    return rc;
}

void rc_gather_reply(struct rc_gathered *all, struct rc_str text)
{
    for (uint32_t i = 0; i < all->count; i++) {
        int fd = all->list[i].fd;

        if (rc_wire_wait(fd, POLLOUT, rc_milliseconds() + TELL_MS) == 0)
            send(fd, text.p, text.n, MSG_NOSIGNAL | MSG_DONTWAIT);
        close(fd);
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
