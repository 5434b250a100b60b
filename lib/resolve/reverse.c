/* SPDX-License-Identifier: BSD-3-Clause */
#include "resolve/reverse.h"

#include "resolve/preloading.h"

static bool has_store(const struct rc_result *result)
{
    return result->identity.field[result->mode == RC_MODE_WORKER ? RC_RANK : RC_NODE_RANK] == 0;
}

void rc_reverse_plan(const struct rc_context *context, struct rc_result *result)
{
    const char *why;

    if (context->options.lookup != RC_REVERSE_NUMERIC || !has_store(result) ||
        !rc_result_learned(context, result, RC_LEARN_REVERSE))
        return;
    why = rc_preloading_add(context, result, context->here->reverse, RC_REVERSE_LIBRARY, "lookup",
                            "torch's store takes its clients' addresses without asking for names");
    if (why)
        rc_message_add(&result->messages, RC505,
                       rc_format(&result->arena,
                                 "lookup=numeric was asked for, but %s; torch's store looks up the names of its "
                                 "clients; " RC_PRELOADING_CURE,
                                 why));
}
