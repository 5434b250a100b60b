/* SPDX-License-Identifier: BSD-3-Clause */
#include "resolve/guard.h"

#include "resolve/container.h"
#include "resolve/precedence.h"
#include "resolve/preloading.h"
#include "resolve/watch.h"

static void add(struct rc_result *result, struct rc_plan_entry entry)
{
    if (result->plan.count < RC_PLAN_MAX)
        result->plan.entry[result->plan.count++] = entry;
}

static void set(struct rc_result *result, struct rc_str name, const char *value, const char *reason)
{
    struct rc_str now = rc_env_find(&result->env, name);

    add(result, (struct rc_plan_entry){
                    .action = RC_SET,
                    .name = name,
                    .value = value,
                    .source = "guard",
                    .reason = reason,
                    .changes = !rc_str_is(now, value),
                    .is_new = !now.p,
                });
}

/* False, with a warning, where the guard cannot be loaded. */
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
    set(result, RC_STR(RC_GUARD),
        rc_format(&result->arena, "%s deadline=%u", rc_watch_identity(result), rc_options_deadline(&context->options)),
        "what the guard compares with");
    return true;
}

void rc_guard_plan(const struct rc_context *context, struct rc_result *result)
{
    bool on = context->options.guard == RC_GUARD_NCCL;

    if (on && !(context->here && (context->here->learned & RC_LEARN_GUARD)))
        result->wants |= RC_LEARN_GUARD;
    else if (on && plan_guard(context, result))
        return;
    if (rc_env_get(&result->env, RC_GUARD).p)
        add(result, (struct rc_plan_entry){ .action = RC_UNSET,
                                            .name = RC_STR(RC_GUARD),
                                            .reason = "left over from a launch further outside",
                                            .changes = true });
}
