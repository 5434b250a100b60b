/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "bind.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "effects/binding.h"
#include "once.h"
#include "outside.h"
#include "resolve/pinning.h"
#include "say.h"
#include "system/beside.h"

/* For rollcall-map's five seconds, and its end. */
enum { PATIENCE_MS = 6000, GPUS_SIZE = 4096 };

/* Filled in by the first task of the node that gets there. */
struct binding_memory {
    struct rc_once asked;
    bool answered;
    uint32_t length; /* of the answer */
    atomic_int warned;
    char why[256];                              /* there is no answer */
    atomic_uchar claimed[RC_BINDING_TASKS_MAX]; /* pins that tasks have taken */
    char answer[RC_BINDING_ANSWER];
};

static struct binding_memory *shared;

/* The step's GPUs of this node, or NULL. */
static char *step_gpus;

/* An outer step's list is left in the environment of a step without GPUs, but
 * Slurm takes away what the runtimes read. */
static bool has_gpus(const struct rc_env *env)
{
    return rc_env_get(env, "CUDA_VISIBLE_DEVICES").n || rc_env_get(env, "ROCR_VISIBLE_DEVICES").n ||
           rc_env_get(env, "ZE_AFFINITY_MASK").n;
}

void rc_spank_bind_prepare(const struct rc_env *env)
{
    struct rc_str list = rc_env_get(env, "SLURM_STEP_GPUS");

    shared = rc_once_memory(sizeof(*shared));
    if (list.n > 0 && list.n < GPUS_SIZE && has_gpus(env))
        step_gpus = strndup(list.p, list.n);
}

void rc_spank_bind_forget(void)
{
    rc_once_free(shared, sizeof(*shared));
    shared = NULL;
    free(step_gpus);
    step_gpus = NULL;
}

/* Of this step's own task; a step of several het components counts over all. */
struct place {
    uint32_t tasks;   /* that are placed on this node */
    uint32_t local;   /* this one's number among them; RC_UNKNOWN in launcher mode */
    uint32_t gpu;     /* what is this task's own in the list that is asked about; RC_UNKNOWN: nobody says */
    const char *gpus; /* that list */
};

static uint32_t count(struct rc_str list)
{
    return rc_count_devices(list);
}

static void find_workers(const struct rc_context *context, const struct rc_result *result, struct place *place)
{
    place->tasks = rc_pinning_workers(context, result);
    place->local = place->gpu = RC_UNKNOWN;
    place->gpus = step_gpus;
}

/* False where Slurm does not say. */
static bool find_place(spank_t spank, const struct rc_context *context, const struct rc_result *result,
                       struct place *place, struct rc_arena *arena)
{
    struct rc_str list = step_gpus ? rc_str(step_gpus) : RC_ABSENT;
    struct rc_str own = rc_env_get(&result->env, "SLURM_STEP_GPUS");
    uint32_t position = rc_binding_position(list, own);
    uint32_t each = 1;
    int local;

    if (result->mode == RC_MODE_LAUNCHER) {
        find_workers(context, result, place);
        return true;
    }
    if (spank_get_item(spank, S_JOB_LOCAL_TASK_COUNT, &place->tasks) != ESPANK_SUCCESS ||
        spank_get_item(spank, S_TASK_ID, &local) != ESPANK_SUCCESS || local < 0)
        return false;
    place->local = (uint32_t)local;
    /* --gpus-per-task=2: the first of each task's two */
    if (position != RC_UNKNOWN && (uint64_t)count(own) * place->tasks == count(list))
        each = count(own);
    place->gpu = position == RC_UNKNOWN ? RC_UNKNOWN : position / each;
    place->gpus = list.p ? rc_binding_gpus(list, each, arena) : NULL;
    return true;
}

/* The first task's answer, or why there is none. */
static const char *ask(const struct rc_binding *binding, const struct place *place, struct rc_pins *pins)
{
    if (!shared)
        return "the tasks of the node share no memory";
    if (rc_once_begin(&shared->asked)) {
        struct rc_arena why = { .base = shared->why, .size = sizeof(shared->why) };
        char path[PATH_MAX] = "";
        const char *failed;

        rc_beside_file(ROLLCALL_LIBEXEC_FROM_PLUGIN, "rollcall-map", path, sizeof(path));
        rc_spank_outside_enter();
        failed = rc_binding_ask(path, binding, place->tasks, place->gpus, shared->answer, pins, &why);
        rc_spank_outside_leave();
        shared->length = (uint32_t)strlen(shared->answer);
        shared->answered = !failed;
        if (failed && failed != shared->why)
            rc_format(&why, "%s", failed);
        rc_once_done(&shared->asked);
    } else if (!rc_once_wait(&shared->asked, PATIENCE_MS)) {
        return "the node's first task has not asked rollcall-map in time";
    }
    if (!shared->answered)
        return shared->why;
    return rc_pins_read((struct rc_str){ shared->answer, shared->length }, pins) && pins->count == place->tasks
               ? NULL
               : "the tasks of the node ask different questions";
}

static bool claim(uint32_t pin)
{
    return atomic_exchange(&shared->claimed[pin], 1) == 0;
}

static bool is_for(const struct rc_pins *pins, uint32_t index, uint32_t gpu)
{
    struct rc_pin pin;

    return rc_pins_at(pins, index, &pin) && pin.gpu == gpu;
}

/* The one of its own local rank. Where Slurm has bound tasks to GPUs in another
 * order than the step's (map_gpu, single, closest): one of its own GPU, of which
 * there are as many as tasks share it, unless the user gave more of them. Each
 * pin is one task's, whatever anybody says. RC_UNKNOWN: there is none left. */
static uint32_t take(const struct rc_pins *pins, const struct place *place)
{
    bool fits = place->gpu == RC_UNKNOWN || is_for(pins, place->local, place->gpu);

    if (place->local >= pins->count)
        return RC_UNKNOWN;
    if (fits && claim(place->local))
        return place->local;
    for (uint32_t i = 0; place->gpu != RC_UNKNOWN && i < pins->count; i++)
        if (is_for(pins, i, place->gpu) && claim(i))
            return i;
    if (claim(place->local))
        return place->local;
    for (uint32_t i = 0; i < pins->count; i++)
        if (claim(i))
            return i;
    return RC_UNKNOWN;
}

/* NULL, or why this task is not bound. */
static const char *bind_task(spank_t spank, struct rc_context *context, struct rc_result *result,
                             struct rc_arena *arena)
{
    struct rc_binding binding;
    struct place place;
    struct rc_pins pins;
    struct rc_pin pin = { .cores = 0 };
    const char *why;
    const char *failed;

    if (!rc_binding_learn(context->options.bind, &result->env, &binding) ||
        !find_place(spank, context, result, &place, arena))
        return "the kernel or Slurm does not say where it may run";
    why = rc_binding_refuse(&binding, place.tasks);
    /* the cards are asked for, too, where nobody is bound */
    if (why && !rc_binding_asks_for_cards(&context->options, &place.tasks))
        return why;
    failed = ask(&binding, &place, &pins);
    if (failed)
        return why ? why : failed;
    if (!why)
        why = rc_binding_reject(&binding, &pins);
    context->pin = result->mode == RC_MODE_WORKER ? take(&pins, &place) : RC_UNKNOWN;
    if (!why && result->mode == RC_MODE_WORKER &&
        (!rc_pins_at(&pins, context->pin, &pin) || !rc_binding_bind(&binding, &pin)))
        why = "the kernel does not let it run on the cores that were chosen";
    rc_binding_plan(&binding, &pins, why, ROLLCALL_PRELOAD_FROM_PLUGIN, context, result);
    return why;
}

void rc_spank_bind(spank_t spank, struct rc_context *context, struct rc_result *result)
{
    char text[2 * GPUS_SIZE];
    struct rc_arena arena = { .base = text, .size = sizeof(text) };
    enum rc_bind wish = context->options.bind;
    struct rc_messages excuse = { .count = 0 };
    const char *why;

    if (!rc_pins_wanted(&context->options) || result->stamped ||
        (result->mode != RC_MODE_WORKER && result->mode != RC_MODE_LAUNCHER))
        return;
    why = bind_task(spank, context, result, &arena);
    if (!why || wish == RC_BIND_NONE)
        return;
    rc_binding_excuse(wish, why, &excuse, &arena);
    if (excuse.list[0].id == RC911)
        rc_message_add(&result->messages, RC911, rc_format(&result->arena, "%s", excuse.list[0].text));
    else if (!shared || atomic_exchange(&shared->warned, 1) == 0)
        /* at once, and on each node: what is wrong may be this one's alone */
        rc_spank_say_all(&excuse, RC_LEVEL_WARNING);
}
