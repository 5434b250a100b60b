/* SPDX-License-Identifier: BSD-3-Clause */
/* services RANKS DESCRIPTORS: what tasks ask srun's server while they start, all RANKS of them at once, each over
 * connections of its own: an NCCL id, a broadcast, and that init_process_group was reached and left. Rank 0 comes
 * last. DESCRIPTORS is the server's limit: 0 is the most that the system allows. One process is the server, one all
 * ranks. Prints a line each: name, milliseconds until the last rank has its answer, and the server's own microseconds
 * of processor a rank. */
#include "config.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "asking.h"
#include "rendezvous/client.h"
#include "rendezvous/server.h"
#include "rendezvous/wire.h"
#include "system/node.h"

enum {
    SECONDS = 120,
    EVENTS = 256,
    STEPS_MAX = 4,
    TEXT_SIZE = 256,
    RETRY_MS = 1000,
    AT_ONCE = 256,
};

/* A rank's next question, by how many it has asked. False: it has asked all. */
typedef bool ask_next(uint32_t rank, uint32_t ranks, unsigned step, char text[TEXT_SIZE]);

struct rank {
    struct asking asking; /* fd -1: between two connections */
    uint32_t number;
    unsigned step;
    int64_t next;   /* when it connects; until when it tries to, while it does */
    uint32_t pause; /* the last one */
};

static char token[RC_WIRE_TOKEN + 1];

/* rollcall_nccl_unique_id and rollcall_broadcast: a count of the rank's programs, then the value */
static bool ask_value(uint32_t rank, unsigned step, const char *what, char text[TEXT_SIZE])
{
    if (step == 0)
        snprintf(text, TEXT_SIZE, "store count n/%s/%u\n", what, rank);
    else if (rank == 0)
        snprintf(text, TEXT_SIZE, "store put v/%s\n%0128u", what, 7U);
    else
        snprintf(text, TEXT_SIZE, "store get v/%s\n", what);
    return step < 2;
}

static bool ask_id(uint32_t rank, uint32_t ranks, unsigned step, char text[TEXT_SIZE])
{
    (void)ranks;
    return ask_value(rank, step, "id", text);
}

/* The process has counted its program already. */
static bool ask_broadcast(uint32_t rank, uint32_t ranks, unsigned step, char text[TEXT_SIZE])
{
    (void)ranks;
    return step == 0 && ask_value(rank, 1, "broadcast", text);
}

static bool ask_watch(uint32_t rank, uint32_t ranks, unsigned step, char text[TEXT_SIZE])
{
    snprintf(text, TEXT_SIZE, "reached=%u %u\n", rank, ranks);
    return step < 1;
}

static const struct {
    const char *name;
    ask_next *ask;
} services[] = { { "id", ask_id }, { "broadcast", ask_broadcast }, { "watch", ask_watch } };

static void hang_up(struct rank *rank)
{
    if (rank->asking.fd >= 0)
        close(rank->asking.fd);
    rank->asking.fd = -1;
    rank->asking.sent = false;
    rc_wire_free(&rank->asking.wire);
}

/* Each node has an address of its own, as there are fewer ports than connections. */
static bool connect_rank(struct rank *rank, uint16_t port, int epoll)
{
    const struct sockaddr_in to = { .sin_family = AF_INET,
                                    .sin_port = htons(port),
                                    .sin_addr.s_addr = htonl(INADDR_LOOPBACK + rank->number / 8) };
    struct epoll_event event = { .events = EPOLLOUT, .data.ptr = rank };

    rank->asking.fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    rank->next = rc_milliseconds() + RETRY_MS;
    return rank->asking.fd >= 0 && epoll_ctl(epoll, EPOLL_CTL_ADD, rank->asking.fd, &event) == 0 &&
           (connect(rank->asking.fd, (const struct sockaddr *)&to, sizeof(to)) == 0 || errno == EINPROGRESS);
}

/* As client.c does it: twice as long each time, not all at the same moment. */
static void come_again(struct rank *rank)
{
    rank->pause = rank->pause ? 2 * rank->pause : RC_CLIENT_AGAIN_TASK_MS;
    if (rank->pause > RC_CLIENT_AGAIN_TASK_MAX_MS)
        rank->pause = RC_CLIENT_AGAIN_TASK_MAX_MS;
    rank->next = rc_milliseconds() + rank->pause / 2 + rank->number * 7919 % (rank->pause / 2);
    hang_up(rank);
}

/* Returns false once the rank has no more to ask. */
static bool prepare_rank(struct rank *rank, uint32_t ranks, ask_next *ask)
{
    char text[TEXT_SIZE];

    free(rank->asking.message);
    rank->asking.message = NULL;
    if (!ask(rank->number, ranks, rank->step, text))
        return false;
    rank->asking.message = rc_wire_pack(token, rc_str(text), &rank->asking.size);
    rank->next = 0;
    rank->pause = 0;
    return true;
}

/* Returns 1 once the rank is through, -1 on an error. */
static int advance_rank(struct rank *rank, uint32_t ranks, ask_next *ask, int epoll)
{
    switch (asking_advance(&rank->asking, token, epoll, rank)) {
    case ASKING_WAITS:
        return 0;
    case ASKING_REFUSED: /* as the queue of the listener is full: at once again */
        hang_up(rank);
        return 0;
    case ASKING_WRONG:
        return -1;
    case ASKING_DONE:
        break;
    }
    if (rc_str_is(rc_wire_text(&rank->asking.wire), RC_SERVER_AGAIN)) {
        come_again(rank);
        return 0;
    }
    hang_up(rank);
    rank->step++;
    return !prepare_rank(rank, ranks, ask);
}

/* Connects some of those whose time has come, so that they speak soon after; rank 0's last question waits for all
 * others' questions before it. */
static bool connect_due(struct rank *rank, uint32_t ranks, uint16_t port, int epoll, ask_next *ask)
{
    int64_t now = rc_milliseconds();
    uint32_t behind = 0;
    uint32_t count = 0;
    char text[TEXT_SIZE];

    for (uint32_t i = 1; i < ranks; i++) {
        behind += rank[i].asking.message && rank[i].step < rank[0].step;
        if (rank[i].asking.fd >= 0 && !rank[i].asking.sent && rank[i].next <= now)
            hang_up(&rank[i]); /* its connection was not taken: once more, as connect_to */
        if (count < AT_ONCE && rank[i].asking.fd < 0 && rank[i].asking.message && rank[i].next <= now) {
            count++;
            if (!connect_rank(&rank[i], port, epoll))
                return false;
        }
    }
    if (rank[0].asking.fd < 0 && rank[0].asking.message && (behind == 0 || ask(0, ranks, rank[0].step + 1, text)))
        return connect_rank(&rank[0], port, epoll);
    return true;
}

static bool run_service(struct rank *rank, uint32_t ranks, uint16_t port, ask_next *ask)
{
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    int64_t end = rc_milliseconds() + SECONDS * 1000;
    uint32_t done = 0;

    for (uint32_t i = 0; i < ranks; i++) {
        rank[i] = (struct rank){ .number = i, .asking = { .fd = -1, .wire.limit = RC_WIRE_BODY_MAX } };
        prepare_rank(&rank[i], ranks, ask);
    }
    while (done < ranks) {
        struct epoll_event events[EVENTS];
        int count;

        if (rc_milliseconds() > end || !connect_due(rank, ranks, port, epoll, ask))
            return false;
        for (int rounds = 0; rounds < 64 && (count = epoll_wait(epoll, events, EVENTS, rounds ? 0 : 5)) > 0; rounds++) {
            for (int i = 0; i < count; i++) {
                int rc = advance_rank(events[i].data.ptr, ranks, ask, epoll);

                if (rc < 0)
                    return false;
                done += (uint32_t)rc;
            }
        }
    }
    close(epoll);
    return true;
}

static struct rc_str decide_nothing(void *more, const struct rc_roll *rolls, size_t count, bool complete)
{
    (void)more;
    (void)rolls;
    (void)count;
    (void)complete;
    return RC_STR("");
}

static void say_nothing(void *more, enum rc_message_id id, const char *text)
{
    (void)more;
    (void)id;
    (void)text;
}

/* A server of its own for each service, so that its processor time is the service's. */
static pid_t open_server(uint32_t descriptors, uint16_t *port, int *life)
{
    const struct rlimit limit = { .rlim_cur = descriptors, .rlim_max = descriptors };
    int listener = rc_listen(0, 0, port);
    int ends[2];
    pid_t pid;

    if (listener < 0 || pipe(ends) < 0 || rc_wire_new_token(token) < 0)
        return -1;
    pid = fork();
    if (pid == 0) {
        struct rc_server *server;

        close(ends[1]);
        if (descriptors && setrlimit(RLIMIT_NOFILE, &limit) < 0)
            _exit(2);
        server = rc_server_create(listener, token);
        if (!server)
            _exit(3);
        rc_server_watch(server, SECONDS, 0, say_nothing, NULL);
        _exit(rc_server_run(server, SECONDS, ends[0], decide_nothing, NULL) < 0);
    }
    close(listener);
    close(ends[0]);
    *life = ends[1];
    return pid;
}

int main(int argc, char **argv)
{
    uint32_t ranks = argc == 3 ? (uint32_t)atoi(argv[1]) : 0;
    uint32_t descriptors = argc == 3 ? (uint32_t)atoi(argv[2]) : 0;
    struct rank *rank = calloc(ranks, sizeof(*rank));
    struct rlimit limit;

    if (!ranks || !rank || getrlimit(RLIMIT_NOFILE, &limit) < 0)
        return 2;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    for (unsigned i = 0; i < sizeof(services) / sizeof(*services); i++) {
        struct rusage usage;
        uint16_t port;
        int life = -1;
        int status;
        pid_t server = open_server(descriptors, &port, &life);
        int64_t start = rc_milliseconds();
        bool good;

        good = server > 0 && run_service(rank, ranks, port, services[i].ask);
        start = rc_milliseconds() - start;
        close(life);
        if (server <= 0 || wait4(server, &status, 0, &usage) != server || status != 0 || !good)
            return 1;
        printf("%s %lld %.1f\n", services[i].name, (long long)start,
               (((double)usage.ru_utime.tv_sec + (double)usage.ru_stime.tv_sec) * 1e6 + (double)usage.ru_utime.tv_usec +
                (double)usage.ru_stime.tv_usec) /
                   ranks);
    }
    free(rank);
    return 0;
}
