/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "bind.h"

#include <errno.h>
#include <string.h>

#include "effects/binding.h"
#include "pmixask.h"
#include "resolve/pinning.h"

/* The GPUs that rollcall-map is asked about: the same in all tasks of the node, so that
 * all get the same answer. NULL: none. */
static const char *find_gpus(const struct rc_result *result, struct rc_arena *arena)
{
    const struct rc_task_gpus *gpus = &result->visible.gpus;

    /* no variable hides a GPU of the machine from this process */
    if (!gpus->seen.p)
        return "all";
    if (result->mode == RC_MODE_LAUNCHER)
        return gpus->own.p ? rc_binding_gpus(gpus->own, 1, arena) : NULL;
    return gpus->place == RC_UNKNOWN ? NULL : rc_binding_gpus(gpus->all, 1, arena);
}

static uint32_t count_tasks(const struct rc_context *context, const struct rc_result *result)
{
    if (result->mode == RC_MODE_WORKER)
        return result->identity.field[RC_LOCAL_WORLD_SIZE];
    return rc_pinning_workers(context, result);
}

/* Binds the process. Returns NULL, or why it is not bound. */
static const char *bind_or_excuse(struct rc_context *context, struct rc_result *result, struct rc_arena *arena)
{
    static char answer[RC_BINDING_ANSWER];
    uint32_t tasks = count_tasks(context, result);
    struct rc_binding binding;
    struct rc_pins pins;
    struct rc_pin pin = { .cores = 0 };
    char path[PATH_MAX];
    const char *why;
    const char *failed;

    if (!rc_binding_learn(&context->options, &result->env, &binding))
        return "the kernel does not say where it may run";
    why = rc_binding_refuse(&binding, tasks);
    if (!why)
        why = rc_binding_doubt(result);
    /* rollcall-map is also asked for the cards where no task is bound */
    if (why && !rc_binding_asks_for_cards(&context->options, &tasks))
        return why;
    /* a missing program is reported when it is to be started */
    (void)cli_own_program("rollcall-map", path);
    failed = rc_binding_ask(path, &binding, tasks, find_gpus(result, arena), answer, &pins, arena);
    if (failed)
        return why ? why : failed;
    if (!why)
        why = rc_binding_reject(&binding, &pins);
    context->pin = result->mode == RC_MODE_WORKER && !rc_binding_doubt(result) ? result->identity.field[RC_LOCAL_RANK]
                                                                               : RC_UNKNOWN;
    if (!why && result->mode == RC_MODE_WORKER &&
        (!rc_pins_at(&pins, context->pin, &pin) || !rc_binding_bind(&binding, &pin)))
        why = "the kernel does not let it run on the cores that were chosen";
    rc_binding_plan(&binding, &pins, why, ROLLCALL_PRELOAD_FROM_BIN, context, result);
    return why;
}

void cli_bind_task(struct rc_context *context, struct rc_result *result)
{
    char text[8192];
    struct rc_arena arena = { .base = text, .size = sizeof(text) };
    const char *starved = rc_binding_starved(result, &result->arena);
    const char *why;

    if (starved)
        rc_message_add(&result->messages, RC914, starved);
    if (!rc_pins_wanted(&context->options) || result->stamped ||
        (result->mode != RC_MODE_WORKER && result->mode != RC_MODE_LAUNCHER))
        return;
    why = bind_or_excuse(context, result, &arena);
    if (why && context->options.bind != RC_BIND_NONE)
        rc_binding_excuse(context->options.bind, why, &result->messages, &result->arena);
}
