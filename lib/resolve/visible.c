/* SPDX-License-Identifier: BSD-3-Clause */
#include "resolve/visible.h"

#include "resolve/resolve.h"

/* Longer lists, or more devices, than any node has: those are left alone. */
enum { LIST_LENGTH_MAX = 3072, DEVICES_MAX = 128 };

struct view {
    const struct rc_context *context;
    struct rc_result *result;
    struct rc_visible *visible;
    struct rc_str list; /* what the task sees */
    struct rc_str step; /* the same variable's in the whole step; absent where it is not known */
    uint32_t count;     /* of list */
    uint32_t total;     /* of the step's GPUs on this node, or RC_UNKNOWN */
    uint32_t tasks;
    uint32_t rank;
    bool bound;
    bool mig;
};

/* By Slurm up to 23.02; later, where it makes a device cgroup of each task (seen with 24.11 and 26.05). */
static bool were_taken_away(const struct rc_context *context, const struct rc_env *env)
{
    size_t length = 0;

    if (!context->step_gpus || !rc_str_is(rc_gpus_binding(env), "none"))
        return false;
    for (unsigned i = 0; i < RC_GPU_LISTS; i++)
        length += context->step_gpus->list[i].n;
    return length > 0 && length <= LIST_LENGTH_MAX;
}

static struct rc_str list_at(const struct view *v, unsigned i)
{
    return v->visible->restored ? v->context->step_gpus->list[i]
                                : rc_gpu_list_value(&v->result->env, (enum rc_gpu_list_index)i);
}

/* False where nobody says that there is a GPU. */
static bool look(struct view *v)
{
    const struct rc_env *env = &v->result->env;
    unsigned first = rc_gpu_list_first(env);

    if (first == RC_GPU_LISTS && were_taken_away(v->context, env)) {
        v->visible->restored = true;
        for (first = 0; !v->context->step_gpus->list[first].n;)
            first++;
    }
    if (first == RC_GPU_LISTS)
        return false;
    v->list = list_at(v, first);
    v->count = v->visible->count = rc_count_devices(v->list);
    for (unsigned i = 0; i < RC_GPU_LISTS; i++)
        if (rc_str_eq(list_at(v, i), v->list))
            v->visible->alike |= 1u << i;
    v->bound = rc_gpus_are_bound(env);
    for (struct rc_str rest = v->list; rest.p;)
        if (rc_str_starts(rc_str_split(rest, ',', &rest), "MIG-"))
            v->mig = true;
    v->total = RC_UNKNOWN;
    if (v->context->step_gpus && v->context->step_gpus->list[first].p)
        v->step = v->context->step_gpus->list[first];
    if (v->step.p)
        v->total = rc_count_devices(v->step);
    else if (!rc_parse_u32(rc_env_get(env, "SLURM_GPUS_ON_NODE"), RC_MAX_TASKS, &v->total))
        v->total = RC_UNKNOWN;
    if (v->total < v->count) /* set by hand */
        v->total = v->count;
    return v->count > 0 && v->count <= DEVICES_MAX && v->list.n <= LIST_LENGTH_MAX;
}

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
    if (!rc_str_eq(own, v->list))
        set_list(v, rc_format(&v->result->arena, "%S", &own), 1, "this task's own GPU alone, as LOCAL_RANK says");
}

/* Rules 3 and 5: the step's list, with the task's own ones from place r on, as far
 * as there are places. False where one of them is none of the step's. */
static bool show_step(struct view *v)
{
    struct rc_arena *arena = &v->result->arena;
    uint8_t place[DEVICES_MAX];
    const char *list;

    for (uint32_t i = 0; i < v->total; i++)
        place[i] = (uint8_t)i;
    for (uint32_t i = 0; i < v->count && v->rank + i < v->total; i++) {
        uint32_t own = rc_gpu_list_place(rc_gpu_list_at(v->list, i), v->step, v->total);
        uint32_t at = 0;

        if (own == RC_UNKNOWN)
            return false;
        while (place[at] != own)
            at++;
        place[at] = place[v->rank + i];
        place[v->rank + i] = (uint8_t)own;
    }
    list = rc_format(arena, "");
    for (uint32_t i = 0; i < v->total; i++) {
        struct rc_str entry = rc_gpu_list_at(v->step, place[i]);

        rc_join(arena);
        rc_format(arena, i ? ",%S" : "%S", &entry);
    }
    set_list(v, list, v->total, "the step's GPUs, this task's own where LOCAL_RANK says");
    return true;
}

/* What a cgroup leaves to a task Slurm counts from 0. SLURM_STEP_GPUS is the
 * step's first one then, in every task (24.11, 26.05), or 0 as well (22.05). */
static bool is_renumbered(const struct view *v)
{
    struct rc_str own = rc_env_get(&v->result->env, "SLURM_STEP_GPUS");

    return v->count == 1 && rc_str_is(v->list, "0") && rc_count_devices(own) == 1 && !rc_str_is(own, "0");
}

enum hidden { HIDDEN_UNKNOWN, HIDDEN_NOT, HIDDEN };

/* Whether a device cgroup keeps the step's other GPUs from a task that is bound.
 * Its device files tell; where there are too few for that, Slurm's numbers may. */
static enum hidden are_hidden(struct view *v)
{
    const struct rc_here *here = v->context->here;

    if (!here || !(here->learned & RC_LEARN_GPU_FILES))
        v->result->wants |= RC_LEARN_GPU_FILES;
    else if (here->gpu_files >= v->total && here->gpu_files_open >= v->count)
        return here->gpu_files_open < v->total ? HIDDEN : HIDDEN_NOT;
    return is_renumbered(v) ? HIDDEN : HIDDEN_UNKNOWN;
}

static void say_hidden(struct view *v)
{
    rc_message_add(
        &v->result->messages, RC901,
        rc_format(&v->result->arena,
                  "a device cgroup hides %u of the step's %u GPUs on this node from each task, so tasks have "
                  "no P2P (NVLink, PCIe); device 0 is each one's own; use srun --gpus-per-node=%u without "
                  "--gpus-per-task and --gpu-bind, or, from Slurm 23.11 on, --gres-flags=allow-task-sharing",
                  v->total - v->count, v->total, v->total));
}

static void say_narrow(struct view *v, const char *why)
{
    rc_message_add(&v->result->messages, RC903,
                   rc_format(&v->result->arena,
                             v->bound
                                 ? "gpus=all was asked for, but %s; each task keeps its own; leave --gpus-per-task "
                                   "and --gpu-bind out"
                                 : "gpus=all was asked for, but %s; each task keeps its own; leave gpus=all out",
                             why));
}

static void say_missing(struct view *v)
{
    if (v->rank >= v->count)
        rc_message_add(
            &v->result->messages, RC904,
            rc_format(&v->result->arena,
                      "this task sees %u GPUs, and there is no cuda:%u for its LOCAL_RANK; they are left so; "
                      "use cuda:0 and on, or gpus=own, which makes LOCAL_RANK 0",
                      v->count, v->rank));
}

/* A task that sees fewer GPUs than its step has. */
static void decide_bound(struct view *v)
{
    enum rc_gpus wish = v->context->options.gpus;
    bool may_widen = (v->count == 1 || wish == RC_GPUS_ALL) && wish != RC_GPUS_OWN && !v->mig;
    enum hidden hidden = v->mig ? HIDDEN_UNKNOWN : are_hidden(v);

    if (hidden == HIDDEN && v->tasks > 1)
        say_hidden(v);
    if (may_widen && hidden == HIDDEN_NOT && v->step.p && v->total <= DEVICES_MAX && v->tasks <= v->total &&
        v->rank < v->total && show_step(v))
        return;
    if (wish == RC_GPUS_ALL)
        say_narrow(v, hidden == HIDDEN      ? "a device cgroup forbids it"
                      : v->mig              ? "a process can use one MIG device only"
                      : v->tasks > v->total ? "there are more tasks than GPUs"
                      : !v->step.p          ? "only the plugin (srun --ddp) knows the step's GPUs"
                                            : "it cannot be seen whether the other GPUs may be opened");
    if (v->count == 1 || v->mig) {
        show_own(v, rc_gpu_list_at(v->list, 0));
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
    if (v->total == RC_UNKNOWN || v->tasks <= v->total || rc_gpus_may_be_shared(&result->env) ||
        (v->context->told_port && result->identity.field[RC_NNODES] > 1))
        return;
    rc_message_add(&result->messages, RC902,
                   rc_format(&result->arena,
                             "%u tasks share %u GPU%s on this node: NCCL refuses two ranks on one GPU; ask for as many "
                             "GPUs as tasks (srun --gpus-per-node=%u), or say that it is meant (srun --ntasks-per-gpu)",
                             v->tasks, v->total, v->total == 1 ? "" : "s", v->tasks));
}

/* Lightning numbers its processes by LOCAL_RANK, and several would be rank 0, where it does not believe in Slurm. */
static bool may_be_device_0(const struct view *v)
{
    return v->result->launcher->slurm_environment || v->context->options.gpus == RC_GPUS_OWN;
}

static void decide_worker(struct view *v)
{
    enum rc_gpus wish = v->context->options.gpus;

    if (v->tasks == 1 && (v->count == 1 || wish != RC_GPUS_OWN) && (v->count == v->total || wish != RC_GPUS_ALL))
        return; /* its first one is its own */
    if (v->total != RC_UNKNOWN && v->count < v->total && may_be_device_0(v))
        decide_bound(v);
    else if ((v->count == 1 || v->mig || wish == RC_GPUS_OWN) && may_be_device_0(v))
        show_own(v, rc_gpu_list_at(v->list, v->rank % v->count));
    else if (v->tasks > v->count && may_be_device_0(v) && (v->total != RC_UNKNOWN || !v->bound))
        show_own(v, rc_gpu_list_at(v->list, v->rank % v->count));
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
    const struct rc_here *here = v->context->here;

    if (!(v->visible->alike & rocr) || !inner ||
        rc_gpu_list_counts(v->visible->list ? rc_str(v->visible->list) : v->list))
        return;
    if (!here || !(here->learned & RC_LEARN_GPU_FILES))
        v->result->wants |= RC_LEARN_GPU_FILES;
    else if (here->gpu_files_amd)
        v->visible->drop = inner;
}

void rc_visible_decide(const struct rc_context *context, struct rc_result *result)
{
    const uint32_t *field = result->identity.field;
    struct rc_str source = rc_str(result->facts.field[RC_LOCAL_RANK].source);
    struct view v = {
        .context = context,
        .result = result,
        .visible = &result->visible,
        .list = RC_ABSENT,
        .step = RC_ABSENT,
        .tasks = field[RC_LOCAL_WORLD_SIZE],
        .rank = field[RC_LOCAL_RANK],
    };

    result->visible = (struct rc_visible){ .device = v.rank, .count = RC_UNKNOWN };
    if (!look(&v))
        return;
    if (result->mode == RC_MODE_WORKER && v.rank != RC_UNKNOWN && v.tasks != RC_UNKNOWN &&
        !(source.p && rc_str_is(source, "LOCAL_RANK")))
        decide_worker(&v);
    drop_inner(&v);
}

static void add(struct rc_result *result, enum rc_action action, struct rc_str name, const char *value,
                const char *reason)
{
    struct rc_str now = rc_env_find(&result->env, name);

    if (result->plan.count == RC_PLAN_MAX)
        result->plan.full = true;
    else
        result->plan.entry[result->plan.count++] = (struct rc_plan_entry){
            .action = action,
            .name = name,
            .value = value,
            .source = value ? "the step's GPUs on this node" : NULL,
            .reason = reason,
            .changes = !(value && rc_str_is(now, value)),
            .is_new = !now.p,
        };
}

void rc_visible_plan(const struct rc_context *context, struct rc_result *result)
{
    const struct rc_visible *visible = &result->visible;

    for (unsigned i = 0; i < RC_GPU_LISTS; i++) {
        struct rc_str name = rc_gpu_list_name((enum rc_gpu_list_index)i);
        unsigned bit = 1u << i;

        if (visible->drop & bit) {
            if (rc_gpu_list_value(&result->env, (enum rc_gpu_list_index)i).p)
                add(result, RC_UNSET, name, NULL, "AMD's runtimes would apply it to what ROCR_VISIBLE_DEVICES left");
        } else if (visible->list && visible->alike & bit) {
            add(result, RC_SET, name, visible->list, visible->reason);
        } else if (visible->restored && context->step_gpus->list[i].n) {
            add(result, RC_SET, name, rc_format(&result->arena, "%S", &context->step_gpus->list[i]),
                "Slurm took it away, though srun was told not to bind");
        }
    }
    /* Slurm's indices are in this order; CUDA's own puts the fastest first */
    if (visible->list && visible->alike & ~visible->drop & 1u << RC_GPU_LIST_CUDA && visible->list[0] >= '0' &&
        visible->list[0] <= '9' && !rc_env_get(&result->env, "CUDA_DEVICE_ORDER").p)
        add(result, RC_SET, RC_STR("CUDA_DEVICE_ORDER"), "PCI_BUS_ID", "the order in which the GPUs are numbered");
}
