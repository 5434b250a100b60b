/* SPDX-License-Identifier: BSD-3-Clause */
/* meet RANKS TASKS-A-NODE - how long the ranks take from no connection to the answer, as srun's server, the nodes'
 * rc_client_request and the memory that a node's tasks share do it, on loopback. One process is the server, a thread
 * is a rank. The first rank of each node asks the server, and the others wait for it. store.py has the same of torch's
 * TCPStore, where every rank goes itself. */
#include "config.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "rendezvous/client.h"
#include "roll/roll.h"
#include "spank/node.h"
#include "tests/bench/bench.h"

static struct bench_server server;
static uint32_t ranks;
static uint32_t tasks; /* of a node */
static uint32_t nodes;
static struct rc_once *met; /* one a node */
static pthread_barrier_t ready;

static struct rc_str decide_answer(void *more, const struct rc_roll *rolls, size_t count, bool complete)
{
    static struct rc_answer answer = { .port = 23456 };
    struct rc_arena arena = { .base = more, .size = 4096 };

    (void)rolls;
    return complete && count == nodes ? rc_str(rc_answer_write(&answer, &arena)) : RC_STR("");
}

static bool request_answer(uint32_t node)
{
    const struct rc_endpoint endpoint = { { server.token, RC_WIRE_TOKEN }, server.port, rc_str("127.0.0.1") };
    char words[64], text[2048];
    struct rc_arena names = { .base = words, .size = sizeof(words) };
    struct rc_arena arena = { .base = text, .size = sizeof(text) };
    uint32_t first = node * tasks;
    uint32_t last = first + tasks < ranks ? first + tasks - 1 : ranks - 1;
    const struct rc_roll roll = {
        .scope = rc_str("bench:1"),
        .host = rc_str("n1"),
        .mode = rc_str("worker"),
        .addr = rc_str("n1"),
        .node = node,
        .nodes = nodes,
        .world = ranks,
        .tasks = rc_str(rc_format(&names, last > first ? "%u-%u" : "%u", first, last)),
    };
    struct rc_reply answer;

    if (rc_client_request(&endpoint, rc_str(rc_roll_write(&roll, &arena)), BENCH_SECONDS * 1000, &answer, NULL) < 0)
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
        good = rc_once_wait(once, BENCH_SECONDS * 1000);
    }
    return good ? number : NULL;
}

int main(int argc, char **argv)
{
    char text[4096];
    pthread_t *thread;
    double start, processor;
    bool good = true;

    ranks = argc == 3 ? (uint32_t)atoi(argv[1]) : 0;
    tasks = argc == 3 ? (uint32_t)atoi(argv[2]) : 0;
    if (ranks == 0 || tasks == 0)
        return 2;
    nodes = ranks > tasks ? ranks / tasks : 1;
    met = calloc(nodes, sizeof(*met));
    thread = calloc(ranks, sizeof(*thread));
    if (!met || !thread || !bench_open(&server, 0, decide_answer, text))
        return 1;
    pthread_barrier_init(&ready, NULL, ranks + 1);
    for (uintptr_t i = 0; i < ranks; i++)
        pthread_create(&thread[i], NULL, run_rank, (void *)i);
    pthread_barrier_wait(&ready);
    start = bench_wall();
    for (uintptr_t i = 0; i < ranks; i++) {
        void *done;

        pthread_join(thread[i], &done);
        good = good && done == (void *)i;
    }
    printf("%.0f\n", bench_wall() - start);
    return !bench_close(&server, &processor) || !good;
}
