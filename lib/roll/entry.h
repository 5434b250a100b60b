/* SPDX-License-Identifier: BSD-3-Clause */
/* entry.h - this node's entry in the roll, with its GPUs. */
#pragma once

#include "resolve/resolve.h"
#include "roll/roll.h"

/* The entry of this node, one of whose tasks is resolved, as text in the arena. tasks: the ranks on it, separated by
 * commas, in any order; port: the master port that it holds, 0 where it holds none; failed: the id of the message for
 * which it cannot hold it, NULL where it can: its tasks do not start then; where the nodes ask for their order, only if
 * it becomes the node of RANK 0. NULL where the values do not fit. */
const char *rc_entry_write(const struct rc_result *result, struct rc_str tasks, uint16_t port, const char *failed,
                           bool asks_order, struct rc_arena *arena);

/* The addresses by which others may reach this node, the likeliest first: the first `most` of them, with `between`
 * between two. The text is in the arena. */
const char *rc_entry_addresses(unsigned most, const char *between, struct rc_arena *arena);

/* Which GPUs the tasks of a node are going to use, as far as that is known (resolve/gpus.c).
 *
 * For Slurm's steps alone, where SLURM_STEP_GPUS or the device files say which GPUs of the node the step has. Where
 * Slurm binds no task to one, all see the same list, and the task of local rank r uses device r mod n of n, as
 * cuda:LOCAL_RANK does; in launcher mode the node's one task has all of them. Where tasks are bound, the first one
 * speaks of itself alone.
 *
 * Nothing is said where the GPUs are not known, or where several tasks may share
 * one: MPS, shards, NCCL's several ranks a GPU.
 *
 * A GPU's name is its UUID, from the list or from the driver's files; else it is
 * good for this node only, "0 of node 1". */

enum { RC_DEVICES_TEXT = 2048 };

/* Fills in roll->visible and roll->gpu from the result of the node's first task; roll->tasks and roll->node are there.
 * The texts are in the arena, an empty one of RC_DEVICES_TEXT bytes. folder: RC_NVIDIA_FOLDER (system/gpufiles.h). */
void rc_devices_find(const struct rc_result *result, const char *folder, struct rc_roll *roll, struct rc_arena *arena);
