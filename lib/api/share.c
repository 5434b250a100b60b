/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/api.h"

/* A call with a user's name. A prefix separates the kinds of calls. */
struct named_call {
    char name[RC_CALL_NAME + 1];
    char title[sizeof("rollcall_broadcast(\"\")") + RC_CALL_USERS_NAME];
    struct rc_call call;
};

enum { WHY_SIZE = 256 };

/* No colon: it marks librollcall's internal calls. */
static bool is_name(const char *name)
{
    size_t n = name ? strlen(name) : 0;

    return n > 0 && n <= RC_CALL_USERS_NAME && rc_gather_is_name((struct rc_str){ name, n }) && !strpbrk(name, ":/");
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

/* All ranks have the same values, and reach the same result. A duplicate counts twice, so it explains a missing
 * rank. */
static int check_ranks(const struct rc_call *call, const struct rc_gathered *gathered, struct rc_str *values,
                       struct rollcall_error *error)
{
    struct rc_str list = gathered->list;
    struct rc_str value;
    char why[WHY_SIZE];
    uint32_t rank;

    while (rc_gathered_next(&list, &rank, &value)) {
        if (rank >= call->world || values[rank].p) {
            snprintf(why, sizeof(why), "another process is rank %u, too; start each rank once", rank);
            return fail_wrong(call, why, error);
        }
        values[rank] = value;
    }
    if (gathered->count < call->world) {
        snprintf(why, sizeof(why), "%.*s", (int)gathered->missing.n, gathered->missing.p);
        return rc_call_fail_late(call, why, error);
    }
    for (rank = 1; rank < call->world; rank++) {
        if (values[rank].n == values[0].n)
            continue;
        write_sizes(why, rank, values[rank].n, 0, values[0].n);
        return fail_wrong(call, why, error);
    }
    return 0;
}

static int gather_values(struct rc_call *call, const void *data, size_t size, char *all, struct rollcall_error *error)
{
    struct rc_str *values = calloc(call->world, sizeof(*values));
    struct rc_gathered gathered;
    char *text = NULL;
    int rc;

    if (!values)
        return rc_job_fail(error, ROLLCALL_NO_MEMORY, "", "out of memory");
    rc = rc_call_gather(call, (struct rc_str){ size ? data : "", size }, &gathered, &text, error);
    if (rc == 0) {
        rc = check_ranks(call, &gathered, values, error);
        for (uint32_t rank = 0; rc == 0 && size && rank < call->world; rank++)
            memcpy(all + rank * size, values[rank].p, size);
        free(text);
    }
    free(values);
    return rc;
}

int rollcall_allgather(const struct rollcall *job, const char *name, const void *data, size_t size, void *all,
                       int timeout_ms, struct rollcall_error *error)
{
    const char *missing = !data ? "data" : !all ? "all" : NULL;
    struct named_call named;

    if (begin_named(&named, job, "rollcall_allgather", "all:", name, size, missing, timeout_ms, error) < 0)
        return -1;
    if (named.call.process)
        return gather_values(&named.call, data, size, all, error);
    if (size)
        memmove(all, data, size);
    return 0;
}

int rollcall_barrier(const struct rollcall *job, const char *name, int timeout_ms, struct rollcall_error *error)
{
    struct named_call named;
    if (begin_named(&named, job, "rollcall_barrier", "bar:", name, 0, NULL, timeout_ms, error) < 0)
        return -1;
    return named.call.process ? gather_values(&named.call, NULL, 0, NULL, error) : 0;
}
