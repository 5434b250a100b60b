/* SPDX-License-Identifier: BSD-3-Clause */
#include "roll/devices.h"

#include "system/nvidia.h"

static bool has_uuids(struct rc_str list)
{
    while (list.p) {
        struct rc_str device = rc_str_split(list, ',', &list);

        if (device.n < RC_NVIDIA_UUID || !(rc_str_starts(device, "GPU-") || rc_str_starts(device, "MIG-")))
            return false;
    }
    return true;
}

/* The step's GPUs in the order in which its tasks see them; absent where there
 * are none, or no telling. */
static struct rc_str find_list(const struct rc_env *env, struct rc_str visible)
{
    struct rc_str given = rc_env_get(env, "SLURM_STEP_GPUS");
    uint32_t count = rc_count_devices(given);
    uint32_t total;

    if (count == 0 || rc_count_devices(visible) != count)
        return RC_ABSENT;
    if (has_uuids(visible))
        return visible;
    /* beside a device cgroup a bound task's own GPU is 0, and the step's list holds
     * the step's first ones (measured on 22.05, 24.11 and 26.05) */
    if (rc_gpus_are_bound(env) && rc_gpu_list_counts(visible) &&
        (!rc_parse_u32(rc_env_get(env, "SLURM_GPUS_ON_NODE"), RC_MAX_TASKS, &total) || count < total))
        return RC_ABSENT;
    return rc_str_eq(visible, given) || rc_gpu_list_counts(visible) ? given : RC_ABSENT;
}

struct devices {
    struct rc_nvidia_gpu gpu[RC_NVIDIA_GPUS_MAX]; /* as the driver's files have them */
    size_t count;
    struct rc_str list; /* which the tasks see */
    uint32_t seen;
    struct rc_roll *roll;
    struct rc_arena *arena;
};

static void add(struct devices *devices, uint32_t rank, uint32_t place)
{
    struct rc_roll *roll = devices->roll;
    struct rc_str device = rc_gpu_list_at(devices->list, place);
    const char *id;
    uint32_t index;

    if (roll->gpu_count == RC_ROLL_GPUS_MAX)
        return;
    if (rc_parse_u32(device, RC_NVIDIA_GPUS_MAX, &index) && index < devices->count && devices->gpu[index].uuid[0])
        id = rc_format(devices->arena, "%s", devices->gpu[index].uuid);
    else if (has_uuids(device))
        id = rc_format(devices->arena, "%S", &device);
    else
        id = rc_format(devices->arena, "%S of node %u", &device, roll->node);
    if (!devices->arena->full)
        roll->gpu[roll->gpu_count++] = (struct rc_roll_gpu){ rank, rc_str(id) };
}

/* Of the task with the lowest rank, which is the first one, or of all in turn. */
static void add_tasks(struct devices *devices, bool first_alone)
{
    struct rc_str rest = devices->roll->tasks;
    uint32_t local = 0;
    uint32_t first;
    uint32_t last;

    while (local < RC_ROLL_GPUS_MAX && rc_roll_next_range(&rest, &first, &last)) {
        for (uint32_t rank = first; rank <= last && local < RC_ROLL_GPUS_MAX; rank++, local++) {
            add(devices, rank, local % devices->seen);
            if (first_alone)
                return;
        }
    }
}

static struct rc_str name_visible(const struct rc_env *env, struct rc_roll *roll, struct rc_arena *arena)
{
    unsigned first = rc_gpu_list_first(env);
    struct rc_str name, value, begin;

    if (first == RC_GPU_LISTS)
        return RC_ABSENT;
    name = rc_gpu_list_name((enum rc_gpu_list_index)first);
    value = begin = rc_env_find(env, name);
    if (begin.n > RC_ROLL_TEXT_MAX)
        begin.n = RC_ROLL_TEXT_MAX;
    roll->visible = rc_str(rc_format(arena, "%s=%S", name.p, &begin));
    return value;
}

void rc_devices_find(const struct rc_result *result, const char *folder, struct rc_roll *roll, struct rc_arena *arena)
{
    const struct rc_env *env = &result->env;
    struct rc_str visible = name_visible(env, roll, arena);
    struct devices devices = { .list = find_list(env, visible), .roll = roll, .arena = arena };
    uint32_t first;

    if (!devices.list.p || rc_gpus_may_be_shared(env))
        return;
    devices.seen = rc_count_devices(devices.list);
    devices.count = rc_nvidia_read_gpus(folder, devices.gpu);
    if (result->mode == RC_MODE_LAUNCHER) {
        struct rc_str tasks = roll->tasks;
        uint32_t last;

        if (!rc_roll_next_range(&tasks, &first, &last) || first != last || tasks.p)
            return;
        for (uint32_t place = 0; place < devices.seen && place < RC_ROLL_GPUS_MAX; place++)
            add(&devices, first, place);
    } else {
        add_tasks(&devices, rc_gpus_are_bound(env));
    }
}
