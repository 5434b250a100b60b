/* SPDX-License-Identifier: BSD-3-Clause */
#include "resolve/options.h"
#include "resolve/pins.h"
#include "resolve/resolve.h"
#include "resolve/steps.h"

/* A task's view of its node's GPUs, and which are the task's.
 *
 * Variables count usable GPUs, SLURM_STEP_GPUS the machine's. With a device cgroup Slurm numbers each task's list from
 * 0, and SLURM_STEP_GPUS names the step's first GPUs in every task (measured with 22.05, 24.11 and 26.05). Only the
 * device files that the task may open identify its GPUs then. Else they are unknown: a guess could bind a task near
 * another's. */

struct view {
    const struct rc_context *context;
    struct rc_result *result;
    struct rc_gpus *gpus;
    uint32_t tasks;
    uint32_t rank;
};

/* Slurm up to 23.02; later ones with a device cgroup per task (measured with 24.11 and 26.05). */
static bool were_taken_away(const struct view *v)
{
    size_t length = 0;

    if (!v->context->step_gpus || !rc_str_is(rc_gpus_binding(&v->result->env), "none"))
        return false;
    for (unsigned i = 0; i < RC_GPU_LISTS; i++)
        length += v->context->step_gpus->list[i].n;
    return length > 0 && length <= RC_TASK_GPUS_TEXT;
}

/* Return a variable's list from before Slurm removed it. */
static struct rc_str list_of(const struct view *v, enum rc_gpu_list_index index)
{
    return v->gpus->restored ? v->context->step_gpus->list[index] : rc_gpu_list_value(&v->result->env, index);
}

/* Slices given as indices show in Slurm's gres type or the driver's files. */
static bool has_slices(const struct view *v)
{
    struct rc_str list = v->gpus->seen;
    bool has_numbers = rc_is_digit(list.n ? list.p[0] : 0);

    while (list.p)
        if (rc_str_starts(rc_str_split(list, ',', &list), "MIG-"))
            return true;
    return has_numbers && (rc_gpus_are_slices(&v->result->env) ||
                           (rc_seen(v->context->here, RC_LEARN_GPU_FILES, RC_ABSENT) && v->context->here->gpu_slices));
}

/* Read the task's GPUs and the step's total. Return false if no variable names one, or too many. */
static bool read_seen(struct view *v)
{
    const struct rc_env *env = &v->result->env;
    const struct rc_step_gpus *step = v->context->step_gpus;
    struct rc_gpus *gpus = v->gpus;
    unsigned first = rc_gpu_list_first(env);

    if (first == RC_GPU_LISTS && were_taken_away(v)) {
        gpus->restored = true;
        for (first = 0; !step->list[first].n;)
            first++;
    }
    if (first == RC_GPU_LISTS)
        return false;
    gpus->seen = list_of(v, first);
    gpus->count = rc_count_devices(gpus->seen);
    gpus->bound = rc_gpus_are_bound(env);
    gpus->usable = gpus->count > 0 && gpus->count <= RC_TASK_GPUS_MAX && gpus->seen.n <= RC_TASK_GPUS_TEXT;
    if (step)
        gpus->step = step->list[first];
    if (gpus->step.p)
        gpus->total = rc_count_devices(gpus->step);
    else if (!rc_parse_u32(rc_env_get(env, "SLURM_GPUS_ON_NODE"), RC_MAX_TASKS, &gpus->total))
        gpus->total = RC_UNKNOWN;
    if (gpus->total < gpus->count) /* set by the user */
        gpus->total = gpus->count;
    return gpus->usable;
}

bool rc_task_gpus_are_bound(const struct rc_gpus *gpus)
{
    return gpus->total == RC_UNKNOWN ? gpus->bound : gpus->count < gpus->total;
}

/* Outside Slurm Lightning numbers processes by LOCAL_RANK, so several would be rank 0. */
static bool may_be_alone(const struct view *v)
{
    return v->result->launcher->slurm_environment || v->context->options.gpus == RC_GPUS_OWN;
}

/* Prefer device files; Slurm's numbers may show it, too. */
static enum rc_gpus_hidden find_hidden(const struct view *v)
{
    const struct rc_here *here = v->context->here;
    const struct rc_gpus *gpus = v->gpus;
    struct rc_str own = rc_env_get(&v->result->env, "SLURM_STEP_GPUS");

    if (rc_seen(v->context->here, RC_LEARN_GPU_FILES, RC_ABSENT) && here->gpu_files >= gpus->total &&
        here->gpu_files_open >= gpus->count)
        return here->gpu_files_open < gpus->total ? RC_GPUS_HIDDEN : RC_GPUS_NOT_HIDDEN;
    /* a device cgroup can also give the step's first, or 0 */
    if (gpus->count == 1 && rc_str_is(gpus->seen, "0") && rc_count_devices(own) == 1 && !rc_str_is(own, "0"))
        return RC_GPUS_HIDDEN;
    return RC_GPUS_HIDDEN_UNKNOWN;
}

/* Return true if the machine's numbers fit the list. */
static bool are_numbers_of(struct rc_str numbers, struct rc_str list)
{
    uint32_t count = rc_count_devices(numbers);

    if (count == 0 || rc_str_eq(numbers, list))
        return count > 0;
    return count == rc_count_devices(list) && (rc_gpu_list_counts(list) || rc_gpu_list_has_uuids(list));
}

/* All tasks see one list: find the node's GPUs and the task's, by local rank. */
static void share_common(struct view *v)
{
    const struct rc_env *env = &v->result->env;
    bool is_launcher = v->result->mode == RC_MODE_LAUNCHER;
    struct rc_gpus *gpus = v->gpus;
    struct rc_str step = rc_env_get(env, "SLURM_STEP_GPUS");
    struct rc_str job = rc_env_get(env, "SLURM_JOB_GPUS");

    if (v->context->step_gpus && v->context->step_gpus->numbers.p)
        step = v->context->step_gpus->numbers;
    if (are_numbers_of(step, gpus->seen)) {
        gpus->all = step;
        gpus->by_slurm = true;
    } else if (!step.p && are_numbers_of(job, gpus->seen)) {
        gpus->all = job;
    } else if (is_launcher || (gpus->count >= v->tasks && rc_gpu_list_rises(gpus->seen))) {
        gpus->all = gpus->seen;
    }
    if (!is_launcher && v->rank == RC_UNKNOWN)
        return;
    gpus->first = is_launcher ? 0 : v->rank % gpus->count;
    if (gpus->all.p) {
        gpus->own = is_launcher ? gpus->all : rc_gpu_list_at(gpus->all, gpus->first);
        gpus->place = gpus->first;
    }
}

/* Find the task's GPUs by its variable. */
static void find_by_variable(struct view *v)
{
    struct rc_arena *arena = &v->result->arena;
    struct rc_gpus *gpus = v->gpus;
    const char *own = rc_copy(arena, RC_STR(""));

    for (uint32_t i = 0; i < gpus->count; i++) {
        uint32_t place = rc_gpu_list_place(rc_gpu_list_at(gpus->seen, i), gpus->step, gpus->total);
        struct rc_str entry;

        if (place == RC_UNKNOWN)
            return;
        if (i == 0)
            gpus->place = place;
        entry = rc_gpu_list_at(gpus->all, place);
        rc_join(arena);
        rc_format(arena, i ? ",%pS" : "%pS", &entry);
    }
    gpus->own = rc_str(own);
}

/* Find the task's GPUs by usable device files. */
static void find_by_files(struct view *v)
{
    const struct rc_here *here = v->context->here;
    struct rc_arena *arena = &v->result->arena;
    struct rc_gpus *gpus = v->gpus;
    const char *own = rc_copy(arena, RC_STR(""));
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

static void find_own(struct view *v)
{
    struct rc_gpus *gpus = v->gpus;
    struct rc_str named = rc_env_get(&v->result->env, "SLURM_STEP_GPUS");
    bool unnumbered = gpus->step.p && !rc_gpu_list_counts(gpus->step);

    if (v->context->step_gpus && are_numbers_of(v->context->step_gpus->numbers, gpus->step)) {
        gpus->all = v->context->step_gpus->numbers;
        gpus->by_slurm = true;
    }
    if (gpus->hidden == RC_GPUS_HIDDEN && !unnumbered) {
        if (v->context->here)
            find_by_files(v);
    } else if (gpus->all.p && (gpus->hidden == RC_GPUS_NOT_HIDDEN || unnumbered)) {
        find_by_variable(v);
    } else if (are_numbers_of(named, gpus->seen) && !rc_gpu_list_counts(gpus->seen)) {
        gpus->own = rc_gpu_list_has_uuids(gpus->seen) ? gpus->seen : named;
        gpus->by_slurm = true;
    }
}

/* Choose the visible GPUs so that cuda:LOCAL_RANK is the task's.
 *
 * Launchers show a task all GPUs of the step, or some by variable or by a device cgroup, which prevents P2P. Rules for
 * n GPUs of the step, t tasks on the node and local rank r:
 *
 * 1. No variable or GPU, or a local rank from LOCAL_RANK (another program numbered the tasks): unchanged.
 * 2. All tasks see the same list, n >= t, no MIG: unchanged, cuda:r is the task's.
 * 3. The task sees one by variable, n >= t, and the step's list is known: the variables become the step's list with
 *    the task's GPU at index r, so that tasks can access each other's memory. With --gpu-bind=none Slurm up to 23.02
 *    removes the variables (later ones with device cgroups); they are restored.
 * 4. Else, in Slurm, if it sees one, if t > n (entry r mod n is the task's), with MIG (a process uses only the first
 *    device) or gpus=own: it sees only its GPU, as device 0, and LOCAL_RANK is 0, as torch's "virtual local rank".
 *    Other launchers require that option: outside Slurm Lightning takes its rank from LOCAL_RANK. So an interactive
 *    job's name, which Lightning takes for "no Slurm", is replaced (planning.c).
 * 5. The task sees several that its neighbours do not: unchanged.
 *
 * A second run changes nothing. */

/* Rule 4. */
static void show_own(struct view *v)
{
    struct rc_gpus *gpus = v->gpus;
    struct rc_str own = rc_gpu_list_at(gpus->seen, gpus->first);

    gpus->device = 0;
    gpus->why = "the task sees its own GPU alone, as device 0";
    if (rc_str_eq(own, gpus->seen))
        return;
    gpus->shown = 1;
    gpus->list = rc_copy(&v->result->arena, own);
    gpus->reason = "only this task's GPU, which is then device 0";
}

/* Rule 3. Return false if the task's GPU is not in the step's list. */
static bool show_step(struct view *v)
{
    struct rc_arena *arena = &v->result->arena;
    struct rc_gpus *gpus = v->gpus;
    uint32_t own = rc_gpu_list_place(rc_gpu_list_at(gpus->seen, 0), gpus->step, gpus->total);
    const char *list;

    if (own == RC_UNKNOWN)
        return false;
    list = rc_copy(arena, RC_STR(""));
    for (uint32_t i = 0; i < gpus->total; i++) {
        uint32_t place = i == v->rank ? own : i == own ? v->rank : i;
        struct rc_str entry = rc_gpu_list_at(gpus->step, place);

        rc_join(arena);
        rc_format(arena, i ? ",%pS" : "%pS", &entry);
    }
    gpus->shown = gpus->total;
    gpus->list = list;
    gpus->reason = "the step's GPUs, with this task's at index LOCAL_RANK";
    return true;
}

static void decide_bound(struct view *v)
{
    struct rc_gpus *gpus = v->gpus;
    enum rc_gpus_wish wish = v->context->options.gpus;
    bool may_widen = gpus->count == 1 && wish != RC_GPUS_OWN && !has_slices(v);

    if (gpus->hidden == RC_GPUS_HIDDEN && v->tasks > 1)
        rc_say(&v->result->messages, RC901,
               "a device cgroup hides %u of the step's %u GPUs from each task, so tasks have no P2P (NVLink); "
               "device 0 is each task's own; use srun --gpus-per-node=%u without --gpus-per-task and --gpu-bind, or "
               "--gres-flags=allow-task-sharing",
               gpus->total - gpus->count, gpus->total, gpus->total);
    if (may_widen && gpus->hidden == RC_GPUS_NOT_HIDDEN && gpus->step.p && gpus->total <= RC_TASK_GPUS_MAX &&
        v->tasks <= gpus->total && v->rank < gpus->total && show_step(v))
        return;
    if (gpus->count == 1 || has_slices(v)) {
        show_own(v);
    } else if (wish == RC_GPUS_OWN) {
        gpus->device = 0;
        gpus->why = "the task sees its own GPUs alone, from device 0 on";
    }
}

/* Return the variable that made srun take so few, or NULL. */
static const char *find_told(const struct rc_env *env, uint32_t count)
{
    struct rc_str rest = rc_env_get(env, "SLURM_TRES_PER_TASK");
    uint32_t number;

    if (rc_parse_u32(rc_env_get(env, "SLURM_GPUS_PER_NODE"), RC_MAX_TASKS, &number) && number == count)
        return "SLURM_GPUS_PER_NODE";
    while (rest.p)
        if (rc_str_starts(rc_str_split(rest, ',', &rest), "gres/gpu"))
            return "SLURM_TRES_PER_TASK";
    return rc_env_get(env, "SLURM_GPUS_PER_TASK").n ? "SLURM_GPUS_PER_TASK" : NULL;
}

/* Warn if the step has fewer GPUs than its job, and than tasks or workers. */
static bool say_part(const struct view *v, uint32_t wanted, const char *whose)
{
    const struct rc_env *env = &v->result->env;
    struct rc_str own = rc_task_gpus_are_bound(v->gpus) ? RC_ABSENT : rc_env_get(env, "SLURM_STEP_GPUS");
    struct rc_str step = v->context->step_gpus ? v->context->step_gpus->numbers : own;
    uint32_t count = rc_count_devices(step);
    uint32_t job = rc_gpus_of_job(env, step);
    const char *told;

    if (job == RC_UNKNOWN || job <= count || wanted <= count || rc_gpus_may_be_shared(env) ||
        !v->result->launcher->slurm_environment || has_slices(v))
        return false;
    told = find_told(env, count);
    rc_say(&v->result->messages, RC906,
           "the step has %u of the job's %u GPUs on this node, for %u %s; %s%s%suse srun --gpus-per-node=%u", count,
           job, wanted, whose, told ? "unset " : "", told ? told : "",
           told ? ", which srun takes for an option, or " : "", job);
    return true;
}

static void say_shared(struct view *v)
{
    struct rc_result *result = v->result;
    struct rc_str single = rc_gpus_binding(&result->env);

    /* shared on purpose */
    if (rc_str_starts(single, "single:") && !rc_str_is(single, "single:1"))
        return;
    /* after an exchange the roll call has named the tasks */
    if (v->gpus->total == RC_UNKNOWN || v->tasks <= v->gpus->total || rc_gpus_may_be_shared(&result->env) ||
        say_part(v, v->tasks, "tasks") || (v->context->told.port && result->identity.field[RC_NNODES] > 1))
        return;
    rc_say(&result->messages, RC902,
           "%u tasks share %u GPU%s on this node: NCCL refuses two ranks on one GPU; ask for as many "
           "GPUs as tasks (srun --gpus-per-node=%u); if tasks share GPUs on purpose, use srun --ntasks-per-gpu",
           v->tasks, v->gpus->total, v->gpus->total == 1 ? "" : "s", v->tasks);
}

static void decide_worker(struct view *v)
{
    const struct rc_gpus *gpus = v->gpus;
    enum rc_gpus_wish wish = v->context->options.gpus;
    bool too_few = v->tasks > gpus->count && (gpus->total != RC_UNKNOWN || !gpus->bound);

    if (v->tasks == 1 && (gpus->count == 1 || wish != RC_GPUS_OWN))
        return; /* its first one is the task's */
    /* other launchers may give each task several */
    if (may_be_alone(v) && gpus->total != RC_UNKNOWN && gpus->count < gpus->total)
        decide_bound(v);
    else if (may_be_alone(v) && (gpus->count == 1 || wish == RC_GPUS_OWN || too_few || has_slices(v)))
        show_own(v);
    say_shared(v);
}

/* AMD's runtimes apply ROCR's list first, then the others to the rest. */
static void drop_inner(struct view *v)
{
    const unsigned rocr = 1u << RC_GPU_LIST_ROCR;
    const unsigned others = 1u << RC_GPU_LIST_CUDA | 1u << RC_GPU_LIST_HIP | 1u << RC_GPU_LIST_ORDINAL;
    const struct rc_here *here = v->context->here;
    struct rc_gpus *gpus = v->gpus;

    if (gpus->alike & rocr && gpus->alike & others &&
        !rc_gpu_list_counts(gpus->list ? rc_str(gpus->list) : gpus->seen) &&
        rc_seen(v->context->here, RC_LEARN_GPU_FILES, RC_ABSENT) && here->gpu_files_amd)
        gpus->drop = gpus->alike & others;
}

void rc_gpus_decide(const struct rc_context *context, struct rc_result *result)
{
    struct rc_str source = rc_str(result->facts.field[RC_LOCAL_RANK].source);
    struct rc_gpus *gpus = &result->gpus;
    struct view v = {
        .context = context,
        .result = result,
        .gpus = gpus,
        .tasks = result->identity.field[RC_LOCAL_WORLD_SIZE],
        .rank = result->identity.field[RC_LOCAL_RANK],
    };

    *gpus = (struct rc_gpus){ .total = RC_UNKNOWN, .place = RC_UNKNOWN, .device = v.rank, .shown = RC_UNKNOWN };
    if (read_seen(&v)) {
        if (rc_task_gpus_are_bound(gpus) && may_be_alone(&v) && !has_slices(&v))
            gpus->hidden = find_hidden(&v);
        if (rc_task_gpus_are_bound(gpus) && (gpus->bound || gpus->step.p))
            find_own(&v);
        else
            share_common(&v);
    }
    if (!gpus->seen.p)
        return;
    gpus->shown = gpus->count;
    for (unsigned i = 0; i < RC_GPU_LISTS; i++)
        if (rc_str_eq(list_of(&v, i), gpus->seen))
            gpus->alike |= 1u << i;
    if (!gpus->usable)
        return;
    if (result->mode == RC_MODE_WORKER && v.rank != RC_UNKNOWN && v.tasks != RC_UNKNOWN &&
        !rc_str_is(source, "LOCAL_RANK"))
        decide_worker(&v);
    else if (result->mode == RC_MODE_LAUNCHER)
        say_part(&v, rc_pinning_workers(context, result), "workers");
    drop_inner(&v);
}

void rc_gpus_plan(const struct rc_context *context, struct rc_result *result)
{
    static const char from[] = "the step's GPUs on this node";
    const struct rc_gpus *gpus = &result->gpus;

    for (unsigned i = 0; i < RC_GPU_LISTS; i++) {
        struct rc_str name = rc_gpu_list_name((enum rc_gpu_list_index)i);
        unsigned bit = 1u << i;

        if (gpus->drop & bit)
            rc_plan_unset(result, name, "AMD's runtimes would apply it to what ROCR_VISIBLE_DEVICES left");
        else if (gpus->list && gpus->alike & bit)
            rc_plan_set(result, name, gpus->list, from, gpus->reason);
        else if (gpus->restored && context->step_gpus->list[i].n)
            rc_plan_set(result, name, rc_copy(&result->arena, context->step_gpus->list[i]), from,
                        "Slurm took it away, though srun was told not to bind");
    }
    /* Slurm's order; CUDA's default puts the fastest first */
    if (gpus->list && gpus->alike & ~gpus->drop & 1u << RC_GPU_LIST_CUDA && rc_is_digit(gpus->list[0]) &&
        !rc_env_get(&result->env, "CUDA_DEVICE_ORDER").p)
        rc_plan_set(result, RC_STR("CUDA_DEVICE_ORDER"), "PCI_BUS_ID", from,
                    "the order in which the GPUs are numbered");
}
