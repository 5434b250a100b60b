/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "bind.h"

#include <errno.h>
#include <string.h>

#include "effects/binding.h"
#include "pmixask.h"
#include "resolve/pinning.h"

/* The GPUs that this process sees, by what their runtime reads. */
static struct rc_str visible(const struct rc_env *env)
{
    static const struct rc_name names[] = { RC_NAME("CUDA_VISIBLE_DEVICES"), RC_NAME("ROCR_VISIBLE_DEVICES"),
                                            RC_NAME("HIP_VISIBLE_DEVICES"), RC_NAME("ZE_AFFINITY_MASK") };

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        struct rc_str list = rc_env_find_name(env, &names[i]);

        if (list.p)
            return list;
    }
    return RC_ABSENT;
}

/* Indices in their order, as whoever gives all tasks the same list writes them.
 * "1,0" may be this task's own view, and another one's "0,1". */
static bool is_rising(struct rc_str list)
{
    uint32_t last = 0;

    for (bool first = true; list.p; first = false) {
        struct rc_str name = rc_str_split(list, ',', &list);
        uint32_t index;

        if (!rc_parse_u32(name, UINT32_MAX - 1, &index))
            continue;
        if (!first && index <= last)
            return false;
        last = index;
    }
    return true;
}

/* Slurm's own, which counts in the machine's GPUs where a cgroup makes CUDA's
 * indices count from 0. Absent where this task may see others than its neighbours. */
static struct rc_str given_by_slurm(const struct rc_env *env, struct rc_str seen)
{
    struct rc_str list = rc_env_get(env, "SLURM_STEP_GPUS");
    uint32_t on_node;

    if (!list.p)
        list = rc_env_get(env, "SLURM_JOB_GPUS");
    if (!list.p || rc_env_get(env, "SLURMD_TRES_BIND").p || rc_count_devices(seen) != rc_count_devices(list) ||
        (rc_parse_u32(rc_env_get(env, "SLURM_GPUS_ON_NODE"), RC_MAX_TASKS, &on_node) &&
         on_node != rc_count_devices(list)))
        return RC_ABSENT;
    return list;
}

/* The same in all tasks of the node, or NULL: they have to ask the same question. */
static const char *find_gpus(const struct rc_env *env, uint32_t tasks, struct rc_arena *arena)
{
    struct rc_str seen = visible(env);
    struct rc_str list;

    if (!seen.p)
        return "all";
    list = given_by_slurm(env, seen);
    if (!list.p && rc_count_devices(seen) >= tasks && is_rising(seen))
        list = seen;
    return list.p && rc_count_devices(list) > 0 ? rc_format(arena, "%S", &list) : NULL;
}

static uint32_t count_tasks(const struct rc_context *context, const struct rc_result *result)
{
    if (result->mode == RC_MODE_WORKER)
        return result->identity.field[RC_LOCAL_WORLD_SIZE];
    return rc_pinning_workers(context, result);
}

/* NULL, or why it is not bound. */
static const char *place(struct rc_context *context, struct rc_result *result, struct rc_arena *arena)
{
    static char answer[RC_BINDING_ANSWER];
    uint32_t tasks = count_tasks(context, result);
    struct rc_binding binding;
    struct rc_pins pins;
    struct rc_pin pin = { .cores = 0 };
    char path[PATH_MAX];
    const char *why;
    const char *failed;

    if (!rc_binding_learn(context->options.bind, &result->env, &binding))
        return "the kernel does not say where it may run";
    why = rc_binding_refuse(&binding, tasks);
    /* the cards are asked for, too, where nobody is bound */
    if (why && !rc_binding_asks_for_cards(&context->options, &tasks))
        return why;
    /* one that is not there is said when it is to be started */
    (void)cli_own_program("rollcall-map", path);
    failed = rc_binding_ask(path, &binding, tasks, find_gpus(&result->env, tasks, arena), answer, &pins, arena);
    if (failed)
        return why ? why : failed;
    if (!why)
        why = rc_binding_reject(&binding, &pins);
    context->pin = result->mode == RC_MODE_WORKER ? result->identity.field[RC_LOCAL_RANK] : RC_UNKNOWN;
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
    why = place(context, result, &arena);
    if (why && context->options.bind != RC_BIND_NONE)
        rc_binding_excuse(context->options.bind, why, &result->messages, &result->arena);
}
