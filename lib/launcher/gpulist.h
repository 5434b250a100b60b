/* SPDX-License-Identifier: BSD-3-Clause */
/* gpulist.h - what the variables of the GPU runtimes (gpulist.def), and Slurm, say of a task's GPUs; and questions
 * about one such list, as "0,1" or "GPU-...,MIG-...". */
#pragma once

#include "base/env.h"

enum rc_gpu_list_index {
#define ROLLCALL_GPU_LIST(id, vendor, name) RC_GPU_LIST_##id,
#include "launcher/gpulist.def"
#undef ROLLCALL_GPU_LIST
    RC_GPU_LISTS
};

/* A UUID as runtimes print it: "GPU-" or "MIG-" and 36 digits. */
enum { RC_GPU_LIST_UUID = 40 };

/* A variable's name; ends with a NUL. */
struct rc_str rc_gpu_list_name(enum rc_gpu_list_index index);

/* Its value; absent where it is not set. */
struct rc_str rc_gpu_list_value(const struct rc_env *env, enum rc_gpu_list_index index);

/* The variable that decides, where several are set; RC_GPU_LISTS where none is. */
unsigned rc_gpu_list_first(const struct rc_env *env);

/* Whether the user means several tasks to share a GPU, or may: MPS, shards, --ntasks-per-gpu. */
bool rc_gpus_may_be_shared(const struct rc_env *env);

/* Whether Slurm binds this task to GPUs of its own (SLURMD_TRES_BIND). */
bool rc_gpus_are_bound(const struct rc_env *env);

/* Whether Slurm calls the job's GPUs by the type of a MIG slice: "gpu:1g.10gb:4", "a100_3g.20gb". */
bool rc_gpus_are_slices(const struct rc_env *env);

/* How it does so: of "gpu:per_task:1", or with newer Slurms "gres/gpu:per_task:1",
 * what follows "gpu:". Absent where SLURMD_TRES_BIND is not set. */
struct rc_str rc_gpus_binding(const struct rc_env *env);

/* How many GPUs the job has on this node: SLURM_JOB_GPUS, which a batch script has of its own node, and hands on.
 * `step`: the numbers of the step's. RC_UNKNOWN on other nodes, and where one of these is another job's. */
uint32_t rc_gpus_of_job(const struct rc_env *env, struct rc_str step);

/* The entry at a place, counted from 0, which the list must have. */
struct rc_str rc_gpu_list_at(struct rc_str list, uint32_t place);

/* The place of an entry among the first `count` of a list; RC_UNKNOWN where it is not among them. */
uint32_t rc_gpu_list_place(struct rc_str entry, struct rc_str list, uint32_t count);

/* Whether it is 0,1,2 and so on. Slurm numbers the GPUs so that a device cgroup
 * leaves; and filtered once more, such a list is the same again. */
bool rc_gpu_list_counts(struct rc_str list);

/* Whether its numbers rise, as where all tasks are given the same list. "1,0"
 * may be one task's own view, and "0,1" another's. UUIDs have no order. */
bool rc_gpu_list_rises(struct rc_str list);

/* Whether all entries are whole UUIDs: the beginning of one may be another's, too. */
bool rc_gpu_list_has_uuids(struct rc_str list);
