/* SPDX-License-Identifier: BSD-3-Clause */
/* devices.h - which GPUs the tasks of a node are going to use, as far as that is known (resolve/taskgpus.h).
 *
 * For Slurm's steps alone, where SLURM_STEP_GPUS or the device files say which
 * GPUs of the node the step has. Where Slurm binds no task to one, all see the
 * same list, and the task of local rank r uses device r mod n of n, as
 * cuda:LOCAL_RANK does; in launcher mode the node's one task has all of them.
 * Where tasks are bound, the first one speaks of itself alone.
 *
 * Nothing is said where the GPUs are not known, or where several tasks may share
 * one: MPS, shards, NCCL's several ranks a GPU.
 *
 * A GPU's name is its UUID, from the list or from the driver's files; else it is
 * good for this node only, "0 of node 1".
 */
#ifndef ROLLCALL_ROLL_DEVICES_H
#define ROLLCALL_ROLL_DEVICES_H

#include "resolve/resolve.h"
#include "roll/roll.h"

enum { RC_DEVICES_TEXT = 2048 };

/* Fills in roll->visible and roll->gpu from the result of the node's first task;
 * roll->tasks and roll->node are there. The texts are in the arena, an empty one
 * of RC_DEVICES_TEXT bytes. folder: RC_NVIDIA_FOLDER (system/nvidia.h). */
void rc_devices_find(const struct rc_result *result, const char *folder, struct rc_roll *roll, struct rc_arena *arena);

#endif
