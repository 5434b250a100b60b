/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "api/api.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rendezvous/client.h"
#include "rendezvous/wire.h"
#include "system/node.h"

enum {
    TIMEOUT_MS = 300000, /* torch's default for its store */
    LOST_MS = 5000,      /* for the next program of rank 0's task to start a server */
    PATIENCE_MS = 10000, /* for the server, after the deadline of a gather */
    PAUSE_MS = 20,
    REASON_MAX = 135, /* bytes of the reason */
};

struct counter {
    char name[RC_CALL_NAME + 1];
    uint64_t calls;
    struct counter *next;
};

/* This process in a launch, usually its only one. */
struct rc_call_process {
    char scope[RC_DISCOVERY_SCOPE];
    char id[RC_CLIENT_SELF]; /* unique among the programs of the rank */
    uint32_t rank;
    struct counter *counters;
    char where[RC_DISCOVERY_TEXT]; /* the server; empty: unknown */
    uint64_t program;
    struct rc_call_process *next;
};

static struct rc_call_process *processes;
static pthread_mutex_t state = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t opening = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* In a forked child: drop the parent's state and locks. */
static void begin_anew(void)
{
    static const pthread_mutex_t fresh = PTHREAD_MUTEX_INITIALIZER;

    processes = NULL;
    state = fresh;
    opening = fresh;
}

static void prepare_fork(void)
{
    pthread_atfork(NULL, NULL, begin_anew);
}

static struct rc_call_process *find_process(const struct rc_discovery *discovery, uint32_t rank)
{
    struct rc_call_process *process = processes;

    while (process && (process->rank != rank || strcmp(process->scope, discovery->scope) != 0))
        process = process->next;
    if (process || !(process = calloc(1, sizeof(*process))))
        return process;
    if (rc_client_self(process->id) < 0) {
        free(process);
        return NULL;
    }
    memcpy(process->scope, discovery->scope, sizeof(process->scope));
    process->rank = rank;
    process->next = processes;
    processes = process;
    return process;
}

static struct counter *find_counter(struct rc_call_process *process, const char *name)
{
    struct counter *counter = process->counters;

    while (counter && strcmp(counter->name, name) != 0)
        counter = counter->next;
    if (counter || !(counter = calloc(1, sizeof(*counter))))
        return counter;
    snprintf(counter->name, sizeof(counter->name), "%s", name);
    counter->next = process->counters;
    process->counters = counter;
    return counter;
}

static bool count_call(struct rc_call *call)
{
    struct counter *counter = NULL;

    pthread_once(&once, prepare_fork);
    pthread_mutex_lock(&state);
    call->process = find_process(&call->job->discovery, call->rank);
    if (call->process && (counter = find_counter(call->process, call->name)))
        call->number = counter->calls++;
    pthread_mutex_unlock(&state);
    return counter;
}

int rc_call_begin(const struct rollcall *job, const char *name, const char *title, int timeout_ms, struct rc_call *call,
                  struct rollcall_error *error)
{
    const uint32_t *identity = job->result.identity.field;

    *call = (struct rc_call){ .job = job, .name = name, .title = title, .world = 1 };
    if (timeout_ms < 0)
        return rc_job_fail(error, ROLLCALL_INVALID, "", "%s: timeout_ms is below 0", title);
    if (timeout_ms == 0)
        timeout_ms = TIMEOUT_MS;
    call->deadline = rc_milliseconds() + timeout_ms;
    call->seconds = ((uint32_t)timeout_ms + 999) / 1000;
    if (!job->is_own)
        return rc_job_fail(error, ROLLCALL_INVALID, "", "the job is of another environment than this process's own");
    if (job->result.mode == RC_MODE_NONE && identity[RC_RANK] == RC_UNKNOWN)
        return rc_job_fail(error, ROLLCALL_INVALID, "",
                           "%s: this process is no task of a launch; start it with srun, mpirun or torchrun; start a "
                           "single one with rollcall exec, which makes it rank 0 of 1",
                           title);
    if (identity[RC_RANK] == RC_UNKNOWN || identity[RC_WORLD_SIZE] == RC_UNKNOWN)
        return rc_job_fail(error, ROLLCALL_INVALID, "",
                           "this process has no rank: it is to start its node's ranks itself, as torchrun does");
    call->rank = identity[RC_RANK];
    call->world = identity[RC_WORLD_SIZE];
    if (call->world == 1)
        return 0;
    if (!count_call(call))
        return rc_job_fail(error, ROLLCALL_NO_MEMORY, "", "out of memory");
    return 0;
}

static int fail_gone(const struct rc_call *call, int rc, struct rollcall_error *error)
{
    const char *why = "the server that rank 0's first call started has ended; it ends 10 s after the process that made "
                      "that call, so let that process live until the others have called";

    if (rc == -ENOSPC)
        why =
            "the server's 64 MiB are full, and what broadcasts have put there stays until the launch ends; share less "
            "in them";
    else if (call->job->discovery.kind == RC_DISCOVERY_SRUN)
        why = "srun, beside which the server is, cannot be reached; check that it still runs, and "
              "whether this node reaches it";
    return rc_job_fail(error, ROLLCALL_NO_WAY, rc_message_entry(RC620)->id, "rank %u: %s: %s", call->rank, call->title,
                       why);
}

/* Find the server, and claim the first free program number of this rank. A retry gets the same number. */
static int open_server(struct rc_call *call, int64_t deadline)
{
    static const struct rc_tools tools = { .exchange = NULL };
    const struct rc_call_process *process = call->process;
    struct rc_endpoint endpoint;
    char text[64];
    struct rc_arena arena = { .base = text, .size = sizeof(text) };
    int rc = rc_discovery_open(&call->job->discovery, &tools, deadline, call->where);

    if (rc < 0)
        return rc;
    if (!rc_endpoint_read(rc_str(call->where), &endpoint))
        return -EPROTO;
    return rc_client_number(&endpoint, rc_format(&arena, "program/%s/%u", process->scope, call->rank),
                            rc_str(process->id), rc_milliseconds_of_request(deadline), &call->program);
}

static bool look_up(struct rc_call *call)
{
    pthread_mutex_lock(&state);
    memcpy(call->where, call->process->where, sizeof(call->where));
    call->program = call->process->program;
    pthread_mutex_unlock(&state);
    return call->where[0];
}

/* One thread searches; the others wait for its result. */
static int find_server(struct rc_call *call)
{
    int64_t deadline = call->lost && call->lost + LOST_MS < call->deadline ? call->lost + LOST_MS : call->deadline;
    int rc = 0;

    if (look_up(call))
        return 0;
    while (pthread_mutex_trylock(&opening) != 0) {
        if (rc_milliseconds() >= deadline)
            return -ETIMEDOUT;
        poll(NULL, 0, PAUSE_MS);
    }
    if (!look_up(call)) {
        rc = open_server(call, deadline);
        if (rc == 0) {
            pthread_mutex_lock(&state);
            memcpy(call->process->where, call->where, sizeof(call->where));
            call->process->program = call->program;
            pthread_mutex_unlock(&state);
        }
    }
    pthread_mutex_unlock(&opening);
    return rc;
}

static void forget_server(struct rc_call *call)
{
    pthread_mutex_lock(&state);
    if (strcmp(call->process->where, call->where) == 0)
        call->process->where[0] = '\0';
    pthread_mutex_unlock(&state);
    if (!call->lost)
        call->lost = rc_milliseconds();
}

static int visit_server(struct rc_call *call, uint32_t part, struct rc_gather_request request, uint32_t milliseconds,
                        struct rc_reply *reply)
{
    char name[RC_GATHER_NAME_MAX + 1];
    struct rc_arena arena = { .base = name, .size = sizeof(name) };
    struct rc_endpoint endpoint;

    request.name = rc_str(rc_format(&arena, "%s/%s/%llu/%s/%llu/%u", call->job->ranks_are_tasks ? "task" : "rank",
                                    call->process->scope, (unsigned long long)call->program, call->name,
                                    (unsigned long long)call->number, part));
    if (arena.full || !rc_endpoint_read(rc_str(call->where), &endpoint))
        return -EINVAL;
    return rc_client_gather(&endpoint, &request, milliseconds, reply, NULL);
}

/* After a server ends, rank 0's next program may start another; srun's is final. *reached: a server was found. */
static int run_request(struct rc_call *call, uint32_t part, struct rc_gather_request request, struct rc_reply *reply,
                       bool *reached)
{
    for (;;) {
        int rc = find_server(call);
        uint32_t left = rc_milliseconds_of_request(call->deadline);

        *reached = rc == 0;
        if (rc == 0 && request.of > 1)
            request.each = request.most = left;
        if (rc == 0)
            rc = visit_server(call, part, request, request.of > 1 ? left + PATIENCE_MS : left, reply);
        if (!rc_client_has_ended(rc))
            return rc;
        forget_server(call);
        if (call->job->discovery.kind == RC_DISCOVERY_SRUN || rc_milliseconds() >= call->lost + LOST_MS ||
            rc_milliseconds() >= call->deadline)
            return rc;
        poll(NULL, 0, PAUSE_MS);
    }
}

int rc_call_fail_late(const struct rc_call *call, const char *who, struct rollcall_error *error)
{
    return rc_job_fail(error, ROLLCALL_TIMEOUT, rc_message_entry(RC617)->id,
                       "rank %u: %s: %s; look at the output there, or give a larger timeout; all ranks make the same "
                       "calls in the same order",
                       call->rank, call->title, who);
}

/* *text, to be freed, is the reply. `root` is the expected rank; RC_UNKNOWN: all. */
static int settle_request(struct rc_call *call, uint32_t part, const struct rc_gather_request *request, uint32_t root,
                          struct rc_gathered *gathered, char **text, struct rollcall_error *error)
{
    struct rc_reply reply = { .text = NULL };
    char who[96];
    bool reached;
    int rc = run_request(call, part, *request, &reply, &reached);

    *text = reply.text;
    if (rc == 0)
        rc = rc_gathered_read((struct rc_str){ reply.text, reply.size }, gathered);
    if (rc == 0)
        return 0;
    free(reply.text);
    if (rc == -EIO && !reached)
        return rc_job_fail(error, ROLLCALL_NO_WAY, rc_message_entry(RC616)->id,
                           "rank %u: %s: no way to the other tasks: %.*s; %s", call->rank, call->title, REASON_MAX,
                           call->where, call->job->discovery.cure);
    if (rc != -ETIMEDOUT || call->lost ||
        (reached ? request->member != RC_UNKNOWN : call->job->discovery.kind == RC_DISCOVERY_SRUN))
        return fail_gone(call, rc, error);
    /* without a server, rank 0 may have called and ended */
    if (reached)
        snprintf(who, sizeof(who), "rank %u did not make this call within %u s", root, call->seconds);
    else
        snprintf(who, sizeof(who), "rank 0 has ended, or did not make this call within %u s", call->seconds);
    return rc_call_fail_late(call, who, error);
}

int rc_call_say(struct rc_call *call, uint32_t part, struct rc_str value, struct rollcall_error *error)
{
    const struct rc_gather_request request = { .member = call->rank, .of = 1, .each = 1, .most = 1, .value = value };
    struct rc_gathered gathered;
    uint32_t member = RC_UNKNOWN;
    struct rc_str standing;
    char *text;

    if (!call->process)
        return 0;
    if (settle_request(call, part, &request, call->rank, &gathered, &text, error) < 0)
        return -1;
    rc_gathered_next(&gathered.list, &member, &standing);
    free(text);
    if (member != call->rank)
        return rc_job_fail(error, ROLLCALL_CONTRADICTION, rc_message_entry(RC619)->id,
                           "rank %u: %s: another rank calls itself the root, too; give all ranks the same root",
                           call->rank, call->title);
    return 0;
}

int rc_call_hear(struct rc_call *call, uint32_t part, uint32_t root, void *value, size_t room, size_t *size,
                 struct rollcall_error *error)
{
    const struct rc_gather_request request = { .member = RC_UNKNOWN, .of = 1 };
    struct rc_gathered gathered;
    struct rc_str standing = { .n = 0 };
    uint32_t member;
    char *text;

    if (settle_request(call, part, &request, root, &gathered, &text, error) < 0)
        return -1;
    rc_gathered_next(&gathered.list, &member, &standing);
    if (standing.n && room)
        memcpy(value, standing.p, standing.n < room ? standing.n : room);
    *size = standing.n;
    free(text);
    return 0;
}

int rc_call_gather(struct rc_call *call, struct rc_str value, struct rc_gathered *gathered, char **text,
                   struct rollcall_error *error)
{
    const struct rc_gather_request request = { .member = call->rank, .of = call->world, .value = value };

    return settle_request(call, 0, &request, RC_UNKNOWN, gathered, text, error);
}
