/* SPDX-License-Identifier: BSD-3-Clause */
#include "resolve/reverse.h"

#include "resolve/pinning.h"
#include "resolve/preloading.h"

void rc_reverse_plan(const struct rc_context *context, struct rc_result *result)
{
    const char *why;

    if (context->options.lookup != RC_REVERSE_NUMERIC || !rc_result_learned(context, result, RC_LEARN_REVERSE))
        return;
    why = rc_preloading_add(context, result, context->here->reverse, RC_REVERSE_LIBRARY, "lookup",
                            "torch's stores take addresses without asking for their names");
    if (why)
        rc_message_add(
            &result->messages, RC505,
            rc_format(&result->arena,
                      "lookup=numeric was asked for, but %s; torch's stores look up names; " RC_PRELOADING_CURE, why));
}

bool rc_reverse_has_store(const struct rc_result *result)
{
    enum rc_field field = result->mode == RC_MODE_WORKER ? RC_RANK : RC_NODE_RANK;

    return (result->mode == RC_MODE_WORKER || result->mode == RC_MODE_LAUNCHER) && result->identity.field[field] == 0;
}

bool rc_reverse_neighbour(const struct rc_result *result, char name[RC_HOST_MAX + 1])
{
    return rc_hostlist_nth(result->facts.hosts, result->facts.master_node == 0 ? 1 : 0, name);
}

uint32_t rc_reverse_ranks(const struct rc_context *context, const struct rc_result *result)
{
    uint32_t workers = result->mode == RC_MODE_LAUNCHER ? rc_pinning_workers(context, result) : 0;
    uint64_t ranks = (uint64_t)workers * result->identity.field[RC_NNODES];

    return ranks > 0 && ranks <= RC_MAX_TASKS ? (uint32_t)ranks : result->facts.field[RC_WORLD_SIZE].value;
}
