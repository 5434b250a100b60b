/* SPDX-License-Identifier: BSD-3-Clause */
/* devices.h - which GPUs the tasks of a node are going to use, as far as their launcher and their variables say.
 *
 * Of Slurm's steps alone, where SLURM_STEP_GPUS says which GPUs of the node the
 * step has. Where no task is bound to one (SLURMD_TRES_BIND), all see the same
 * list, and the task of local rank r is taken to use device r mod n of n, as
 * cuda:LOCAL_RANK does; in launcher mode the node's one task has all of them.
 * Where tasks are bound, the first one speaks of itself alone.
 *
 * Nothing is said where nobody can know, or where several tasks a GPU are meant:
 * no GPU asked for, variables that Slurm has not set that way, MPS, shards,
 * NCCL's several ranks a GPU.
 *
 * A GPU's name is its UUID, from the list or from the driver's files; else it is
 * good for this node only, "0 of node 1".
 */
#ifndef ROLLCALL_ROLL_DEVICES_H
#define ROLLCALL_ROLL_DEVICES_H

#include "resolve/resolve.h"
#include "roll/roll.h"

enum { RC_DEVICES_TEXT = 2048 };

/* Fills in roll->visible and roll->gpu of the node whose first task is resolved;
 * roll->tasks and roll->node are there. The texts are in the arena, an empty one
 * of RC_DEVICES_TEXT bytes. folder: RC_NVIDIA_FOLDER (system/nvidia.h). */
void rc_devices_find(const struct rc_result *result, const char *folder, struct rc_roll *roll, struct rc_arena *arena);

#endif
