/* SPDX-License-Identifier: BSD-3-Clause */
/* taskgpus.h - whose GPU is whose: what a task sees of its node's GPUs, and which of them are its own.
 *
 * Decided here, once for a task. What its variables become (visible.h), which
 * cores and network card it gets (spank/bind.c, cli/bind.c) and what its node
 * tells the others (roll/devices.h) follow from it.
 *
 * A GPU has up to three numbers. The variables count what the runtime may open,
 * SLURM_STEP_GPUS counts the machine's GPUs, device files have minor numbers. A
 * device cgroup makes Slurm number each task's list anew, from 0 on, and
 * SLURM_STEP_GPUS then names the step's first GPUs in every task (measured with
 * 22.05, 24.11 and 26.05). There only the device files that the task may open
 * tell which GPUs are its own. Where nothing tells, they are not known: a guess
 * would put a task beside another one's GPU.
 */
#ifndef ROLLCALL_RESOLVE_TASKGPUS_H
#define ROLLCALL_RESOLVE_TASKGPUS_H

#include "launcher/gpulist.h"

struct rc_context;
struct rc_result;

enum { RC_TASK_GPUS_MAX = 128, RC_TASK_GPUS_TEXT = 3072 };

/* The node's part of a step, as the variables say it in user_init, before Slurm
 * binds any task to a GPU. Absent where a variable is not set. */
struct rc_step_gpus {
    struct rc_str list[RC_GPU_LISTS];
    struct rc_str numbers; /* SLURM_STEP_GPUS */
};

/* Whether a device cgroup keeps the step's other GPUs from the task. */
enum rc_gpus_hidden { RC_GPUS_HIDDEN_UNKNOWN, RC_GPUS_NOT_HIDDEN, RC_GPUS_HIDDEN };

struct rc_task_gpus {
    struct rc_str seen; /* what its first variable says; absent: no variable names GPUs */
    struct rc_str step; /* what that variable says in the whole step; absent: not known */
    uint32_t count;     /* number of entries in `seen`; 0 where the variables say "none" */
    uint32_t total;     /* number of the step's GPUs on this node, or RC_UNKNOWN */
    uint32_t first;     /* which of seen is its own, or the first of these */
    bool usable;        /* there are GPUs, and no more than a node has */
    bool restored;      /* seen is the step's, as Slurm has taken the task's away (--gpu-bind=none) */
    bool bound;         /* Slurm binds the task to GPUs */
    bool mig;           /* MIG devices are among them */
    enum rc_gpus_hidden hidden;

    /* The machine's GPUs, by its numbers or UUIDs. */
    struct rc_str all; /* the node's part of the launch, the same in all tasks; absent: not known */
    bool by_slurm;     /* that or `own` is Slurm's word for this step */
    struct rc_str own; /* the task's own; absent: not known */
    uint32_t place;    /* of the first own one in all; RC_UNKNOWN: not known, or another task's may be the same */
};

/* Fills in *gpus for a result whose identity and mode are there. Texts point
 * into the environment, the context and result->arena. Where device files would
 * tell more, result->wants says so (RC_LEARN_GPU_FILES). */
void rc_task_gpus_find(const struct rc_context *context, struct rc_result *result, struct rc_task_gpus *gpus);

/* Whether the task sees other GPUs than its neighbours. */
bool rc_task_gpus_are_bound(const struct rc_task_gpus *gpus);

/* Whether a task may be left with its own GPU alone, as device 0 and LOCAL_RANK 0. */
bool rc_task_gpus_are_alone(const struct rc_context *context, const struct rc_result *result);

/* A variable's list as the task would see it if nobody had taken it away. */
struct rc_str rc_task_gpus_list(const struct rc_context *context, const struct rc_result *result,
                                const struct rc_task_gpus *gpus, enum rc_gpu_list_index index);

#endif
