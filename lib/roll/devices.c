/* SPDX-License-Identifier: BSD-3-Clause */
#include "roll/devices.h"

#include "system/nvidia.h"

/* The GPUs that tasks are going to use, by UUID where the task sees such: its
 * own where Slurm binds tasks, else those that all of them see. Absent where there
 * are none, or no telling. */
static struct rc_str find_list(const struct rc_task_gpus *gpus, bool first_alone)
{
    struct rc_str list = first_alone && rc_task_gpus_are_bound(gpus) ? gpus->own : gpus->all;

    if (!gpus->by_slurm || !list.p)
        return RC_ABSENT;
    return rc_gpu_list_has_uuids(gpus->seen) ? gpus->seen : list;
}

struct devices {
    struct rc_nvidia_gpu gpu[RC_NVIDIA_GPUS_MAX]; /* as the driver's files have them */
    size_t count;
    struct rc_str list; /* which the tasks use */
    uint32_t seen;      /* entries of it */
    struct rc_roll *roll;
    struct rc_arena *arena;
};

static void add_device(struct devices *devices, uint32_t rank, uint32_t place)
{
    struct rc_roll *roll = devices->roll;
    struct rc_str device = rc_gpu_list_at(devices->list, place);
    const char *id;
    uint32_t index;

    if (roll->gpu_count == RC_ROLL_GPUS_MAX)
        return;
    if (rc_parse_u32(device, RC_NVIDIA_GPUS_MAX, &index) && index < devices->count && devices->gpu[index].uuid[0])
        id = rc_format(devices->arena, "%s", devices->gpu[index].uuid);
    else if (rc_gpu_list_has_uuids(device))
        id = rc_copy(devices->arena, device);
    else
        id = rc_format(devices->arena, "%S of node %u", &device, roll->node);
    if (!devices->arena->full)
        roll->gpu[roll->gpu_count++] = (struct rc_roll_gpu){ rank, rc_str(id) };
}

/* A GPU for each task in turn, or for the first one alone, which has the lowest rank. */
static void add_tasks(struct devices *devices, bool first_alone)
{
    struct rc_str rest = devices->roll->tasks;
    uint32_t local = 0;
    uint32_t first;
    uint32_t last;

    while (local < RC_ROLL_GPUS_MAX && rc_roll_next_range(&rest, &first, &last)) {
        for (uint32_t rank = first; rank <= last && local < RC_ROLL_GPUS_MAX; rank++, local++) {
            add_device(devices, rank, local % devices->seen);
            if (first_alone)
                return;
        }
    }
}

/* For people who read the roll: "CUDA_VISIBLE_DEVICES=0,1". */
static void name_seen(const struct rc_env *env, struct rc_roll *roll, struct rc_arena *arena)
{
    unsigned first = rc_gpu_list_first(env);
    struct rc_str name, value;

    if (first == RC_GPU_LISTS)
        return;
    name = rc_gpu_list_name((enum rc_gpu_list_index)first);
    value = rc_env_find(env, name);
    if (value.n > RC_ROLL_TEXT_MAX)
        value.n = RC_ROLL_TEXT_MAX;
    roll->visible = rc_str(rc_format(arena, "%s=%S", name.p, &value));
}

void rc_devices_find(const struct rc_result *result, const char *folder, struct rc_roll *roll, struct rc_arena *arena)
{
    const struct rc_env *env = &result->env;
    const struct rc_task_gpus *gpus = &result->visible.gpus;
    bool first_alone = gpus->bound && result->mode != RC_MODE_LAUNCHER;
    struct devices devices = { .list = find_list(gpus, gpus->bound), .roll = roll, .arena = arena };
    uint32_t first;

    name_seen(env, roll, arena);
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
            add_device(&devices, first, place);
    } else {
        add_tasks(&devices, first_alone);
    }
}
