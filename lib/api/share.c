/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/api.h"
#include "rendezvous/server.h"
#include "rendezvous/store.h"
#include "system/node.h"

/* A call that has a name of the user's, before which `kind` goes: calls of each kind are counted by themselves. */
struct named_call {
    char name[RC_CALL_NAME + 1];
    char title[sizeof("rollcall_broadcast(\"\")") + RC_CALL_USERS_NAME];
    struct rc_call call;
};

enum { WHY_SIZE = 256 };

/* No colon: the names of librollcall's own calls have one. */
static bool is_name(const char *name)
{
    size_t n = name ? strlen(name) : 0;

    return n > 0 && n <= RC_CALL_USERS_NAME && rc_store_is_key((struct rc_str){ name, n }) && !strpbrk(name, ":/");
}

static int begin_named(struct named_call *named, const struct rollcall *job, const char *function, const char *kind,
                       const char *name, size_t size, const char *missing, int timeout_ms, struct rollcall_error *error)
{
    if (!job)
        return rc_job_fail(error, ROLLCALL_INVALID, "", "%s: job is NULL", function);
    if (!is_name(name))
        return rc_job_fail(error, ROLLCALL_INVALID, "", "%s: a name has 1 to 64 letters, digits and . _ -", function);
    if (size > ROLLCALL_BROADCAST_MAX)
        return rc_job_fail(error, ROLLCALL_INVALID, "", "%s: size is more than 16384", function);
    if (size && missing)
        return rc_job_fail(error, ROLLCALL_INVALID, "", "%s: %s is NULL", function, missing);
    snprintf(named->name, sizeof(named->name), "%s%s", kind, name);
    snprintf(named->title, sizeof(named->title), "%s(\"%s\")", function, name);
    return rc_call_begin(job, named->name, named->title, timeout_ms, &named->call, error);
}

static void write_sizes(char why[WHY_SIZE], uint32_t giver, size_t given, uint32_t taker, size_t taken)
{
    snprintf(why, WHY_SIZE, "rank %u gives %llu bytes and rank %u takes %llu; give all ranks the same size", giver,
             (unsigned long long)given, taker, (unsigned long long)taken);
}

static int fail_wrong(const struct rc_call *call, const char *why, struct rollcall_error *error)
{
    return rc_job_fail(error, ROLLCALL_CONTRADICTION, rc_message_entry(RC619)->id, "rank %u: %s: %s", call->rank,
                       call->title, why);
}

int rollcall_broadcast(const struct rollcall *job, const char *name, void *data, size_t size, int root, int timeout_ms,
                       struct rollcall_error *error)
{
    struct named_call named;
    struct rc_call *call = &named.call;
    char why[WHY_SIZE];
    size_t got;

    if (begin_named(&named, job, "rollcall_broadcast", "", name, size, data ? NULL : "data", timeout_ms, error) < 0)
        return -1;
    if (root < 0 || (uint32_t)root >= call->world)
        return rc_job_fail(error, ROLLCALL_INVALID, "", "rollcall_broadcast: root is no rank of the job");
    if (call->rank == (uint32_t)root)
        return rc_call_say(call, 0, (struct rc_str){ size ? data : "", size }, error);
    if (rc_call_hear(call, 0, (uint32_t)root, data, size, &got, error) < 0)
        return -1;
    if (got == size)
        return 0;
    write_sizes(why, (uint32_t)root, got, call->rank, size);
    return fail_wrong(call, why, error);
}

/* All ranks' values to all ranks, in some requests a rank and not in their square: each rank puts its value as the part
 * of its number, rank 0 puts all of them together, and the others take that.
 *
 * All ranks end alike. What counts is the verdict that is put first: rank 0's, or that of a rank whose time is over.
 * Whoever puts it also says why. A rank whose time is over puts an empty part for each that has not called: so it
 * learns which these are, and they learn that they are too late. */

enum { VERDICT, WHY, PIECES };           /* parts after those of the ranks */
enum { PIECE = ROLLCALL_BROADCAST_MAX }; /* bytes of a piece of all */
enum { WHOLE = 'w', LATE = 'l', WRONG = 'x' };
enum { PATIENCE_MS = 10000 }; /* with what other ranks do at the end of their time */

static void add_patience(struct rc_call *call)
{
    int64_t until = rc_milliseconds() + PATIENCE_MS;

    if (call->deadline < until)
        call->deadline = until;
}

/* Write "ranks 2-3 on n2 did not make this call within 5 s". All ranks use that text: their timeouts may differ. Return
 * 0 or -1. */
static int find_missing(struct rc_call *call, char why[WHY_SIZE], struct rollcall_error *error)
{
    const struct rollcall *job = call->job;
    bool *come = calloc(call->world, sizeof(*come));
    struct rc_arena arena = { .base = why, .size = WHY_SIZE };
    struct rc_endpoint server;
    /* torchrun and order= have other ranks than srun's server */
    bool has_nodes = job->discovery.kind == RC_DISCOVERY_SRUN && job->ranks_are_tasks &&
                     rc_endpoint_read(rc_str(job->discovery.endpoint), &server);
    int rc = 0;

    if (!come)
        return rc_job_fail(error, ROLLCALL_NO_MEMORY, "", "out of memory");
    for (uint32_t rank = 0; rc >= 0 && rank < call->world; rank++) {
        rc = rank == call->rank ? 0 : rc_call_put(call, rank, RC_STR(""), NULL, error);
        come[rank] = rc == 0;
    }
    if (rc >= 0) {
        if (!rc_missing_ask(has_nodes ? &server : NULL, come, call->world, &arena))
            rc_format(&arena, "rank 0 did not finish this call");
        rc_join(&arena);
        rc_format(&arena, " within %u s", call->seconds);
    }
    free(come);
    return rc < 0 ? -1 : 0;
}

/* Ends the call, with this verdict unless another one stands. `why` it is, where it is WRONG. Returns 0 where all is
 * put together, or -1. */
static int conclude(struct rc_call *call, char verdict, const char *why, struct rollcall_error *error)
{
    const char own = verdict;
    char text[WHY_SIZE] = "a rank did not make this call";
    size_t size;
    int rc;

    add_patience(call);
    rc = rc_call_put(call, call->world + VERDICT, (struct rc_str){ &own, 1 }, &verdict, error);
    if (rc < 0 || verdict == WHOLE)
        return rc < 0 ? -1 : 0;
    if (rc == 0) {
        rc = rc_call_hear(call, call->world + WHY, RC_UNKNOWN, text, sizeof(text) - 1, &size, error);
        if (rc == 0)
            text[size < sizeof(text) ? size : sizeof(text) - 1] = '\0';
    } else {
        rc = why ? snprintf(text, sizeof(text), "%s", why) : find_missing(call, text, error);
        if (rc >= 0)
            rc = rc_call_put(call, call->world + WHY, rc_str(text), NULL, error);
    }
    if (rc < 0)
        return -1;
    return verdict == LATE ? rc_call_fail_late(call, text, error) : fail_wrong(call, text, error);
}

static size_t piece_size(size_t total, size_t begin)
{
    return total - begin < PIECE ? total - begin : PIECE;
}

/* Rank 0. */
static int collect_parts(struct rc_call *call, char *all, size_t size, struct rollcall_error *error)
{
    size_t total = call->world * size;
    uint32_t part = call->world + PIECES;
    char why[WHY_SIZE];

    for (uint32_t rank = 1; rank < call->world; rank++) {
        size_t got = 0;
        int rc = rc_call_hear(call, rank, RC_UNKNOWN, all + rank * size, size, &got, error);

        if (rc != 0)
            return rc < 0 ? -1 : conclude(call, LATE, NULL, error);
        write_sizes(why, rank, got, 0, size);
        if (got != size)
            return conclude(call, WRONG, why, error);
    }
    add_patience(call);
    for (size_t i = 0; i < total; i += PIECE)
        if (rc_call_put(call, part++, (struct rc_str){ all + i, piece_size(total, i) }, NULL, error) < 0)
            return -1;
    return conclude(call, WHOLE, NULL, error);
}

static int take_pieces(struct rc_call *call, char *all, size_t size, struct rollcall_error *error)
{
    size_t total = call->world * size;
    uint32_t part = call->world + PIECES;
    char verdict = LATE;
    size_t got;

    if (rc_call_hear(call, call->world + VERDICT, RC_UNKNOWN, &verdict, 1, &got, error) < 0 ||
        (verdict != WHOLE && conclude(call, LATE, NULL, error) < 0))
        return -1;
    add_patience(call);
    for (size_t i = 0; i < total; i += PIECE)
        if (rc_call_hear(call, part++, 0, all + i, piece_size(total, i), &got, error) < 0)
            return -1;
    return 0;
}

/* The own part stands already: this rank is too late, or not the only one of its number. */
static int refuse_own(struct rc_call *call, struct rollcall_error *error)
{
    char why[WHY_SIZE];

    snprintf(why, sizeof(why), "another process is rank %u, too; start each rank once", call->rank);
    return conclude(call, WRONG, why, error) < 0 ? -1 : fail_wrong(call, why, error);
}

static int gather_parts(struct rc_call *call, const void *data, size_t size, char *all, struct rollcall_error *error)
{
    char *own = all + call->rank * size;
    int rc;

    if (size)
        memmove(own, data, size);
    if (!call->process)
        return 0;
    rc = rc_call_put(call, call->rank, (struct rc_str){ size ? own : "", size }, NULL, error);
    if (rc != 1)
        return rc < 0 ? -1 : refuse_own(call, error);
    return call->rank == 0 ? collect_parts(call, all, size, error) : take_pieces(call, all, size, error);
}

int rollcall_allgather(const struct rollcall *job, const char *name, const void *data, size_t size, void *all,
                       int timeout_ms, struct rollcall_error *error)
{
    const char *missing = !data ? "data" : !all ? "all" : NULL;
    struct named_call named;

    if (begin_named(&named, job, "rollcall_allgather", "all:", name, size, missing, timeout_ms, error) < 0)
        return -1;
    return gather_parts(&named.call, data, size, all, error);
}

int rollcall_barrier(const struct rollcall *job, const char *name, int timeout_ms, struct rollcall_error *error)
{
    struct named_call named;
    char nothing[1] = "";

    if (begin_named(&named, job, "rollcall_barrier", "bar:", name, 0, NULL, timeout_ms, error) < 0)
        return -1;
    return gather_parts(&named.call, nothing, 0, nothing, error);
}
