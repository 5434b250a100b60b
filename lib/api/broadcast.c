/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <string.h>

#include "api/call.h"
#include "rendezvous/store.h"

/* No colon: the names of librollcall's own calls have one. */
static bool is_name(const char *name)
{
    size_t n = name ? strlen(name) : 0;

    return n > 0 && n <= RC_CALL_NAME && rc_store_is_key((struct rc_str){ name, n }) && !strpbrk(name, ":/");
}

static int fail_invalid(struct rollcall_error *error, const char *what)
{
    char text[128];
    struct rc_arena arena = { .base = text, .size = sizeof(text) };

    return rc_job_fail(error, ROLLCALL_INVALID, "", rc_format(&arena, "rollcall_broadcast: %s", what));
}

static int fail_size(const struct rc_call *call, int root, size_t theirs, size_t ours, struct rollcall_error *error)
{
    char text[256];
    struct rc_arena arena = { .base = text, .size = sizeof(text) };

    rc_format(&arena, "rank %u: %s: rank %u gives %U bytes and this one takes %U; give all ranks the same size",
              call->rank, call->title, (uint32_t)root, (uint64_t)theirs, (uint64_t)ours);
    return rc_job_fail(error, ROLLCALL_CONTRADICTION, rc_message_entry(RC619)->id, text);
}

int rollcall_broadcast(const struct rollcall *job, const char *name, void *data, size_t size, int root, int timeout_ms,
                       struct rollcall_error *error)
{
    char title[RC_CALL_TITLE];
    struct rc_arena arena = { .base = title, .size = sizeof(title) };
    struct rc_call call;
    size_t got;

    if (!job)
        return fail_invalid(error, "job is NULL");
    if (!is_name(name))
        return fail_invalid(error, "a name has 1 to 64 letters, digits and . _ -");
    if (size > ROLLCALL_BROADCAST_MAX || (size && !data))
        return fail_invalid(error, size ? "size is more than 16384, or data is NULL" : "size");
    if (rc_call_begin(job, name, rc_format(&arena, "rollcall_broadcast(\"%s\")", name), timeout_ms, &call, error) < 0)
        return -1;
    if (root < 0 || (uint32_t)root >= call.world)
        return fail_invalid(error, "root is no rank of the job");
    if (call.rank == (uint32_t)root)
        return rc_call_say(&call, 0, (struct rc_str){ size ? data : "", size }, error);
    if (rc_call_hear(&call, 0, (uint32_t)root, data, size, &got, error) < 0)
        return -1;
    return got == size ? 0 : fail_size(&call, root, got, size, error);
}
