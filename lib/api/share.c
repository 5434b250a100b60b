/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "api/api.h"
#include "rendezvous/store.h"

/* No colon: the names of librollcall's own calls have one. */
static bool is_name(const char *name)
{
    size_t n = name ? strlen(name) : 0;

    return n > 0 && n <= RC_CALL_NAME && rc_store_is_key((struct rc_str){ name, n }) && !strpbrk(name, ":/");
}

int rollcall_broadcast(const struct rollcall *job, const char *name, void *data, size_t size, int root, int timeout_ms,
                       struct rollcall_error *error)
{
    char title[RC_CALL_NAME + sizeof("rollcall_broadcast(\"\")")];
    struct rc_call call;
    size_t got;

    if (!job)
        return rc_job_fail(error, ROLLCALL_INVALID, "", "rollcall_broadcast: job is NULL");
    if (!is_name(name))
        return rc_job_fail(error, ROLLCALL_INVALID, "",
                           "rollcall_broadcast: a name has 1 to 64 letters, digits and . _ -");
    if (size > ROLLCALL_BROADCAST_MAX || (size && !data))
        return rc_job_fail(error, ROLLCALL_INVALID, "", "rollcall_broadcast: size is more than 16384, or data is NULL");
    snprintf(title, sizeof(title), "rollcall_broadcast(\"%s\")", name);
    if (rc_call_begin(job, name, title, timeout_ms, &call, error) < 0)
        return -1;
    if (root < 0 || (uint32_t)root >= call.world)
        return rc_job_fail(error, ROLLCALL_INVALID, "", "rollcall_broadcast: root is no rank of the job");
    if (call.rank == (uint32_t)root)
        return rc_call_say(&call, 0, (struct rc_str){ size ? data : "", size }, error);
    if (rc_call_hear(&call, 0, (uint32_t)root, data, size, &got, error) < 0)
        return -1;
    if (got == size)
        return 0;
    return rc_job_fail(error, ROLLCALL_CONTRADICTION, rc_message_entry(RC619)->id,
                       "rank %u: %s: rank %u gives %llu bytes and this one takes %llu; give all ranks the same size",
                       call.rank, call.title, (uint32_t)root, (unsigned long long)got, (unsigned long long)size);
}
