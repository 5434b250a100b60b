/* SPDX-License-Identifier: BSD-3-Clause */
/* scale ROUNDS TASKS-A-NODE ITEMS N...: how long the nodes of N ranks take from no connection to the answer, all of
 * them at once at one real server, which checks their roll. One process is the server, one all nodes: as many sockets
 * as there are nodes, the messages of lib/rendezvous. With ITEMS 1 each node says what it has. Prints for each N the
 * median milliseconds, the server's own microseconds of processor a node, and the bytes of a node's message. */
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
#include "entries.h"
#include "libexec/exchange/exchange.h"
#include "median.h"
#include "rendezvous/server.h"
#include "rendezvous/wire.h"
#include "roll/answer.h"
#include "system/node.h"

enum { SECONDS = 60, EVENTS = 256, ROUNDS_MAX = 100 };

static char token[RC_WIRE_TOKEN + 1];
static bool has_items;

static struct rc_str decide_answer(void *more, const struct rc_roll *rolls, size_t count, bool complete)
{
    struct rc_str text = rc_verdict_decide(more, rolls, count, complete);

    /* a roll without fault, all of it */
    return complete && ((struct rc_verdict *)more)->answer.findings.count == 0 ? text : RC_STR("");
}

static bool prepare_node(struct asking *node, uint32_t number, uint32_t nodes, uint32_t tasks)
{
    char text[ENTRIES_SIZE];
    struct rc_arena arena = { .base = text, .size = sizeof(text) };
    const char *entry = entries_write(number, nodes, tasks, has_items ? ENTRIES_ALIKE : ENTRIES_WITHOUT, &arena);

    *node = (struct asking){ .fd = -1, .wire.limit = RC_ANSWER_SIZE };
    node->message = entry ? rc_wire_pack(token, rc_str(entry), &node->size) : NULL;
    return node->message != NULL;
}

static bool connect_node(struct asking *node, const struct sockaddr_in *to, int epoll)
{
    struct epoll_event event = { .events = EPOLLOUT, .data.ptr = node };

    node->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    return node->fd >= 0 && epoll_ctl(epoll, EPOLL_CTL_ADD, node->fd, &event) == 0 &&
           (connect(node->fd, (const struct sockaddr *)to, sizeof(*to)) == 0 || errno == EINPROGRESS);
}

/* Returns 1 once the node has its answer, -1 on an error. */
static int advance_node(struct asking *node, int epoll)
{
    enum asking_state state = asking_advance(node, token, epoll, node);

    if (state == ASKING_WAITS)
        return 0;
    if (state != ASKING_DONE || !strstr(node->wire.body, "port=24512"))
        return -1;
    close(node->fd);
    return 1;
}

static bool run_rendezvous(struct asking *node, uint32_t nodes, uint16_t port)
{
    const struct sockaddr_in to = { .sin_family = AF_INET,
                                    .sin_port = htons(port),
                                    .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    uint32_t done = 0;

    for (uint32_t i = 0; i < nodes; i++)
        if (!connect_node(&node[i], &to, epoll))
            return false;
    while (done < nodes) {
        struct epoll_event events[EVENTS];
        int count = epoll_wait(epoll, events, EVENTS, SECONDS * 1000);

        if (count <= 0 && errno != EINTR)
            return false;
        for (int i = 0; i < count; i++) {
            int rc = advance_node(events[i].data.ptr, epoll);

            if (rc < 0)
                return false;
            done += (uint32_t)rc;
        }
    }
    close(epoll);
    return true;
}

static pid_t open_server(uint16_t *port)
{
    static struct rc_verdict verdict = { .check = RC_CHECK_STOP, .seconds = SECONDS };
    int listener = rc_listen(0, 0, port);
    pid_t pid = listener < 0 || rc_wire_new_token(token) < 0 ? -1 : fork();

    if (pid == 0) {
        struct rc_server *server = rc_server_create(listener, token);

        _exit(!server || rc_server_run(server, SECONDS, -1, decide_answer, &verdict) < 0);
    }
    if (listener >= 0)
        close(listener);
    return pid;
}

/* Milliseconds, and the server's microseconds of processor; false where a node got no answer. */
static bool measure_rendezvous(uint32_t nodes, uint32_t tasks, double *took, double *processor, size_t *size)
{
    struct asking *node = calloc(nodes, sizeof(*node));
    struct rusage usage;
    uint16_t port;
    pid_t server = open_server(&port);
    bool good = node && server > 0;
    int64_t start;
    int status;

    for (uint32_t i = 0; good && i < nodes; i++)
        good = prepare_node(&node[i], i, nodes, tasks);
    *size = good ? node[nodes - 1].size : 0;
    start = rc_milliseconds();
    good = good && run_rendezvous(node, nodes, port);
    *took = (double)(rc_milliseconds() - start);
    if (server > 0 && wait4(server, &status, 0, &usage) == server)
        good = good && status == 0;
    *processor = ((double)usage.ru_utime.tv_sec + (double)usage.ru_stime.tv_sec) * 1e6 +
                 (double)usage.ru_utime.tv_usec + (double)usage.ru_stime.tv_usec;
    for (uint32_t i = 0; node && i < nodes; i++) {
        free(node[i].message);
        rc_wire_free(&node[i].wire);
    }
    free(node);
    return good;
}

int main(int argc, char **argv)
{
    int rounds = argc > 4 ? atoi(argv[1]) : 0;
    uint32_t tasks = argc > 4 ? (uint32_t)atoi(argv[2]) : 0;
    double took[ROUNDS_MAX], processor[ROUNDS_MAX];
    struct rlimit limit;
    size_t size;

    if (rounds < 1 || rounds > ROUNDS_MAX || tasks < 1)
        return 2;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
    has_items = strcmp(argv[3], "1") == 0;
    for (int i = 4; i < argc; i++) {
        uint32_t nodes = (uint32_t)atoi(argv[i]) / tasks;

        for (int r = 0; r < rounds; r++)
            if (!measure_rendezvous(nodes, tasks, &took[r], &processor[r], &size))
                return 1;
        printf("%.1f %.2f %zu\n", median(took, (size_t)rounds), median(processor, (size_t)rounds) / nodes, size);
    }
    return 0;
}
