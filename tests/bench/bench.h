/* SPDX-License-Identifier: BSD-3-Clause */
/* bench.h - clocks, and srun's server in a process of its own, for the programs of tests/bench. Each prints one measure
 * a line, in microseconds, and may add a note: pairs.py takes the median. */
#pragma once

#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "rendezvous/server.h"
#include "rendezvous/wire.h"

enum { BENCH_SECONDS = 120 };

struct bench_server {
    char token[RC_WIRE_TOKEN + 1];
    uint16_t port;
    pid_t pid;
    int life; /* the server ends when this is closed */
};

static inline double bench_wall(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static inline double bench_processor(const struct rusage *usage)
{
    return (double)(usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) * 1e6 +
           (double)(usage->ru_utime.tv_usec + usage->ru_stime.tv_usec);
}

static inline void bench_forget(enum rc_message_id id, const char *text)
{
    (void)id;
    (void)text;
}

/* On loopback, with so many descriptors (0: as many as this process). */
static inline bool bench_open(struct bench_server *server, uint32_t descriptors, rc_server_decide *decide, void *more)
{
    const struct rlimit limit = { .rlim_cur = descriptors, .rlim_max = descriptors };
    int listener = rc_listen(0, 0, &server->port);
    int ends[2];

    if (listener < 0 || pipe(ends) < 0 || rc_wire_new_token(server->token) < 0)
        return false;
    server->pid = fork();
    if (server->pid == 0) {
        struct rc_server *own;

        close(ends[1]);
        if (descriptors && setrlimit(RLIMIT_NOFILE, &limit) < 0)
            _exit(2);
        own = rc_server_create(listener, ends[0], server->token);
        if (!own)
            _exit(3);
        rc_server_watch(own, &(struct rc_server_settings){ .watch_seconds = BENCH_SECONDS }, 0, bench_forget);
        _exit(rc_server_run(own, BENCH_SECONDS, decide, more) < 0);
    }
    close(listener);
    close(ends[0]);
    server->life = ends[1];
    return server->pid > 0;
}

/* False where the server failed; else what it took of the processor. */
static inline bool bench_close(struct bench_server *server, double *processor)
{
    struct rusage usage;
    int status;

    close(server->life);
    if (wait4(server->pid, &status, 0, &usage) != server->pid || status != 0)
        return false;
    *processor = bench_processor(&usage);
    return true;
}
