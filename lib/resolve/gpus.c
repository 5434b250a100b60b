/* SPDX-License-Identifier: BSD-3-Clause */
#include "resolve/resolve.h"
#include "resolve/steps.h"

/* Whose GPU is whose: what a task sees of its node's GPUs, and which of them are its own.
 *
 * Decided here, once for a task. What its variables become (below), which
 * cores and network card it gets (spank/bind.c, cli/exec.c) and what its node
 * tells the others (roll/entry.h) follow from it.
 *
 * A GPU has up to three numbers. The variables count what the runtime may open,
 * SLURM_STEP_GPUS counts the machine's GPUs, device files have minor numbers. A
 * device cgroup makes Slurm number each task's list anew, from 0 on, and
 * SLURM_STEP_GPUS then names the step's first GPUs in every task (measured with
 * 22.05, 24.11 and 26.05). There only the device files that the task may open
 * tell which GPUs are its own. Where nothing tells, they are not known: a guess
 * would put a task beside another one's GPU. */

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

/* A variable's list as the task would see it if nobody had taken it away. */
static struct rc_str task_gpus_list(const struct rc_context *context, const struct rc_result *result,
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
    gpus->seen = task_gpus_list(context, result, gpus, first);
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

/* Whether a task may be left with its own GPU alone, as device 0 and LOCAL_RANK 0.
 * Lightning numbers its processes by LOCAL_RANK, and several would be rank 0, where it does not believe in Slurm. */
static bool task_gpus_are_alone(const struct rc_context *context, const struct rc_result *result)
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

    if (rc_seen(context->here, RC_LEARN_GPU_FILES, RC_ABSENT) && here->gpu_files >= gpus->total &&
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

/* Finds the GPUs whose device files the cgroup lets the task open. */
static void find_by_files(const struct rc_here *here, struct rc_arena *arena, struct rc_task_gpus *gpus)
{
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
    if (rc_task_gpus_are_bound(gpus) && !gpus->mig && task_gpus_are_alone(context, result))
        find_hidden(context, result, gpus);
    if (rc_task_gpus_are_bound(gpus) && (gpus->bound || gpus->step.p)) {
        find_own(context, result, gpus);
    } else {
        find_common(context, result, gpus);
        share_common(result, gpus);
    }
}

/* Which of its node's GPUs a task sees, so that cuda:LOCAL_RANK is its own.
 *
 * What a launcher leaves visible is one of three things: all of the step's GPUs
 * in every task; one, or some, of them by variable, while the others' device
 * files may be opened all the same; or by a device cgroup, which hides the others
 * and the way to them. The rule, for n GPUs of the step and t tasks on this node,
 * and the task of local rank r:
 *
 * 1. No variable, or one that names no GPU: nothing is touched. Nor where the
 *    local rank is LOCAL_RANK's own word: somebody else has numbered the tasks.
 * 2. All tasks see the same list, n >= t, no MIG: nothing is touched, cuda:r is
 *    the task's own.
 * 3. The task sees one by variable, n >= t, and the step's list is known: the
 *    variables become the step's list, with the task's own GPU at place r. So
 *    does every one of its neighbours, and peers reach each other's memory.
 *    Where srun was told not to bind (--gpu-bind=none) Slurm up to 23.02 takes all
 *    the variables away, a later one if there are device cgroups: they are put back.
 * 4. Else, in Slurm, where it sees one, or where there are more tasks than GPUs (then entry
 *    r mod n is its own), or of MIG devices, of which a process uses only the
 *    first, or with gpus=own: it sees its own alone, as device 0, and LOCAL_RANK
 *    is 0, as with torch's own "virtual local rank". Nothing else changes its
 *    number. Under other launchers with gpus=own alone: outside of Slurm Lightning
 *    takes its rank from LOCAL_RANK, and 0 in several tasks is the very thing that
 *    rollcall is there to prevent. For the same reason an interactive job's name,
 *    which Lightning takes for "no Slurm", is replaced (plan.c).
 * 5. The task sees several, other ones than its neighbours: left as they are;
 *    widened as in 3 with gpus=all.
 *
 * Whatever it decides once, it finds to be decided when it looks again: a task
 * that has its own GPU alone has LOCAL_RANK 0, one with the step's list has r. */

struct view {
    const struct rc_context *context;
    struct rc_result *result;
    struct rc_visible *visible;
    const struct rc_task_gpus *gpus;
    uint32_t tasks;
    uint32_t rank;
};

static void set_list(struct view *v, const char *list, uint32_t count, const char *reason)
{
    v->visible->count = count;
    v->visible->list = list;
    v->visible->reason = reason;
}

/* Rule 4. */
static void show_own(struct view *v, struct rc_str own)
{
    v->visible->device = 0;
    v->visible->why = "the task sees its own GPU alone, as device 0";
    if (!rc_str_eq(own, v->gpus->seen))
        set_list(v, rc_copy(&v->result->arena, own), 1, "this task's own GPU alone, as LOCAL_RANK says");
}

/* Rules 3 and 5: the step's list, with the task's own ones from place r on, as far
 * as there are places. False where one of them is none of the step's. */
static bool show_step(struct view *v)
{
    struct rc_arena *arena = &v->result->arena;
    uint8_t place[RC_TASK_GPUS_MAX];
    const char *list;

    for (uint32_t i = 0; i < v->gpus->total; i++)
        place[i] = (uint8_t)i;
    for (uint32_t i = 0; i < v->gpus->count && v->rank + i < v->gpus->total; i++) {
        uint32_t own = rc_gpu_list_place(rc_gpu_list_at(v->gpus->seen, i), v->gpus->step, v->gpus->total);
        uint32_t at = 0;

        if (own == RC_UNKNOWN)
            return false;
        while (place[at] != own)
            at++;
        place[at] = place[v->rank + i];
        place[v->rank + i] = (uint8_t)own;
    }
    list = rc_copy(arena, RC_STR(""));
    for (uint32_t i = 0; i < v->gpus->total; i++) {
        struct rc_str entry = rc_gpu_list_at(v->gpus->step, place[i]);

        rc_join(arena);
        rc_format(arena, i ? ",%pS" : "%pS", &entry);
    }
    set_list(v, list, v->gpus->total, "the step's GPUs, this task's own where LOCAL_RANK says");
    return true;
}

static void say_hidden(struct view *v)
{
    rc_say(&v->result->messages, RC901,
           "a device cgroup hides %u of the step's %u GPUs from each task, so tasks have no P2P (NVLink); "
           "device 0 is each task's own; use srun --gpus-per-node=%u without --gpus-per-task and --gpu-bind, or "
           "--gres-flags=allow-task-sharing",
           v->gpus->total - v->gpus->count, v->gpus->total, v->gpus->total);
}

static void say_narrow(struct view *v, const char *why)
{
    rc_say(&v->result->messages, RC903,
           v->gpus->bound ? "gpus=all was asked for, but %s; each task keeps its own; leave --gpus-per-task "
                            "and --gpu-bind out"
                          : "gpus=all was asked for, but %s; each task keeps its own; leave gpus=all out",
           why);
}

static void say_missing(struct view *v)
{
    if (v->rank >= v->gpus->count)
        rc_say(&v->result->messages, RC904,
               "this task sees %u GPUs, and there is no cuda:%u for its LOCAL_RANK; they are left so; "
               "use cuda:0 and on, or gpus=own, which makes LOCAL_RANK 0",
               v->gpus->count, v->rank);
}

/* A task that sees fewer GPUs than its step has. */
static void decide_bound(struct view *v)
{
    enum rc_gpus wish = v->context->options.gpus;
    bool may_widen = (v->gpus->count == 1 || wish == RC_GPUS_ALL) && wish != RC_GPUS_OWN && !v->gpus->mig;
    enum rc_gpus_hidden hidden = v->gpus->hidden;

    if (hidden == RC_GPUS_HIDDEN && v->tasks > 1)
        say_hidden(v);
    if (may_widen && hidden == RC_GPUS_NOT_HIDDEN && v->gpus->step.p && v->gpus->total <= RC_TASK_GPUS_MAX &&
        v->tasks <= v->gpus->total && v->rank < v->gpus->total && show_step(v))
        return;
    if (wish == RC_GPUS_ALL)
        say_narrow(v, hidden == RC_GPUS_HIDDEN    ? "a device cgroup forbids it"
                      : v->gpus->mig              ? "a process can use one MIG device only"
                      : v->tasks > v->gpus->total ? "there are more tasks than GPUs"
                      : !v->gpus->step.p          ? "only the plugin (srun --ddp) knows the step's GPUs"
                                                  : "it cannot be seen whether the other GPUs may be opened");
    if (v->gpus->count == 1 || v->gpus->mig) {
        show_own(v, rc_gpu_list_at(v->gpus->seen, v->gpus->first));
    } else if (wish == RC_GPUS_OWN) {
        v->visible->device = 0;
        v->visible->why = "the task sees its own GPUs alone, from device 0 on";
    } else {
        say_missing(v);
    }
}

static void say_shared(struct view *v)
{
    struct rc_result *result = v->result;
    struct rc_str single = rc_gpus_binding(&result->env);

    /* two tasks a GPU, as --ntasks-per-gpu=2 is handed on */
    if (rc_str_starts(single, "single:") && !rc_str_is(single, "single:1"))
        return;
    /* where the nodes have met, the roll call has named the tasks */
    if (v->gpus->total == RC_UNKNOWN || v->tasks <= v->gpus->total || rc_gpus_may_be_shared(&result->env) ||
        (v->context->told.port && result->identity.field[RC_NNODES] > 1))
        return;
    rc_say(&result->messages, RC902,
           "%u tasks share %u GPU%s on this node: NCCL refuses two ranks on one GPU; ask for as many "
           "GPUs as tasks (srun --gpus-per-node=%u), or say that it is meant (srun --ntasks-per-gpu)",
           v->tasks, v->gpus->total, v->gpus->total == 1 ? "" : "s", v->tasks);
}

static void decide_worker(struct view *v)
{
    const struct rc_task_gpus *gpus = v->gpus;
    enum rc_gpus wish = v->context->options.gpus;
    bool may_be_alone = task_gpus_are_alone(v->context, v->result);

    if (v->tasks == 1 && (gpus->count == 1 || wish != RC_GPUS_OWN) &&
        (gpus->count == gpus->total || wish != RC_GPUS_ALL))
        return; /* its first one is its own */
    if (gpus->total != RC_UNKNOWN && gpus->count < gpus->total && may_be_alone)
        decide_bound(v);
    else if ((gpus->count == 1 || gpus->mig || wish == RC_GPUS_OWN) && may_be_alone)
        show_own(v, rc_gpu_list_at(gpus->seen, gpus->first));
    else if (v->tasks > gpus->count && may_be_alone && (gpus->total != RC_UNKNOWN || !gpus->bound))
        show_own(v, rc_gpu_list_at(gpus->seen, gpus->first));
    else /* another launcher may have given each task several of its own */
        say_missing(v);
    say_shared(v);
}

/* AMD's runtimes apply ROCR's list first, and the others' to what that left. */
static void drop_inner(struct view *v)
{
    const unsigned rocr = 1u << RC_GPU_LIST_ROCR;
    const unsigned inner = v->visible->alike &
                           (1u << RC_GPU_LIST_CUDA | 1u << RC_GPU_LIST_HIP | 1u << RC_GPU_LIST_ORDINAL);

    if (!(v->visible->alike & rocr) || !inner ||
        rc_gpu_list_counts(v->visible->list ? rc_str(v->visible->list) : v->gpus->seen))
        return;
    if (rc_seen(v->context->here, RC_LEARN_GPU_FILES, RC_ABSENT) && v->context->here->gpu_files_amd)
        v->visible->drop = inner;
}

void rc_visible_decide(const struct rc_context *context, struct rc_result *result)
{
    const uint32_t *field = result->identity.field;
    struct rc_str source = rc_str(result->facts.field[RC_LOCAL_RANK].source);
    struct rc_visible *visible = &result->visible;
    struct view v = {
        .context = context,
        .result = result,
        .visible = visible,
        .gpus = &visible->gpus,
        .tasks = field[RC_LOCAL_WORLD_SIZE],
        .rank = field[RC_LOCAL_RANK],
    };

    *visible = (struct rc_visible){ .device = v.rank, .count = RC_UNKNOWN };
    rc_task_gpus_find(context, result, &visible->gpus);
    if (!visible->gpus.seen.p)
        return;
    visible->count = visible->gpus.count;
    for (unsigned i = 0; i < RC_GPU_LISTS; i++)
        if (rc_str_eq(task_gpus_list(context, result, &visible->gpus, i), visible->gpus.seen))
            visible->alike |= 1u << i;
    if (!visible->gpus.usable)
        return;
    if (result->mode == RC_MODE_WORKER && v.rank != RC_UNKNOWN && v.tasks != RC_UNKNOWN &&
        !(source.p && rc_str_is(source, "LOCAL_RANK")))
        decide_worker(&v);
    drop_inner(&v);
}

void rc_visible_plan(const struct rc_context *context, struct rc_result *result)
{
    static const char from[] = "the step's GPUs on this node";
    const struct rc_visible *visible = &result->visible;

    for (unsigned i = 0; i < RC_GPU_LISTS; i++) {
        struct rc_str name = rc_gpu_list_name((enum rc_gpu_list_index)i);
        unsigned bit = 1u << i;

        if (visible->drop & bit) {
            if (rc_gpu_list_value(&result->env, (enum rc_gpu_list_index)i).p)
                rc_plan_unset(result, name, "AMD's runtimes would apply it to what ROCR_VISIBLE_DEVICES left");
        } else if (visible->list && visible->alike & bit) {
            rc_plan_set(result, name, visible->list, from, visible->reason);
        } else if (visible->gpus.restored && context->step_gpus->list[i].n) {
            rc_plan_set(result, name, rc_copy(&result->arena, context->step_gpus->list[i]), from,
                        "Slurm took it away, though srun was told not to bind");
        }
    }
    /* Slurm's indices are in this order; CUDA's own puts the fastest first */
    if (visible->list && visible->alike & ~visible->drop & 1u << RC_GPU_LIST_CUDA && visible->list[0] >= '0' &&
        visible->list[0] <= '9' && !rc_env_get(&result->env, "CUDA_DEVICE_ORDER").p)
        rc_plan_set(result, RC_STR("CUDA_DEVICE_ORDER"), "PCI_BUS_ID", from,
                    "the order in which the GPUs are numbered");
}
