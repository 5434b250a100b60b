#define _GNU_SOURCE /* struct ucred */
#include "config.h"

#include "exchange/neighbours.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "numbers.h"
#include "system/clock.h"

/* Some that are not tasks, or come twice, may be among them. */
enum { SPARE = 16, MESSAGE_SIZE = 32, PAUSE_FIRST_MS = 1, PAUSE_LAST_MS = 20, TELL_MS = 1000 };

static int left(int64_t deadline)
{
    int64_t n = deadline - rc_milliseconds();

    return n < 0 ? 0 : n > 60000 ? 60000 : (int)n;
}

void rc_neighbours_name(const char *scope, uint32_t node, char name[RC_NEIGHBOURS_NAME])
{
    struct rc_arena arena = { .base = name, .size = RC_NEIGHBOURS_NAME };
    uint64_t hash = UINT64_C(0xcbf29ce484222325); /* FNV-1a */

    rc_format(&arena, "rollcall/%u/%s/%u", (uint32_t)geteuid(), scope, node);
    if (!arena.full)
        return;
    for (const char *c = scope; *c; c++)
        hash = (hash ^ (unsigned char)*c) * UINT64_C(0x100000001b3);
    arena = (struct rc_arena){ .base = name, .size = RC_NEIGHBOURS_NAME };
    rc_format(&arena, "rollcall/%u/%U/%u", (uint32_t)geteuid(), hash, node);
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

static int listen_at(const char *name)
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

/* While it waits: the listener first, then who has connected; `rank` of each is
 * RC_UNKNOWN until it has told it. */
struct gathering {
    struct pollfd *poll;
    uint32_t *rank;
    uint32_t count;
    uint32_t room;
    uint32_t told;
    uint32_t own;
};

static void take_out(struct gathering *g, uint32_t i)
{
    close(g->poll[i].fd);
    g->told -= g->rank[i] != RC_UNKNOWN;
    g->count--;
    g->poll[i] = g->poll[g->count];
    g->rank[i] = g->rank[g->count];
}

static void welcome(struct gathering *g)
{
    for (;;) {
        int fd = accept4(g->poll[0].fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

        if (fd < 0 && (errno == EINTR || errno == ECONNABORTED))
            continue;
        if (fd < 0)
            return;
        if (g->count == g->room || !is_own_users(fd)) {
            close(fd);
            continue;
        }
        g->poll[g->count] = (struct pollfd){ .fd = fd, .events = POLLIN };
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

/* False: it is gone, or says what it should not. */
static bool hear(struct gathering *g, uint32_t i)
{
    char text[MESSAGE_SIZE];
    ssize_t n = recv(g->poll[i].fd, text, sizeof(text), 0);
    uint32_t rank;

    if (n < 0)
        return errno == EAGAIN || errno == EINTR;
    if (g->rank[i] != RC_UNKNOWN || n < 5 || memcmp(text, "rank=", 5) != 0 ||
        !rc_parse_u32((struct rc_str){ text + 5, (size_t)n - 5 }, RC_MAX_TASKS - 1, &rank) || !is_new(g, rank))
        return false;
    g->rank[i] = rank;
    g->told++;
    return true;
}

static void wait_for_all(struct gathering *g, uint32_t expected, int64_t deadline)
{
    while (g->told < expected) {
        int wait = left(deadline);

        if (wait == 0)
            return;
        if (poll(g->poll, g->count, wait) <= 0)
            continue;
        /* from the last one: whoever is taken out is replaced by one that has been heard */
        for (uint32_t i = g->count; i-- > 1;)
            if (g->poll[i].revents && !hear(g, i))
                take_out(g, i);
        if (g->poll[0].revents)
            welcome(g);
    }
}

/* Those that have told their ranks stay, the others are sent away. */
static void keep(struct gathering *g, struct rc_neighbours *all)
{
    for (uint32_t i = 1; i < g->count; i++) {
        if (g->rank[i] == RC_UNKNOWN)
            close(g->poll[i].fd);
        else
            all->list[all->count++] = (struct rc_neighbour){ .fd = g->poll[i].fd, .rank = g->rank[i] };
    }
}

int rc_neighbours_gather(const char *name, uint32_t own, uint32_t expected, uint32_t milliseconds,
                         struct rc_neighbours *all)
{
    struct gathering g = { .room = expected + 1 + SPARE, .count = 1, .own = own };
    int64_t deadline = rc_milliseconds() + milliseconds;
    int rc = listen_at(name);

    *all = (struct rc_neighbours){ .list = NULL };
    if (rc < 0)
        return rc;
    g.poll = calloc(g.room, sizeof(*g.poll));
    g.rank = calloc(g.room, sizeof(*g.rank));
    all->list = calloc(g.room, sizeof(*all->list));
    if (g.poll && g.rank && all->list) {
        g.poll[0] = (struct pollfd){ .fd = rc, .events = POLLIN };
        g.rank[0] = RC_UNKNOWN;
        wait_for_all(&g, expected, deadline);
        keep(&g, all);
        close(rc);
        rc = 0;
    } else {
        close(rc);
        rc = -ENOMEM;
    }
    free(g.poll);
    free(g.rank);
    return rc;
}

void rc_neighbours_tell(struct rc_neighbours *all, struct rc_str text)
{
    for (uint32_t i = 0; i < all->count; i++) {
        struct pollfd out = { .fd = all->list[i].fd, .events = POLLOUT };

        /* nothing has been sent on it before: there is room, but for somebody's signal */
        if (poll(&out, 1, TELL_MS) > 0)
            send(out.fd, text.p, text.n, MSG_NOSIGNAL | MSG_DONTWAIT);
        close(out.fd);
    }
    free(all->list);
    *all = (struct rc_neighbours){ .list = NULL };
}

/* One call: the bytes that were said, or -errno. */
static int call(const char *name, struct rc_str message, int64_t deadline, char *text, size_t size)
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
        int wait = left(deadline);

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
    return rc < 0 ? rc : (int)n;
}

int rc_neighbours_ask(const char *name, uint32_t rank, uint32_t milliseconds, uint32_t patience, char *text,
                      size_t size)
{
    char message[MESSAGE_SIZE];
    struct rc_arena arena = { .base = message, .size = sizeof(message) };
    struct rc_str told = rc_str(rc_format(&arena, "rank=%u", rank));
    int64_t deadline = rc_milliseconds() + milliseconds;

    for (int pause = PAUSE_FIRST_MS;; pause = 2 * pause < PAUSE_LAST_MS ? 2 * pause : PAUSE_LAST_MS) {
        int n = call(name, told, deadline + patience, text, size);

        if (n > 0) {
            text[n] = '\0';
            return n;
        }
        /* not there yet, or not for this task any more */
        if ((n != -ECONNREFUSED && n != -EAGAIN && n != -ECONNRESET) || rc_milliseconds() >= deadline)
            return n;
        poll(NULL, 0, pause);
    }
}
