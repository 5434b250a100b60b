/* SPDX-License-Identifier: BSD-3-Clause */
#include "resolve/visible.h"

#include "resolve/result.h"

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
    list = rc_format(arena, "");
    for (uint32_t i = 0; i < v->gpus->total; i++) {
        struct rc_str entry = rc_gpu_list_at(v->gpus->step, place[i]);

        rc_join(arena);
        rc_format(arena, i ? ",%S" : "%S", &entry);
    }
    set_list(v, list, v->gpus->total, "the step's GPUs, this task's own where LOCAL_RANK says");
    return true;
}

static void say_hidden(struct view *v)
{
    rc_message_add(
        &v->result->messages, RC901,
        rc_format(&v->result->arena,
                  "a device cgroup hides %u of the step's %u GPUs from each task, so tasks have no P2P (NVLink); "
                  "device 0 is each task's own; use srun --gpus-per-node=%u without --gpus-per-task and --gpu-bind, or "
                  "--gres-flags=allow-task-sharing",
                  v->gpus->total - v->gpus->count, v->gpus->total, v->gpus->total));
}

static void say_narrow(struct view *v, const char *why)
{
    rc_message_add(&v->result->messages, RC903,
                   rc_format(&v->result->arena,
                             v->gpus->bound
                                 ? "gpus=all was asked for, but %s; each task keeps its own; leave --gpus-per-task "
                                   "and --gpu-bind out"
                                 : "gpus=all was asked for, but %s; each task keeps its own; leave gpus=all out",
                             why));
}

static void say_missing(struct view *v)
{
    if (v->rank >= v->gpus->count)
        rc_message_add(
            &v->result->messages, RC904,
            rc_format(&v->result->arena,
                      "this task sees %u GPUs, and there is no cuda:%u for its LOCAL_RANK; they are left so; "
                      "use cuda:0 and on, or gpus=own, which makes LOCAL_RANK 0",
                      v->gpus->count, v->rank));
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
        (v->context->told_port && result->identity.field[RC_NNODES] > 1))
        return;
    rc_message_add(&result->messages, RC902,
                   rc_format(&result->arena,
                             "%u tasks share %u GPU%s on this node: NCCL refuses two ranks on one GPU; ask for as many "
                             "GPUs as tasks (srun --gpus-per-node=%u), or say that it is meant (srun --ntasks-per-gpu)",
                             v->tasks, v->gpus->total, v->gpus->total == 1 ? "" : "s", v->tasks));
}

static void decide_worker(struct view *v)
{
    const struct rc_task_gpus *gpus = v->gpus;
    enum rc_gpus wish = v->context->options.gpus;
    bool may_be_alone = rc_task_gpus_are_alone(v->context, v->result);

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
    if (rc_result_learned(v->context, v->result, RC_LEARN_GPU_FILES) && v->context->here->gpu_files_amd)
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
        if (rc_str_eq(rc_task_gpus_list(context, result, &visible->gpus, i), visible->gpus.seen))
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
