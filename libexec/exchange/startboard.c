/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* struct ucred */
#include "config.h"

#include "startboard.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/numbers.h"
#include "rendezvous/listen.h"
#include "rendezvous/local.h"
#include "rendezvous/server.h"
#include "rendezvous/wire.h"
#include "system/clock.h"
#include "system/process.h"
#include "whereabouts.h"

enum { KEEPERS = 8, FAREWELL_MS = 10000, TICK_MS = 200, PATIENCE_MS = 1000, INPUT_SIZE = 1024, TEXT_SIZE = 4096 };

/* Somebody whose end matters: by a descriptor, where the kernel has them (5.3). */
struct watched {
    uint32_t pid;
    int fd;
};

struct request {
    char name[RC_LOCAL_NAME];
    uint32_t keeper;
    uint32_t launcher;
    uint32_t pmix;
    uint32_t seconds;
};

struct board {
    struct request request;
    struct watched keeper[KEEPERS]; /* the latest, and those before who are still there */
    struct watched launcher;
    struct watched outer; /* the launcher's own parent */
    int caller;           /* the listening socket of the name */
    int end;              /* to be closed when it is over */
    char where[TEXT_SIZE];
};

static void watch(struct watched *who, uint32_t pid)
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

static bool is_kept(const struct board *board)
{
    for (int i = 0; i < KEEPERS; i++)
        if (is_there(&board->keeper[i]))
            return true;
    return false;
}

/* A forked child of a task keeps the board beside its parent, which may outlive it. */
static void watch_keeper(struct board *board, uint32_t keeper, uint32_t launcher)
{
    int place = 0;

    while (place < KEEPERS - 1 && board->keeper[place].pid != keeper && is_there(&board->keeper[place]))
        place++;
    watch(&board->keeper[place], keeper);
    watch(&board->launcher, launcher);
    watch(&board->outer, rc_process_parent(launcher));
}

/* "keep 42": a task's next program, whose parent is 42. */
static void take_keeper(struct board *board, int fd, struct rc_str text)
{
    struct ucred peer;
    socklen_t size = sizeof(peer);
    struct rc_str launcher;
    uint32_t pid;

    rc_str_split(text, ' ', &launcher);
    if (!rc_str_starts(text, "keep ") || !rc_parse_u32(launcher, INT32_MAX, &pid) ||
        getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0 || peer.pid <= 0)
        return;
    watch_keeper(board, (uint32_t)peer.pid, pid);
}

/* One of one's own user's, who says its one word at once, or is sent away. */
static void answer(struct board *board)
{
    int fd;

    while ((fd = rc_local_accept(board->caller)) >= 0) {
        struct pollfd in = { .fd = fd, .events = POLLIN };
        char text[64];
        ssize_t n = poll(&in, 1, PATIENCE_MS) > 0 ? recv(fd, text, sizeof(text), 0) : -1;

        if (n > 0) {
            take_keeper(board, fd, (struct rc_str){ text, (size_t)n });
            send(fd, board->where, strlen(board->where), MSG_NOSIGNAL | MSG_DONTWAIT);
        }
        close(fd);
    }
}

/* The launch is over, as far as one can see. A container's first process, or
 * whoever takes in orphans, says nothing by being there. */
static bool is_over(struct board *board, int64_t *farewell)
{
    bool launched = is_there(&board->launcher);

    if (is_kept(board)) {
        *farewell = INT64_MAX;
        return false;
    }
    if (!launched && !is_there(&board->outer))
        return true;
    if (*farewell == INT64_MAX && (!board->request.pmix || !launched || board->launcher.pid == 1))
        *farewell = rc_milliseconds() + FAREWELL_MS;
    return rc_milliseconds() >= *farewell;
}

/* Beside the desk, which has a loop of its own. */
static void *attend(void *more)
{
    struct board *board = more;
    int64_t farewell = INT64_MAX;

    while (!is_over(board, &farewell)) {
        struct pollfd p[1 + KEEPERS] = { { .fd = board->caller, .events = POLLIN } };
        bool tick = !is_kept(board);

        for (int i = 0; i < KEEPERS; i++) {
            const struct watched *keeper = &board->keeper[i];
            bool there = is_there(keeper);

            /* one that has ended would be told again and again */
            p[1 + i] = (struct pollfd){ .fd = there ? keeper->fd : -1, .events = POLLIN };
            tick = tick || (there && keeper->fd < 0);
        }
        if (poll(p, 1 + KEEPERS, tick ? TICK_MS : -1) > 0 && p[0].revents)
            answer(board);
    }
    close(board->caller);
    close(board->end);
    return NULL;
}

/* This desk holds no roll call: its nodes have done without, or held it elsewhere. */
static struct rc_str decide_nothing(void *more, const struct rc_roll *rolls, size_t count, bool complete)
{
    (void)more;
    (void)rolls;
    (void)count;
    (void)complete;
    return RC_STR("failed=no roll call is held here\n");
}

/* Behind start_board, in a process that nobody waits for. */
static void stay(struct board *board, struct rc_desk *desk)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    int life[2];
    pthread_t thread;

    setsid();
    for (int fd = 0; fd <= STDERR_FILENO; fd++)
        dup2(null, fd);
    if (chdir("/") < 0 || pipe2(life, O_CLOEXEC) < 0)
        return;
    board->end = life[1];
    watch_keeper(board, board->request.keeper, board->request.launcher);
    if (pthread_create(&thread, NULL, attend, board) != 0)
        return;
    rc_desk_run(desk, 0, life[0], decide_nothing, NULL);
}

static bool read_line(struct rc_str line, struct request *request)
{
    struct rc_str value;
    struct rc_str name = rc_str_split(line, '=', &value);
    struct rc_arena arena = { .base = request->name, .size = sizeof(request->name) };

    if (rc_str_is(name, "name")) {
        rc_format(&arena, "%S", &value);
        return !arena.full;
    }
    if (rc_str_is(name, "keeper"))
        return rc_parse_u32(value, INT32_MAX, &request->keeper);
    if (rc_str_is(name, "launcher"))
        return rc_parse_u32(value, INT32_MAX, &request->launcher);
    if (rc_str_is(name, "seconds"))
        return rc_parse_u32(value, INT32_MAX / 1000, &request->seconds);
    return rc_str_is(name, "pmix") && rc_parse_u32(value, 1, &request->pmix);
}

static bool read_request(struct request *request)
{
    static char text[INPUT_SIZE];
    struct rc_str rest = { text, fread(text, 1, sizeof(text), stdin) };

    while (rest.n > 0) {
        struct rc_str line = rc_str_split(rest, '\n', &rest);

        if (!read_line(line, request))
            return false;
    }
    return request->name[0] && request->keeper > 1 && request->seconds > 0;
}

static int failed(const char *what, const char *why)
{
    printf("failed=%s: %s\n", what, why);
    return 1;
}

/* Tells those who are to know of it. */
static int tell(struct board *board, const char *token, uint16_t port)
{
    char line[TEXT_SIZE];

    if (!board->request.pmix) {
        snprintf(board->where, sizeof(board->where), "%s %u 127.0.0.1 ::1", token, (unsigned)port);
        return 0;
    }
    write_whereabouts(token, port, board->where, sizeof(board->where));
    if (!ask_pmix("put-board", rc_str(board->where), board->request.seconds * 1000, line, sizeof(line)))
        return failed("PMIx", line);
    board->where[strcspn(board->where, "\n")] = '\0';
    return 0;
}

int start_board(void)
{
    static struct board board = { .launcher = { .fd = -1 }, .outer = { .fd = -1 } };
    char token[RC_WIRE_TOKEN + 1];
    struct rc_desk *desk;
    uint16_t port;
    pid_t child;
    int listener;
    int rc;

    for (int i = 0; i < KEEPERS; i++)
        board.keeper[i].fd = -1;
    if (!read_request(&board.request))
        return failed("the request", "cannot be read");
    board.caller = rc_local_listen(board.request.name);
    if (board.caller == -EADDRINUSE) {
        printf("taken=%s\n", board.request.name);
        return 0;
    }
    listener = board.caller < 0 ? board.caller : rc_listen(0, 0, &port);
    rc = listener < 0 ? listener : rc_wire_new_token(token);
    if (rc < 0)
        return failed("a socket", strerror(-rc));
    desk = rc_desk_create(listener, token);
    if (!desk)
        return failed("the board", strerror(ENOMEM));
    rc = tell(&board, token, port);
    child = rc ? 0 : fork();
    if (child < 0)
        rc = failed("a process", strerror(errno));
    else if (child > 0)
        printf("board=%s\n", board.where);
    else if (!rc)
        stay(&board, desk);
    rc_desk_destroy(desk);
    return rc;
}
