/* SPDX-License-Identifier: BSD-3-Clause */
#include "resolve/reverse.h"

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
