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
    TIMEOUT_MS = 300000, /* as torch's own for its store */
    LOST_MS = 5000,      /* until the next program of rank 0's task has a store server */
    PAUSE_MS = 20,
    REASON_MAX = 135, /* bytes of why there is no way */
};

struct counter {
    char name[RC_CALL_NAME + 1];
    uint64_t calls;
    struct counter *next;
};

/* This process in one launch. Most processes are in one launch only. */
struct rc_call_process {
    char scope[RC_DISCOVERY_SCOPE];
    char id[RC_WIRE_TOKEN + 1]; /* no other program of the rank has it */
    uint32_t rank;
    struct counter *counters;
    char where[RC_DISCOVERY_TEXT]; /* the store server; empty: not known */
    uint64_t program;
    struct rc_call_process *next;
};

static struct rc_call_process *processes;
static pthread_mutex_t state = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t opening = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* A forked child must not use what its parent knew, nor wait for the locks that it held. */
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
    if (rc_wire_new_token(process->id) < 0) {
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

static uint32_t milliseconds_left(int64_t deadline)
{
    int64_t n = deadline - rc_milliseconds();

    return n < 1 ? 1 : n > INT32_MAX ? INT32_MAX : (uint32_t)n;
}

static int fail_gone(const struct rc_call *call, int rc, struct rollcall_error *error)
{
    const char *why =
        "the store that rank 0's first call started has ended; it ends 10 s after the process that made that call, "
        "so let that process live until the others have called";

    if (rc == -ENOSPC)
        why = "the store of 64 MiB is full, and what calls have put there stays until the launch ends; share less in "
              "all calls";
    else if (call->job->discovery.kind == RC_DISCOVERY_SRUN)
        why = "srun, which stores what the tasks share, cannot be reached; check that it still runs, and "
              "whether this node reaches it";
    return rc_job_fail(error, ROLLCALL_NO_WAY, rc_message_entry(RC620)->id, "rank %u: %s: %s", call->rank, call->title,
                       why);
}

/* Finds the store server, and this process's number there: the first that no other program of its rank has. Whoever
 * asks again, because the reply was late, gets the same one. */
static int open_store(struct rc_call *call, int64_t deadline)
{
    const struct rc_call_process *process = call->process;
    struct rc_endpoint endpoint;
    int rc = rc_discovery_open(&call->job->discovery, deadline, call->where);

    if (rc < 0)
        return rc;
    if (!rc_endpoint_read(rc_str(call->where), &endpoint))
        return -EPROTO;
    for (call->program = 0;; call->program++) {
        char text[64];
        char owner[RC_WIRE_TOKEN] = "";
        size_t size;
        struct rc_arena arena = { .base = text, .size = sizeof(text) };
        const char *key = rc_format(&arena, "n/%s/%u/%llu", process->scope, call->rank,
                                    (unsigned long long)call->program);

        rc = rc_store_client_put(&endpoint, key, rc_str(process->id), milliseconds_left(deadline), owner, sizeof(owner),
                                 &size);
        if (rc < 0)
            return rc;
        if (rc > 0 || memcmp(owner, process->id, sizeof(owner)) == 0)
            return 0;
    }
}

static bool look_up(struct rc_call *call)
{
    pthread_mutex_lock(&state);
    memcpy(call->where, call->process->where, sizeof(call->where));
    call->program = call->process->program;
    pthread_mutex_unlock(&state);
    return call->where[0];
}

/* One thread looks for the server; the others wait for its result. */
static int find_store(struct rc_call *call)
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
        rc = open_store(call, deadline);
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

static void forget_store(struct rc_call *call)
{
    pthread_mutex_lock(&state);
    if (strcmp(call->process->where, call->where) == 0)
        call->process->where[0] = '\0';
    pthread_mutex_unlock(&state);
    if (!call->lost)
        call->lost = rc_milliseconds();
}

static bool is_lost(int rc)
{
    return rc == -ECONNREFUSED || rc == -ECONNRESET || rc == -EPIPE || rc == -EPROTO;
}

/* One request to the store server: to put a value, or to get one. */
struct errand {
    uint32_t part;
    struct rc_str put; /* absent: get */
    void *value;
    size_t room;
    size_t size;
};

static int visit_store(struct rc_call *call, struct errand *errand)
{
    char key[RC_STORE_KEY_MAX + 1];
    struct rc_arena arena = { .base = key, .size = sizeof(key) };
    struct rc_endpoint endpoint;

    rc_format(&arena, "v/%s/%llu/%s/%llu/%u", call->process->scope, (unsigned long long)call->program, call->name,
              (unsigned long long)call->number, errand->part);
    if (arena.full || !rc_endpoint_read(rc_str(call->where), &endpoint))
        return -EINVAL;
    if (errand->put.p)
        return rc_store_client_put(&endpoint, key, errand->put, milliseconds_left(call->deadline), errand->value,
                                   errand->room, &errand->size);
    return rc_store_client_get(&endpoint, key, milliseconds_left(call->deadline), errand->value, errand->room,
                               &errand->size);
}

/* Returns what visit_store returns. If a store server has ended, the next program of rank 0's task may start
 * another one; srun's server has no successor. *reached: whether there was a server. */
static int run_errand(struct rc_call *call, struct errand *errand, bool *reached)
{
    for (;;) {
        int rc = find_store(call);

        *reached = rc == 0;
        if (rc == 0)
            rc = visit_store(call, errand);
        if (!is_lost(rc))
            return rc;
        forget_store(call);
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

/* `root` is the rank that puts the value, if this call gets it; RC_UNKNOWN: 1 is returned where it comes too late. */
static int settle_errand(struct rc_call *call, struct errand *errand, uint32_t root, struct rollcall_error *error)
{
    char who[96];
    bool reached;
    int rc = run_errand(call, errand, &reached);

    if (rc >= 0)
        return rc;
    if (rc == -EIO && !reached)
        return rc_job_fail(error, ROLLCALL_NO_WAY, rc_message_entry(RC616)->id,
                           "rank %u: %s: no way to the other tasks: %.*s; %s", call->rank, call->title, REASON_MAX,
                           call->where, call->job->discovery.cure);
    if (rc != -ETIMEDOUT || call->lost ||
        (reached ? errand->put.p != NULL : call->job->discovery.kind == RC_DISCOVERY_SRUN))
        return fail_gone(call, rc, error);
    if (reached && root == RC_UNKNOWN)
        return 1;
    /* if its store is not there, its process may have called and ended */
    if (reached)
        snprintf(who, sizeof(who), "rank %u did not make this call within %u s", root, call->seconds);
    else
        snprintf(who, sizeof(who), "rank 0 has ended, or did not make this call within %u s", call->seconds);
    return rc_call_fail_late(call, who, error);
}

int rc_call_put(struct rc_call *call, uint32_t part, struct rc_str value, char *standing, struct rollcall_error *error)
{
    struct errand errand = { .part = part, .put = value, .value = standing, .room = 1 };

    return call->process ? settle_errand(call, &errand, call->rank, error) : 1;
}

int rc_call_say(struct rc_call *call, uint32_t part, struct rc_str value, struct rollcall_error *error)
{
    int rc = rc_call_put(call, part, value, NULL, error);

    if (rc == 0)
        return rc_job_fail(error, ROLLCALL_CONTRADICTION, rc_message_entry(RC619)->id,
                           "rank %u: %s: another rank calls itself the root, too; give all ranks the same root",
                           call->rank, call->title);
    return rc < 0 ? -1 : 0;
}

int rc_call_hear(struct rc_call *call, uint32_t part, uint32_t root, void *value, size_t room, size_t *size,
                 struct rollcall_error *error)
{
    struct errand errand = { .part = part, .value = value, .room = room };
    int rc = settle_errand(call, &errand, root, error);

    *size = errand.size;
    return rc;
}
