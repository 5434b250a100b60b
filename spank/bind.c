/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "spank.h"

#include <stdlib.h>
#include <string.h>

#include "effects/binding.h"
#include "node.h"
#include "resolve/pins.h"

/* PATIENCE_MS: more than killing rollcall-map takes (binding.c: 5 s and 2 s). */
enum { PATIENCE_MS = 9000, GPUS_SIZE = 4096 };

/* Filled in by the first task. */
struct binding_memory {
    struct rc_once asked;
    atomic_int warned;
    bool broken;
    char why[256];                           /* the reason for a missing answer; or "" */
    atomic_uchar claimed[RC_PINS_TASKS_MAX]; /* pins in use */
    char answer[RC_BINDING_ANSWER];
};

static struct binding_memory *shared;

void rc_spank_bind_prepare(void)
{
    shared = rc_once_memory(sizeof(*shared));
}

/* Return false if Slurm does not provide the task's local id. */
static bool find_place(spank_t spank, const struct rc_context *context, const struct rc_result *result,
                       struct rc_binder *binder)
{
    const struct rc_gpus *gpus = &result->gpus;
    uint32_t each = 1;
    int local;

    if (result->mode == RC_MODE_LAUNCHER) {
        binder->tasks = rc_pinning_workers(context, result);
        binder->gpus = gpus->own.p ? rc_binding_gpus(gpus->own, 1, binder->arena) : NULL;
        return true;
    }
    if (spank_get_item(spank, S_JOB_LOCAL_TASK_COUNT, &binder->tasks) != ESPANK_SUCCESS ||
        spank_get_item(spank, S_TASK_ID, &local) != ESPANK_SUCCESS || local < 0)
        return false;
    binder->local = (uint32_t)local;
    if (gpus->place == RC_UNKNOWN)
        return true;
    /* with --gpus-per-task=2 use the first GPU of each task */
    if (rc_task_gpus_are_bound(gpus) && (uint64_t)gpus->count * binder->tasks == gpus->total)
        each = gpus->count;
    binder->gpu = gpus->place / each;
    binder->gpus = rc_binding_gpus(gpus->all, each, binder->arena);
    return true;
}

/* Return NULL with the first task's answer, or the reason for its lack. */
static const char *ask_map(const struct rc_binder *binder, const struct rc_binding *binding, struct rc_pins *pins)
{
    if (!shared)
        return "the tasks of the node share no memory";
    if (rc_once_begin(&shared->asked)) {
        struct rc_arena why = { .base = shared->why, .size = sizeof(shared->why) };
        const char *failed;

        rc_spank_outside_enter();
        failed = rc_binding_ask(rc_spank_program("rollcall-map"), binding, binder->tasks, binder->gpus, shared->answer,
                                pins, &shared->broken, &why);
        rc_spank_outside_leave();
        if (failed && failed != shared->why)
            rc_format(&why, "%s", failed);
        rc_once_done(&shared->asked);
    } else if (!rc_once_wait(&shared->asked, PATIENCE_MS)) {
        return "the node's first task did not query rollcall-map in time";
    }
    *binder->broken = shared->broken;
    if (shared->why[0])
        return shared->why;
    return rc_pins_read(rc_str(shared->answer), pins) && pins->count == binder->tasks
               ? NULL
               : "the tasks of the node sent different requests";
}

static bool claim_pin(uint32_t pin)
{
    return atomic_exchange(&shared->claimed[pin], 1) == 0;
}

static bool is_beside(const struct rc_pins *pins, uint32_t index, uint32_t gpu)
{
    struct rc_pin pin;

    return rc_pins_at(pins, index, &pin) && pin.gpu == gpu;
}

/* Claim the local rank's pin, if near the task's GPU; else one near its GPU, as Slurm may bind in another order
 * (map_gpu, single, closest); else any. Return RC_UNKNOWN if none is left. */
static uint32_t take_pin(const struct rc_binder *binder, const struct rc_pins *pins)
{
    bool fits = binder->gpu == RC_UNKNOWN || is_beside(pins, binder->local, binder->gpu);

    if (binder->local >= pins->count)
        return RC_UNKNOWN;
    if (fits && claim_pin(binder->local))
        return binder->local;
    for (uint32_t i = 0; binder->gpu != RC_UNKNOWN && i < pins->count; i++)
        if (is_beside(pins, i, binder->gpu) && claim_pin(i))
            return i;
    if (claim_pin(binder->local))
        return binder->local;
    for (uint32_t i = 0; i < pins->count; i++)
        if (claim_pin(i))
            return i;
    return RC_UNKNOWN;
}

bool rc_spank_bind(spank_t spank, struct rc_context *context, struct rc_result *result)
{
    char text[2 * GPUS_SIZE];
    struct rc_arena arena = { .base = text, .size = sizeof(text) };
    struct rc_messages said = { .arena = &arena };
    enum rc_bind wish = context->options.bind;
    bool broken = false;
    char name[RC_NODE_NAME_SIZE];
    struct rc_binder binder = {
        .local = RC_UNKNOWN,
        .gpu = RC_UNKNOWN,
        .relative = ROLLCALL_PRELOAD_FROM_PLUGIN,
        .arena = &arena,
        .broken = &broken,
        .ask = ask_map,
        .take = take_pin,
    };
    const char *why = "Slurm does not provide the task's number on its node";

    if (!rc_binding_is_wanted(context, result))
        return false;
    if (find_place(spank, context, result, &binder))
        why = rc_binding_run(&binder, context, result);
    if (!why || wish == RC_BIND_OFF)
        return !why;
    if (rc_bind_is_auto(wish) && !broken) {
        rc_pins_excuse(&context->options, NULL, false, why, &result->messages);
    } else if (!shared || atomic_exchange(&shared->warned, 1) == 0) {
        /* printed on each node: only this one may have the reason */
        rc_pins_excuse(&context->options, rc_binding_broken_on(broken, result, name), false, why, &said);
        for (unsigned i = 0; i < said.count; i++)
            rc_spank_say_alike(&result->env, said.list[i].id, said.list[i].text);
    }
    return false;
}

/* Slurm sets both in a bound task (22.05 to 26.05 src/common/env.c, setup_env). A nested srun forwards the first
 * without 0x (src/common/slurm_resource_info.c, _expand_mult). */
void rc_spank_bind_mark(void)
{
    const char *bind = getenv("SLURM_CPU_BIND");
    const char *list = getenv("SLURM_CPU_BIND_LIST");
    char *mark;

    if (!bind || !list || !*list || !rc_str_ends(rc_str(bind), list))
        return;
    mark = strdup(bind);
    for (char *at; mark && (at = strstr(mark, "0x"));)
        memmove(at, at + 2, strlen(at + 2) + 1);
    if (mark)
        setenv(RC_BIND_LEFT, mark, 1);
    free(mark);
}
