/* SPDX-License-Identifier: BSD-3-Clause */
#include "launcher/gpulist.h"

#include "launcher/hosts.h"
#include "launcher/launcher.h"

static const struct rc_str variables[RC_GPU_LISTS] = {
#define ROLLCALL_GPU_LIST(id, vendor, name) RC_NAME(name),
#include "launcher/gpulist.def"
#undef ROLLCALL_GPU_LIST
};

struct rc_str rc_gpu_list_name(enum rc_gpu_list_index index)
{
    return variables[index];
}

struct rc_str rc_gpu_list_value(const struct rc_env *env, enum rc_gpu_list_index index)
{
    return rc_env_find(env, variables[index]);
}

unsigned rc_gpu_list_first(const struct rc_env *env)
{
    unsigned first = 0;

    while (first < RC_GPU_LISTS && !rc_env_find(env, variables[first]).p)
        first++;
    /* HIP's list selects from ROCR's */
    if (first == RC_GPU_LIST_ROCR && rc_env_find(env, variables[RC_GPU_LIST_HIP]).p)
        first = RC_GPU_LIST_HIP;
    return first;
}

struct rc_str rc_gpus_binding(const struct rc_env *env)
{
    struct rc_str bind = rc_env_get(env, "SLURMD_TRES_BIND");
    struct rc_str rest;

    if (rc_str_starts(bind, "gres/"))
        rc_str_split(bind, '/', &bind);
    rc_str_split(bind, ':', &rest);
    return rest;
}

bool rc_gpus_are_bound(const struct rc_env *env)
{
    return rc_env_get(env, "SLURMD_TRES_BIND").n > 0 && !rc_str_is(rc_gpus_binding(env), "none");
}

bool rc_gpus_may_be_shared(const struct rc_env *env)
{
    struct rc_str names = RC_STR("CUDA_MPS_PIPE_DIRECTORY|CUDA_MPS_LOG_DIRECTORY|CUDA_MPS_ACTIVE_THREAD_PERCENTAGE|"
                                 "CUDA_MPS_PINNED_DEVICE_MEM_LIMIT|SLURM_SHARDS_ON_NODE|SLURM_NTASKS_PER_GPU|"
                                 "NCCL_MULTI_RANK_GPU_ENABLE");

    while (names.p) {
        struct rc_str value = rc_env_find(env, rc_str_split(names, '|', &names));

        if (value.n && !rc_str_is(value, "0"))
            return true;
    }
    return false;
}

/* Find "1g.10gb", as in nvidia-smi mig -lgip, anywhere in the value. */
static bool names_slice(struct rc_str value)
{
    for (size_t i = 0; i + 5 < value.n; i++)
        if (rc_is_digit(value.p[i]) && value.p[i + 1] == 'g' && value.p[i + 2] == '.' && rc_is_digit(value.p[i + 3]))
            return true;
    return false;
}

bool rc_gpus_are_slices(const struct rc_env *env)
{
    struct rc_str names = RC_STR("SLURM_GPUS|SLURM_GPUS_PER_NODE|SLURM_GPUS_PER_TASK|SLURM_TRES_PER_TASK|"
                                 "SLURM_GPUS_PER_SOCKET|SLURM_STEP_GRES");

    while (names.p)
        if (names_slice(rc_env_find(env, rc_str_split(names, '|', &names))))
            return true;
    return false;
}

uint32_t rc_gpus_of_job(const struct rc_env *env, struct rc_str step)
{
    struct rc_str job = rc_env_get(env, "SLURM_JOB_GPUS");
    uint32_t count = rc_count_devices(job);
    char first[RC_HOST_MAX + 1];
    bool is_first = step.n && rc_hostlist_nth(rc_env_get(env, "SLURM_JOB_NODELIST"), 0, first) &&
                    rc_str_is(rc_env_get(env, "SLURMD_NODENAME"), first);

    while (is_first && step.p)
        if (rc_gpu_list_place(rc_str_split(step, ',', &step), job, count) == RC_UNKNOWN)
            return RC_UNKNOWN;
    return is_first ? count : RC_UNKNOWN;
}

struct rc_str rc_gpu_list_at(struct rc_str list, uint32_t place)
{
    struct rc_str entry;

    do
        entry = rc_str_split(list, ',', &list);
    while (place-- > 0);
    return entry;
}

uint32_t rc_gpu_list_place(struct rc_str entry, struct rc_str list, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (rc_str_eq(rc_str_split(list, ',', &list), entry))
            return i;
    return RC_UNKNOWN;
}

bool rc_gpu_list_counts(struct rc_str list)
{
    for (uint32_t next = 0; list.p; next++) {
        uint32_t index;

        if (!rc_parse_u32(rc_str_split(list, ',', &list), UINT16_MAX, &index) || index != next)
            return false;
    }
    return true;
}

bool rc_gpu_list_rises(struct rc_str list)
{
    uint32_t last = 0;

    for (bool first = true; list.p; first = false) {
        uint32_t index;

        if (!rc_parse_u32(rc_str_split(list, ',', &list), UINT32_MAX - 1, &index))
            continue;
        if (!first && index <= last)
            return false;
        last = index;
    }
    return true;
}

bool rc_gpu_list_has_uuids(struct rc_str list)
{
    bool any = list.p != NULL;

    while (list.p) {
        struct rc_str device = rc_str_split(list, ',', &list);

        if (device.n < RC_GPU_LIST_UUID || !(rc_str_starts(device, "GPU-") || rc_str_starts(device, "MIG-")))
            return false;
    }
    return any;
}
