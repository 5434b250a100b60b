/* SPDX-License-Identifier: BSD-3-Clause */
/* storeserver.c - a store server for a launch's tasks, where srun has no rendezvous server (rendezvous/discovery.h).
 *
 * A process that stays: out of the sight of the task that asked for it, which
 * has no child, no descriptor and no signal of it. On this node it tells its
 * own user's processes where it is, at a name of lib/rendezvous/local.h; where
 * the launch has several nodes, PMIx tells the others.
 *
 * It ends ten seconds after the task that keeps it: one that comes late finds
 * what a short-lived rank 0 has left, and a task's next program the store of the
 * one before, which it takes over once that has ended. Earlier, where both are gone that started the
 * task, its parent and the parent's: the launcher is one of them. Where other
 * nodes know of the store, for whom there cannot be another one, the ten seconds
 * begin when the task's parent has ended, too.
 */
#include "config.h"

#include "exchange.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/pairs.h"
#include "rendezvous/local.h"
#include "rendezvous/wire.h"
#include "system/node.h"

enum { FAREWELL_MS = 10000, TICK_MS = 200, PATIENCE_MS = 1000, INPUT_SIZE = 1024, TEXT_SIZE = 4096 };

/* A process whose end matters: by a descriptor, where the kernel has them (5.3). */
struct watched {
    uint32_t pid;
    int fd;
};

struct request {
    struct rc_str name; /* where it tells the node's processes */
    uint32_t owner;     /* the task */
    uint32_t launcher;  /* its parent */
    uint32_t pmix;      /* 1: it also tells the other nodes; or 0 */
    uint32_t seconds;   /* for that */
};

struct store {
    struct request request;
    struct watched owner;
    struct watched launcher;
    struct watched outer; /* the launcher's own parent */
    int caller;           /* the listening socket of the name */
    int end;              /* to be closed when it is over */
    char where[TEXT_SIZE];
};

static void watch_process(struct watched *who, uint32_t pid)
{
    if (who->fd >= 0)
        close(who->fd);
    who->pid = pid;
    who->fd = -1;
#ifdef SYS_pidfd_open
    if (pid > 1)
        who->fd = (int)syscall(SYS_pidfd_open, (pid_t)pid, 0);
#endif
}

static bool is_there(const struct watched *who)
{
    struct pollfd ended = { .fd = who->fd, .events = POLLIN };

    if (who->fd >= 0)
        return poll(&ended, 1, 0) == 0;
    return who->pid > 0 && (kill((pid_t)who->pid, 0) == 0 || errno == EPERM);
}

/* The first process stays the owner as long as it is there: a forked child of a task ends before the task does. */
static void watch_owner(struct store *store, uint32_t owner, uint32_t launcher)
{
    if (is_there(&store->owner))
        return;
    watch_process(&store->owner, owner);
    watch_process(&store->launcher, launcher);
    watch_process(&store->outer, rc_process_parent(launcher));
}

/* "own 42": a task's next program, whose parent is 42. Others say "read". */
static void take_owner(struct store *store, int fd, struct rc_str text)
{
    struct ucred peer;
    socklen_t size = sizeof(peer);
    struct rc_str launcher;
    uint32_t pid;

    rc_str_split(text, ' ', &launcher);
    if (!rc_str_starts(text, "own ") || !rc_parse_u32(launcher, INT32_MAX, &pid) ||
        getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0 || peer.pid <= 0)
        return;
    watch_owner(store, (uint32_t)peer.pid, pid);
}

/* Serves callers of the same user. One that does not send its word at once is hung up. */
static void answer_callers(struct store *store)
{
    int fd;

    while ((fd = rc_local_accept(store->caller)) >= 0) {
        char text[64];
        int rc = rc_wire_wait(fd, POLLIN, rc_milliseconds() + PATIENCE_MS);
        ssize_t n = rc == 0 ? recv(fd, text, sizeof(text), 0) : -1;

        if (n > 0) {
            take_owner(store, fd, (struct rc_str){ text, (size_t)n });
            send(fd, store->where, strlen(store->where), MSG_NOSIGNAL | MSG_DONTWAIT);
        }
        close(fd);
    }
}

/* The launch is over, as far as one can see. A container's first process, or
 * one that adopts orphans, proves nothing by being there. */
static bool is_over(struct store *store, int64_t *farewell)
{
    bool launched = is_there(&store->launcher);

    if (is_there(&store->owner)) {
        *farewell = INT64_MAX;
        return false;
    }
    if (!launched && !is_there(&store->outer))
        return true;
    if (*farewell == INT64_MAX && (!store->request.pmix || !launched || store->launcher.pid == 1))
        *farewell = rc_milliseconds() + FAREWELL_MS;
    return rc_milliseconds() >= *farewell;
}

/* In a thread: the server has a loop of its own. */
static void *attend_owners(void *more)
{
    struct store *store = more;
    int64_t farewell = INT64_MAX;

    while (!is_over(store, &farewell)) {
        /* poll would report an owner that has ended again and again */
        int owner = is_there(&store->owner) ? store->owner.fd : -1;
        struct pollfd p[] = { { .fd = store->caller, .events = POLLIN }, { .fd = owner, .events = POLLIN } };

        if (poll(p, 2, owner < 0 ? TICK_MS : -1) > 0 && p[0].revents)
            answer_callers(store);
    }
    close(store->caller);
    close(store->end);
    return NULL;
}

/* The rest of exchange_start_store, in a child that no process waits for. */
static void stay_behind(struct store *store, struct rc_server *server)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    pthread_t thread;

    setsid();
    for (int fd = 0; fd <= STDERR_FILENO; fd++)
        dup2(null, fd);
    if (chdir("/") < 0)
        return;
    watch_owner(store, store->request.owner, store->request.launcher);
    if (pthread_create(&thread, NULL, attend_owners, store) != 0)
        return;
    /* its nodes have done without a roll call, or hold it elsewhere */
    rc_server_run(server, 0, NULL, NULL);
}

static bool read_request(struct request *request)
{
    static const struct rc_row rows[] = {
        RC_ROW_TEXT(struct request, name, RC_LOCAL_NAME - 1),        RC_ROW_NUMBER(struct request, owner, 1, INT32_MAX),
        RC_ROW_NUMBER(struct request, launcher, 0, INT32_MAX),       RC_ROW_NUMBER(struct request, pmix, 0, 1),
        RC_ROW_NUMBER(struct request, seconds, 1, INT32_MAX / 1000),
    };
    static const struct rc_form form = { RC_FORM_ROWS(rows) };
    static char text[INPUT_SIZE];
    size_t size = fread(text, 1, sizeof(text), stdin);

    return rc_pairs_read((struct rc_str){ text, size }, '\n', &form, request) && request->name.n > 0 &&
           request->owner > 0 && request->seconds > 0;
}

/* Writes the endpoint into store->where, and gives it to PMIx where other nodes need it. */
static int publish_endpoint(struct store *store, const char *token, uint16_t port)
{
    const struct rc_endpoint local = { rc_str(token), port, RC_STR("127.0.0.1 ::1") };
    struct rc_arena arena = { .base = store->where, .size = sizeof(store->where) };
    char line[TEXT_SIZE];

    if (!store->request.pmix) {
        rc_endpoint_write(&local, &arena);
        return 0;
    }
    exchange_write_endpoint(token, port, &arena);
    if (!exchange_ask_pmix("put-store", rc_str(store->where), store->request.seconds * 1000, line, sizeof(line)))
        return exchange_fail("PMIx", line);
    return 0;
}

int exchange_start_store(void)
{
    static struct store store = { .owner = { .fd = -1 }, .launcher = { .fd = -1 }, .outer = { .fd = -1 } };
    char token[RC_WIRE_TOKEN + 1];
    char name[RC_LOCAL_NAME];
    struct rc_server *server;
    uint16_t port;
    pid_t child;
    int listener;
    int life[2];
    int rc;

    if (!read_request(&store.request))
        return exchange_fail("the request", "cannot be read");
    snprintf(name, sizeof(name), "%.*s", (int)store.request.name.n, store.request.name.p);
    store.caller = rc_local_listen(name);
    if (store.caller == -EADDRINUSE) {
        printf("taken=%s\n", name);
        return 0;
    }
    listener = store.caller < 0 ? store.caller : rc_listen(0, 0, 0, &port);
    rc = listener < 0 ? listener : rc_wire_new_token(token);
    if (rc == 0 && pipe2(life, O_CLOEXEC) < 0)
        rc = -errno;
    if (rc < 0)
        return exchange_fail("a socket", strerror(-rc));
    store.end = life[1];
    server = rc_server_create(listener, life[0], token);
    if (!server)
        return exchange_fail("the store", strerror(ENOMEM));
    rc = publish_endpoint(&store, token, port);
    child = rc ? 0 : fork();
    if (child < 0)
        rc = exchange_fail("a process", strerror(errno));
    else if (child > 0)
        printf("store=%s\n", store.where);
    else if (!rc)
        stay_behind(&store, server);
    rc_server_destroy(server);
    return rc;
}
