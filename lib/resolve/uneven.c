/* SPDX-License-Identifier: BSD-3-Clause */
#include "resolve/uneven.h"

enum { SPREAD_MAX = 64 /* characters */ };

/* "3,1"; a long list is not for people: "7 to 8 on each" */
static const char *name_spread(struct rc_result *result)
{
    const struct rc_facts *facts = &result->facts;

    if (!facts->layout.p)
        return rc_format(&result->arena, "%u here", result->identity.field[RC_LOCAL_WORLD_SIZE]);
    if (facts->layout.n > SPREAD_MAX)
        return rc_format(&result->arena, "%u to %u on each", facts->min_local_size, facts->max_local_size);
    return rc_copy(&result->arena, facts->layout);
}

void rc_uneven_warn(struct rc_result *result)
{
    const struct rc_facts *facts = &result->facts;
    uint32_t size = result->identity.field[RC_WORLD_SIZE];
    uint32_t nnodes = result->identity.field[RC_NNODES];
    const char *each = result->launcher->each;
    const char *spread;

    if (result->mode != RC_MODE_WORKER || facts->min_local_size == facts->max_local_size)
        return;
    spread = name_spread(result);
    if (size % nnodes == 0)
        rc_message_add(&result->messages, RC301,
                       rc_format(&result->arena,
                                 "the %u tasks are spread unevenly over %u nodes (%s); ranks are right, but Lightning "
                                 "and others need the same number on each; use %u on each%s%s%s",
                                 size, nnodes, spread, size / nnodes, each[0] ? " (" : "", each, each[0] ? ")" : ""));
    else
        rc_message_add(&result->messages, RC301,
                       rc_format(&result->arena,
                                 "%u tasks cannot be spread evenly over %u nodes (%s); ranks are right, but Lightning "
                                 "and others need the same number on each; start %u or %u tasks%s%s%s",
                                 size, nnodes, spread, size - size % nnodes, size - size % nnodes + nnodes,
                                 each[0] ? " (" : "", each, each[0] ? ")" : ""));
}
