/* SPDX-License-Identifier: BSD-3-Clause */
#include "resolve/guard.h"

#include "resolve/container.h"
#include "resolve/precedence.h"
#include "resolve/preloading.h"
#include "resolve/watch.h"

/* Whether the guard can be loaded. Where it cannot, a warning says why. */
static bool plan_guard(const struct rc_context *context, struct rc_result *result)
{
    static const char reason[] = "how the guard comes between a program and NCCL, behind all others";
    struct rc_str file = context->here->guard;
    const char *hidden = rc_container_hides(context, result, file, RC_GUARD_LIBRARY);

    if (hidden) {
        rc_message_add(
            &result->messages, RC807,
            rc_format(&result->arena,
                      "guard=nccl was asked for, but %s; no communicator is checked; mount the folder of rollcall's "
                      "libraries into it",
                      hidden));
        return false;
    }
    if (!file.n || !rc_preloading_add(result, file, "guard", reason)) {
        rc_message_add(&result->messages, RC807,
                       file.n
                           ? "guard=nccl was asked for, but LD_PRELOAD is too long for one more library; no "
                             "communicator is checked; make it shorter"
                           : "guard=nccl was asked for, but librollcall-nccl.so is not where it was installed to, or "
                             "LD_PRELOAD cannot hold its name; no communicator is checked; install all "
                             "of rollcall on this node, in a folder without colon, blank or dollar");
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
