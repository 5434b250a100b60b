/* SPDX-License-Identifier: BSD-3-Clause */
/* gpulist.h - a task's GPUs by variables of Slurm and GPU runtimes; lists: "0,1", "GPU-...,MIG-...". */
#pragma once

#include "base/env.h"

enum rc_gpu_list_index {
#define ROLLCALL_GPU_LIST(id, vendor, name) RC_GPU_LIST_##id,
#include "launcher/gpulist.def"
#undef ROLLCALL_GPU_LIST
    RC_GPU_LISTS
};

/* Length of a UUID: "GPU-" or "MIG-" and 36 characters. */
enum { RC_GPU_LIST_UUID = 40 };

/* Return a variable's name, NUL-terminated. */
struct rc_str rc_gpu_list_name(enum rc_gpu_list_index index);

struct rc_str rc_gpu_list_value(const struct rc_env *env, enum rc_gpu_list_index index);

/* Return the variable that takes effect, or RC_GPU_LISTS. */
unsigned rc_gpu_list_first(const struct rc_env *env);

/* Return true if tasks may share a GPU (MPS, shards, --ntasks-per-gpu). */
bool rc_gpus_may_be_shared(const struct rc_env *env);

/* Return true if Slurm binds this task to GPUs. */
bool rc_gpus_are_bound(const struct rc_env *env);

/* Return true if the job requests MIG instances: "gpu:1g.10gb:4". */
bool rc_gpus_are_slices(const struct rc_env *env);

/* Return the text after "gpu:" in SLURMD_TRES_BIND: "gpu:per_task:1", in newer Slurm "gres/gpu:per_task:1". */
struct rc_str rc_gpus_binding(const struct rc_env *env);

/* Return the job's GPUs on this node from SLURM_JOB_GPUS, which a batch script exports from its node; RC_UNKNOWN on
 * other nodes, or if one of the step's is another job's. */
uint32_t rc_gpus_of_job(const struct rc_env *env, struct rc_str step);

/* Return the entry at `place`, which must exist. */
struct rc_str rc_gpu_list_at(struct rc_str list, uint32_t place);

/* Return the index of an entry among the first `count`, or RC_UNKNOWN. */
uint32_t rc_gpu_list_place(struct rc_str entry, struct rc_str list, uint32_t count);

/* Return true for 0,1,2 and so on, as Slurm numbers GPUs left by a device cgroup. */
bool rc_gpu_list_counts(struct rc_str list);

/* Return true if its numbers rise, as in a list common to all tasks ("1,0" may be one task's). UUIDs have no order. */
bool rc_gpu_list_rises(struct rc_str list);

/* Return true if all are whole UUIDs: a prefix may match several. */
bool rc_gpu_list_has_uuids(struct rc_str list);
