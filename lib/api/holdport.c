/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/job.h"
#include "effects/lookup.h"
#include "effects/rank0.h"
#include "system/portowner.h"

/* What can be said of a port beside the job, which does not change. */
struct holding {
    struct rc_result result;
    char text[2048];
};

static int fail_holding(const struct holding *holding, struct rollcall_error *error)
{
    const struct rc_messages *messages = &holding->result.messages;
    unsigned last = messages->count - 1;

    return rc_job_fail(error, ROLLCALL_CONTRADICTION, rc_message_entry(messages->list[last].id)->id,
                       messages->list[last].text);
}

static struct holding *copy_job(const struct rollcall *job)
{
    struct holding *holding = malloc(sizeof(*holding));

    if (!holding)
        return NULL;
    memcpy(&holding->result, &job->result, sizeof(holding->result));
    holding->result.arena = (struct rc_arena){ .base = holding->text, .size = sizeof(holding->text) };
    holding->result.messages.count = 0;
    return holding;
}

int rollcall_hold_port(const struct rollcall *job, int *fd, struct rollcall_error *error)
{
    char node[HOST_NAME_MAX + 1] = "";
    struct rc_rank0 hooks = {
        .outcome = "nothing is set",
        .is_elsewhere = rc_lookup_is_elsewhere,
        .name_owner = rc_port_owner,
    };
    struct holding *holding;
    int status = 0;
    int held;

    if (!job || !fd)
        return rc_job_fail(error, ROLLCALL_INVALID, "", "rollcall_hold_port: job or fd is NULL");
    if (!job->is_own)
        return rc_job_fail(error, ROLLCALL_INVALID, "", "the job is of another environment than this process's own");
    holding = copy_job(job);
    if (!holding)
        return rc_job_fail(error, ROLLCALL_NO_MEMORY, "", "out of memory");
    gethostname(node, sizeof(node) - 1);
    hooks.node = rc_str(node);
    if (rc_rank0_begin(&holding->result, &hooks, &held))
        *fd = held;
    else
        status = fail_holding(holding, error);
    free(holding);
    return status;
}
