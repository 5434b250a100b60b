/* SPDX-License-Identifier: BSD-3-Clause */
/* meet ROUNDS TASKS-A-NODE N...: how long N ranks take from no connection to the answer, as srun's server, the nodes'
 * rc_client_request and the memory that a node's tasks share do it, on loopback. One process is the server, N threads
 * are the ranks. The first rank of each node asks the server, and the others wait for it. Prints the median
 * microseconds of each N. The same for torch's TCPStore, where every rank goes itself, is store.py. */
#include "config.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "median.h"
#include "rendezvous/client.h"
#include "rendezvous/server.h"
#include "rendezvous/wire.h"
#include "roll/answer.h"
#include "spank/node.h"

enum { SECONDS = 60, ROUNDS_MAX = 1000 };

static char token[RC_WIRE_TOKEN + 1];
static uint16_t port;
static uint32_t ranks;
static uint32_t tasks; /* of a node */
static uint32_t nodes;
static struct rc_once *met; /* one a node */
static pthread_barrier_t ready;

static double microseconds_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static struct rc_str decide_answer(void *more, const struct rc_roll *rolls, size_t count, bool complete)
{
    static struct rc_answer answer;
    struct rc_arena arena = { .base = more, .size = 4096 };

    if (!complete || count != nodes)
        return (struct rc_str){ "", 0 };
    answer.port = rolls[0].port ? rolls[0].port : 23456;
    return rc_str(rc_answer_write(&answer, &arena));
}

static bool request_answer(uint32_t node)
{
    const struct rc_endpoint server = { { token, RC_WIRE_TOKEN }, port, rc_str("127.0.0.1") };
    struct rc_reply answer;
    char text[2048];
    struct rc_arena arena = { .base = text, .size = sizeof(text) };
    char on_it[32];
    struct rc_roll roll = {
        .scope = rc_str("bench:1"),
        .host = rc_str("n1"),
        .mode = rc_str("worker"),
        .addr = rc_str("n1"),
        .node = node,
        .nodes = nodes,
        .world = ranks,
    };
    uint32_t last = node * tasks + tasks < ranks ? node * tasks + tasks - 1 : ranks - 1;

    snprintf(on_it, sizeof(on_it), last > node * tasks ? "%u-%u" : "%u", node * tasks, last);
    roll.tasks = rc_str(on_it);
    if (rc_client_request(&server, rc_str(rc_roll_write(&roll, &arena)), SECONDS * 1000, &answer, NULL) < 0)
        return false;
    free(answer.text);
    return true;
}

static void *run_rank(void *number)
{
    uint32_t rank = (uint32_t)(uintptr_t)number;
    struct rc_once *once = &met[rank / tasks];
    bool good;

    pthread_barrier_wait(&ready);
    if (rank % tasks == 0 && rc_once_begin(once)) {
        good = request_answer(rank / tasks);
        rc_once_done(once);
    } else {
        good = rc_once_wait(once, SECONDS * 1000);
    }
    return good ? number : NULL;
}

/* Microseconds of one rendezvous, -1 where a rank got no answer. */
static double run_rendezvous(void)
{
    pthread_t thread[ranks];
    char text[4096];
    int listener = rc_listen(0, 0, &port);
    pid_t server = listener < 0 || rc_wire_new_token(token) < 0 ? -1 : fork();
    double start;
    bool good = true;
    int status;

    if (server < 0)
        return -1;
    if (server == 0) {
        struct rc_server *d = rc_server_create(listener, token);

        _exit(!d || rc_server_run(d, SECONDS, -1, decide_answer, text) < 0);
    }
    close(listener);
    memset(met, 0, nodes * sizeof(*met));
    pthread_barrier_init(&ready, NULL, ranks + 1);
    for (uintptr_t i = 0; i < ranks; i++)
        pthread_create(&thread[i], NULL, run_rank, (void *)i);
    pthread_barrier_wait(&ready);
    start = microseconds_now();
    for (uintptr_t i = 0; i < ranks; i++) {
        void *done;

        pthread_join(thread[i], &done);
        good = good && done == (void *)i;
    }
    start = microseconds_now() - start;
    waitpid(server, &status, 0);
    pthread_barrier_destroy(&ready);
    return good && status == 0 ? start : -1;
}

int main(int argc, char **argv)
{
    int rounds = argc > 3 ? atoi(argv[1]) : 0;
    double took[ROUNDS_MAX];

    tasks = argc > 3 ? (uint32_t)atoi(argv[2]) : 0;
    if (rounds < 1 || rounds > ROUNDS_MAX || tasks < 1)
        return 2;
    for (int i = 3; i < argc; i++) {
        ranks = (uint32_t)atoi(argv[i]);
        nodes = ranks > tasks ? ranks / tasks : 1;
        met = calloc(nodes, sizeof(*met));
        for (int r = 0; met && r < rounds; r++)
            if ((took[r] = run_rendezvous()) < 0)
                return 1;
        free(met);
        printf("%.0f\n", median(took, (size_t)rounds));
    }
    return 0;
}
