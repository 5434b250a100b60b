/* SPDX-License-Identifier: BSD-3-Clause */
#include "resolve/taskgpus.h"

#include "resolve/result.h"

/* By Slurm up to 23.02; later, where it makes a device cgroup of each task (seen with 24.11 and 26.05). */
static bool were_taken_away(const struct rc_context *context, const struct rc_env *env)
{
    size_t length = 0;

    if (!context->step_gpus || !rc_str_is(rc_gpus_binding(env), "none"))
        return false;
    for (unsigned i = 0; i < RC_GPU_LISTS; i++)
        length += context->step_gpus->list[i].n;
    return length > 0 && length <= RC_TASK_GPUS_TEXT;
}

struct rc_str rc_task_gpus_list(const struct rc_context *context, const struct rc_result *result,
                                const struct rc_task_gpus *gpus, enum rc_gpu_list_index index)
{
    return gpus->restored ? context->step_gpus->list[index] : rc_gpu_list_value(&result->env, index);
}

static bool has_mig(struct rc_str list)
{
    while (list.p)
        if (rc_str_starts(rc_str_split(list, ',', &list), "MIG-"))
            return true;
    return false;
}

static void count_step(const struct rc_context *context, const struct rc_env *env, unsigned variable,
                       struct rc_task_gpus *gpus)
{
    if (context->step_gpus && context->step_gpus->list[variable].p)
        gpus->step = context->step_gpus->list[variable];
    if (gpus->step.p)
        gpus->total = rc_count_devices(gpus->step);
    else if (!rc_parse_u32(rc_env_get(env, "SLURM_GPUS_ON_NODE"), RC_MAX_TASKS, &gpus->total))
        gpus->total = RC_UNKNOWN;
    if (gpus->total < gpus->count) /* the user has set it by hand */
        gpus->total = gpus->count;
}

/* Reads which GPUs the task sees. False where no variable names one, or where they are
 * more than a node has. */
static bool read_seen(const struct rc_context *context, const struct rc_result *result, struct rc_task_gpus *gpus)
{
    const struct rc_env *env = &result->env;
    unsigned first = rc_gpu_list_first(env);

    if (first == RC_GPU_LISTS && were_taken_away(context, env)) {
        gpus->restored = true;
        for (first = 0; !context->step_gpus->list[first].n;)
            first++;
    }
    if (first == RC_GPU_LISTS)
        return false;
    gpus->seen = rc_task_gpus_list(context, result, gpus, first);
    gpus->count = rc_count_devices(gpus->seen);
    gpus->bound = rc_gpus_are_bound(env);
    gpus->mig = has_mig(gpus->seen);
    count_step(context, env, first, gpus);
    gpus->usable = gpus->count > 0 && gpus->count <= RC_TASK_GPUS_MAX && gpus->seen.n <= RC_TASK_GPUS_TEXT;
    return gpus->usable;
}

bool rc_task_gpus_are_bound(const struct rc_task_gpus *gpus)
{
    return gpus->total == RC_UNKNOWN ? gpus->bound : gpus->count < gpus->total;
}

/* Lightning numbers its processes by LOCAL_RANK, and several would be rank 0, where it does not believe in Slurm. */
bool rc_task_gpus_are_alone(const struct rc_context *context, const struct rc_result *result)
{
    return result->launcher->slurm_environment || context->options.gpus == RC_GPUS_OWN;
}

/* Beside a device cgroup SLURM_STEP_GPUS may be the step's first one, or 0 as well. */
static bool is_renumbered(const struct rc_env *env, const struct rc_task_gpus *gpus)
{
    struct rc_str own = rc_env_get(env, "SLURM_STEP_GPUS");

    return gpus->count == 1 && rc_str_is(gpus->seen, "0") && rc_count_devices(own) == 1 && !rc_str_is(own, "0");
}

/* The device files tell; where there are too few of them, Slurm's numbers may. */
static void find_hidden(const struct rc_context *context, struct rc_result *result, struct rc_task_gpus *gpus)
{
    const struct rc_here *here = context->here;

    if (rc_result_learned(context, result, RC_LEARN_GPU_FILES) && here->gpu_files >= gpus->total &&
        here->gpu_files_open >= gpus->count) {
        gpus->hidden = here->gpu_files_open < gpus->total ? RC_GPUS_HIDDEN : RC_GPUS_NOT_HIDDEN;
        return;
    }
    if (is_renumbered(&result->env, gpus))
        gpus->hidden = RC_GPUS_HIDDEN;
}

/* Whether these numbers of the machine's GPUs are in a list of indices that is in use. */
static bool are_numbers_of(struct rc_str numbers, struct rc_str list)
{
    uint32_t count = rc_count_devices(numbers);

    if (count == 0 || rc_str_eq(numbers, list))
        return count > 0;
    return count == rc_count_devices(list) && (rc_gpu_list_counts(list) || rc_gpu_list_has_uuids(list));
}

/* Finds the node's part of the launch where all tasks see the same list. */
static void find_common(const struct rc_context *context, const struct rc_result *result, struct rc_task_gpus *gpus)
{
    const struct rc_env *env = &result->env;
    struct rc_str step = rc_env_get(env, "SLURM_STEP_GPUS");
    struct rc_str job = rc_env_get(env, "SLURM_JOB_GPUS");
    uint32_t tasks = result->identity.field[RC_LOCAL_WORLD_SIZE];

    if (context->step_gpus && context->step_gpus->numbers.p)
        step = context->step_gpus->numbers;
    if (step.p)
        job = RC_ABSENT;
    if (are_numbers_of(step, gpus->seen)) {
        gpus->all = step;
        gpus->by_slurm = true;
    } else if (are_numbers_of(job, gpus->seen)) {
        gpus->all = job;
    } else if (result->mode == RC_MODE_LAUNCHER || (gpus->count >= tasks && rc_gpu_list_rises(gpus->seen))) {
        gpus->all = gpus->seen;
    }
}

/* Finds the task's own: a worker's is that of its local rank, a launcher's workers have all. */
static void share_common(const struct rc_result *result, struct rc_task_gpus *gpus)
{
    uint32_t rank = result->identity.field[RC_LOCAL_RANK];

    if (result->mode != RC_MODE_LAUNCHER && rank == RC_UNKNOWN)
        return;
    if (result->mode != RC_MODE_LAUNCHER)
        gpus->first = rank % gpus->count;
    if (!gpus->all.p)
        return;
    gpus->own = result->mode == RC_MODE_LAUNCHER ? gpus->all : rc_gpu_list_at(gpus->all, gpus->first);
    gpus->place = gpus->first;
}

/* Finds the entries of the step's list that the task's own variable names. */
static void find_by_variable(struct rc_arena *arena, struct rc_task_gpus *gpus)
{
    const char *own = rc_format(arena, "");

    for (uint32_t i = 0; i < gpus->count; i++) {
        uint32_t place = rc_gpu_list_place(rc_gpu_list_at(gpus->seen, i), gpus->step, gpus->total);
        struct rc_str entry;

        if (place == RC_UNKNOWN)
            return;
        if (i == 0)
            gpus->place = place;
        entry = rc_gpu_list_at(gpus->all, place);
        rc_join(arena);
        rc_format(arena, i ? ",%S" : "%S", &entry);
    }
    gpus->own = rc_str(own);
}

/* Finds the GPUs whose device files the cgroup lets the task open. */
static void find_by_files(const struct rc_here *here, struct rc_arena *arena, struct rc_task_gpus *gpus)
{
    const char *own = rc_format(arena, "");
    uint32_t found = 0;

    for (uint32_t i = 0; i < sizeof(here->gpus_open) * 8; i++) {
        if (!(here->gpus_open >> i & 1))
            continue;
        rc_join(arena);
        rc_format(arena, found++ ? ",%u" : "%u", i);
    }
    if (found != gpus->count || found != here->gpu_files_open)
        return;
    gpus->own = rc_str(own);
    gpus->by_slurm = true;
    if (gpus->all.p)
        gpus->place = rc_gpu_list_place(rc_gpu_list_at(gpus->own, 0), gpus->all, gpus->total);
}

/* Finds the own GPUs of a task that has other ones than its neighbours. */
static void find_own(const struct rc_context *context, struct rc_result *result, struct rc_task_gpus *gpus)
{
    struct rc_str named = rc_env_get(&result->env, "SLURM_STEP_GPUS");
    bool unnumbered = gpus->step.p && !rc_gpu_list_counts(gpus->step);

    if (context->step_gpus && are_numbers_of(context->step_gpus->numbers, gpus->step)) {
        gpus->all = context->step_gpus->numbers;
        gpus->by_slurm = true;
    }
    if (gpus->hidden == RC_GPUS_HIDDEN && !unnumbered) {
        if (context->here)
            find_by_files(context->here, &result->arena, gpus);
    } else if (gpus->all.p && (gpus->hidden == RC_GPUS_NOT_HIDDEN || unnumbered)) {
        find_by_variable(&result->arena, gpus);
    } else if (are_numbers_of(named, gpus->seen) && !rc_gpu_list_counts(gpus->seen)) {
        gpus->own = rc_gpu_list_has_uuids(gpus->seen) ? gpus->seen : named;
        gpus->by_slurm = true;
    }
}

void rc_task_gpus_find(const struct rc_context *context, struct rc_result *result, struct rc_task_gpus *gpus)
{
    *gpus = (struct rc_task_gpus){ .total = RC_UNKNOWN, .place = RC_UNKNOWN };
    if (!read_seen(context, result, gpus))
        return;
    if (rc_task_gpus_are_bound(gpus) && !gpus->mig && rc_task_gpus_are_alone(context, result))
        find_hidden(context, result, gpus);
    if (rc_task_gpus_are_bound(gpus) && (gpus->bound || gpus->step.p)) {
        find_own(context, result, gpus);
    } else {
        find_common(context, result, gpus);
        share_common(result, gpus);
    }
}
