/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "bind.h"

#include <stdlib.h>
#include <string.h>

#include "effects/binding.h"
#include "node.h"
#include "resolve/pins.h"
#include "slurm.h"

/* For rollcall-map's five seconds, and its end. */
enum { PATIENCE_MS = 6000, GPUS_SIZE = 4096 };

/* The first task of the node that gets there fills this in. */
struct binding_memory {
    struct rc_once asked;
    bool answered;
    uint32_t length; /* of the answer */
    atomic_int warned;
    char why[256];                           /* there is no answer */
    atomic_uchar claimed[RC_PINS_TASKS_MAX]; /* pins that tasks have taken */
    char answer[RC_BINDING_ANSWER];
};

static struct binding_memory *shared;

void rc_spank_bind_prepare(void)
{
    shared = rc_once_memory(sizeof(*shared));
}

void rc_spank_bind_forget(void)
{
    rc_once_free(shared, sizeof(*shared));
    shared = NULL;
}

/* Where this task stands among those of its node. */
struct seat {
    uint32_t tasks;   /* tasks, or workers, to place on this node */
    uint32_t local;   /* this one's number among them; RC_UNKNOWN in launcher mode */
    uint32_t gpu;     /* the place of its own GPU in gpus; RC_UNKNOWN: not known, or it has none */
    const char *gpus; /* the GPUs that rollcall-map is asked about, the same in all tasks; NULL: none */
};

/* False where Slurm does not tell the task its place. */
static bool find_seat(spank_t spank, const struct rc_context *context, const struct rc_result *result,
                      struct seat *seat, struct rc_arena *arena)
{
    const struct rc_task_gpus *gpus = &result->visible.gpus;
    uint32_t each = 1;
    int local;

    *seat = (struct seat){ .local = RC_UNKNOWN, .gpu = RC_UNKNOWN };
    if (result->mode == RC_MODE_LAUNCHER) {
        seat->tasks = rc_pinning_workers(context, result);
        seat->gpus = gpus->own.p ? rc_binding_gpus(gpus->own, 1, arena) : NULL;
        return true;
    }
    if (spank_get_item(spank, S_JOB_LOCAL_TASK_COUNT, &seat->tasks) != ESPANK_SUCCESS ||
        spank_get_item(spank, S_TASK_ID, &local) != ESPANK_SUCCESS || local < 0)
        return false;
    seat->local = (uint32_t)local;
    if (gpus->place == RC_UNKNOWN)
        return true;
    /* with --gpus-per-task=2 the first GPU of each task counts */
    if (rc_task_gpus_are_bound(gpus) && (uint64_t)gpus->count * seat->tasks == gpus->total)
        each = gpus->count;
    seat->gpu = gpus->place / each;
    seat->gpus = rc_binding_gpus(gpus->all, each, arena);
    return true;
}

/* The first task's answer, or why there is none. */
static const char *ask_map(const struct rc_binding *binding, const struct seat *seat, struct rc_pins *pins)
{
    if (!shared)
        return "the tasks of the node share no memory";
    if (rc_once_begin(&shared->asked)) {
        struct rc_arena why = { .base = shared->why, .size = sizeof(shared->why) };
        const char *failed;

        rc_spank_outside_enter();
        failed = rc_binding_ask(rc_spank_program("rollcall-map"), binding, seat->tasks, seat->gpus, shared->answer,
                                pins, &why);
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
    return rc_pins_read((struct rc_str){ shared->answer, shared->length }, pins) && pins->count == seat->tasks
               ? NULL
               : "the tasks of the node ask different questions";
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

/* Chooses a pin and claims it, so that no other task gets it. First choice: the pin of
 * the local rank, if it is near the task's own GPU. Slurm may have bound tasks to GPUs
 * in another order than the step's (map_gpu, single, closest): then a pin near the own
 * GPU, of which there are as many as tasks should share that GPU. If more tasks share
 * it, any pin that is left. RC_UNKNOWN: none is left. */
static uint32_t take_pin(const struct rc_pins *pins, const struct seat *seat)
{
    bool fits = seat->gpu == RC_UNKNOWN || is_beside(pins, seat->local, seat->gpu);

    if (seat->local >= pins->count)
        return RC_UNKNOWN;
    if (fits && claim_pin(seat->local))
        return seat->local;
    for (uint32_t i = 0; seat->gpu != RC_UNKNOWN && i < pins->count; i++)
        if (is_beside(pins, i, seat->gpu) && claim_pin(i))
            return i;
    if (claim_pin(seat->local))
        return seat->local;
    for (uint32_t i = 0; i < pins->count; i++)
        if (claim_pin(i))
            return i;
    return RC_UNKNOWN;
}

/* NULL, or why this task is not bound. */
static const char *bind_task(spank_t spank, struct rc_context *context, struct rc_result *result,
                             struct rc_arena *arena)
{
    struct rc_binding binding;
    struct seat seat;
    struct rc_pins pins;
    struct rc_pin pin = { .cores = 0 };
    const char *why;
    const char *failed;

    if (!rc_binding_learn(&context->options, &result->env, &binding) ||
        !find_seat(spank, context, result, &seat, arena))
        return "the kernel or Slurm does not say where it may run";
    why = rc_binding_refuse(&binding, seat.tasks);
    if (!why)
        why = rc_binding_doubt(result);
    /* rollcall-map is also asked for the cards where no task is bound */
    if (why && !rc_binding_asks_for_cards(&context->options, &seat.tasks))
        return why;
    failed = ask_map(&binding, &seat, &pins);
    if (failed)
        return why ? why : failed;
    if (!why)
        why = rc_binding_reject(&binding, &pins);
    context->pin = result->mode == RC_MODE_WORKER && !rc_binding_doubt(result) ? take_pin(&pins, &seat) : RC_UNKNOWN;
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
    struct rc_messages excuse = { .arena = &arena };
    const char *why;

    if (!rc_pins_wanted(&context->options) || result->stamped ||
        (result->mode != RC_MODE_WORKER && result->mode != RC_MODE_LAUNCHER))
        return;
    why = bind_task(spank, context, result, &arena);
    if (!why || wish == RC_BIND_NONE)
        return;
    rc_binding_excuse(wish, why, &excuse);
    if (excuse.list[0].id == RC911)
        rc_say(&result->messages, RC911, "%s", excuse.list[0].text);
    else if (!shared || atomic_exchange(&shared->warned, 1) == 0)
        /* said at once and on each node: the reason may be this node's alone */
        rc_spank_say_all(&excuse, RC_LEVEL_WARNING);
}
