/* SPDX-License-Identifier: BSD-3-Clause */
#include "resolve/guard.h"

#include "resolve/precedence.h"
#include "resolve/preloading.h"
#include "resolve/watch.h"

/* Whether the guard can be loaded. Where it cannot, a warning says why. */
static bool plan_guard(const struct rc_context *context, struct rc_result *result)
{
    const char *why = rc_preloading_add(context, result, context->here->guard, RC_GUARD_LIBRARY, "guard",
                                        "how the guard comes between a program and NCCL, behind all others");

    if (why) {
        rc_message_add(&result->messages, RC807,
                       rc_format(&result->arena,
                                 "guard=nccl was asked for, but %s; no communicator is checked; " RC_PRELOADING_CURE,
                                 why));
        return false;
    }
    rc_plan_set(
        result, RC_STR(RC_GUARD),
        rc_format(&result->arena, "%s deadline=%u", rc_watch_identity(result), rc_options_deadline(&context->options)),
        "guard", "what the guard compares with");
    return true;
}

void rc_guard_plan(const struct rc_context *context, struct rc_result *result)
{
    if (context->options.guard != RC_GUARD_NCCL || !rc_result_learned(context, result, RC_LEARN_GUARD) ||
        !plan_guard(context, result))
        rc_plan_unset(result, RC_STR(RC_GUARD), "left over from a launch further outside");
}
