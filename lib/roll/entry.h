/* SPDX-License-Identifier: BSD-3-Clause */
/* entry.h - this node's entry in the roll, with its GPUs. */
#pragma once

#include "resolve/resolve.h"
#include "roll/roll.h"

/* Return this node's entry as text in the arena, or NULL if the values do not fit. result: of any of its tasks; tasks:
 * its ranks, comma-separated; port: the master port held, or 0; failed: the id of the message if it cannot hold the
 * port, else NULL. Its tasks do not start then; if asks_order, only if it becomes RANK 0's node. */
const char *rc_entry_write(const struct rc_result *result, struct rc_str tasks, uint16_t port, const char *failed,
                           bool asks_order, struct rc_arena *arena);

/* Return this node's first `most` addresses for others, the likeliest first, separated by `between`, in the arena. */
const char *rc_entry_addresses(unsigned most, const char *between, struct rc_arena *arena);

/* The GPUs that a node's tasks will use, if known (resolve/gpus.c): only in Slurm steps, from SLURM_STEP_GPUS or the
 * device files. If Slurm does not bind tasks to GPUs, local rank r uses device r mod n, as cuda:LOCAL_RANK does; else
 * only the first task's is known. In launcher mode the one task has all. Left out if tasks may share a GPU: MPS,
 * shards, several NCCL ranks a GPU. Named by UUID, else as "0 of node 1". */

enum { RC_DEVICES_TEXT = 2048 };

/* Set roll->visible and roll->gpu from the result of the node's first task. Requires roll->tasks, roll->node and an
 * empty arena of RC_DEVICES_TEXT bytes. folder: RC_NVIDIA_FOLDER (gpufiles.h). */
void rc_devices_find(const struct rc_result *result, const char *folder, struct rc_roll *roll, struct rc_arena *arena);
