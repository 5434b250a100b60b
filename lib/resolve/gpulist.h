/* SPDX-License-Identifier: BSD-3-Clause */
/* gpulist.h - what the variables of the GPU runtimes, and Slurm, say of a task's GPUs.
 *
 * CUDA_VISIBLE_DEVICES and its like: one table of them (visible.def), and what
 * is asked of such a list: "0,1", "GPU-...,MIG-...".
 */
#ifndef ROLLCALL_RESOLVE_GPULIST_H
#define ROLLCALL_RESOLVE_GPULIST_H

#include "base/env.h"
#include "base/numbers.h"

enum rc_gpu_list_index {
#define ROLLCALL_GPU_LIST(id, vendor, name, forms, order) RC_GPU_LIST_##id,
#define ROLLCALL_GPU_SELECTOR(vendor, name, forms, order)
#include "resolve/visible.def"
#undef ROLLCALL_GPU_LIST
#undef ROLLCALL_GPU_SELECTOR
    RC_GPU_LISTS
};

/* A list's name; ends with a NUL. */
struct rc_str rc_gpu_list_name(enum rc_gpu_list_index index);

/* What it says; absent where it is not set. */
struct rc_str rc_gpu_list_value(const struct rc_env *env, enum rc_gpu_list_index index);

/* The one that counts, of those that are there; RC_GPU_LISTS where none is. */
unsigned rc_gpu_list_first(const struct rc_env *env);

/* Whether several tasks a GPU are meant, or may be: MPS, shards, tasks asked for by GPU. */
bool rc_gpus_may_be_shared(const struct rc_env *env);

/* Whether Slurm was told to bind this task to GPUs of its own. */
bool rc_gpus_are_bound(const struct rc_env *env);

/* How it was: "gpu:per_task:1", with newer Slurms "gres/gpu:per_task:1", and here
 * what stands behind "gpu"; absent where it was not told. */
struct rc_str rc_gpus_binding(const struct rc_env *env);

/* The entry at a place that the list has. */
struct rc_str rc_gpu_list_at(struct rc_str list, uint32_t place);

/* Its place among the first `count` of a list; RC_UNKNOWN where it is none of them. */
uint32_t rc_gpu_list_place(struct rc_str entry, struct rc_str list, uint32_t count);

/* Is it 0,1,2? Slurm numbers so what a cgroup leaves of the GPUs; and filtered
 * once more, such a list is the same again. */
bool rc_gpu_list_counts(struct rc_str list);

#endif
