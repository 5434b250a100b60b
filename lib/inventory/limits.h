/* SPDX-License-Identifier: BSD-3-Clause */
/* limits.h - the kernel, this process's limits, and how much a node has of memory and processors.
 *
 * While the plugin's nodes meet, the limits are still those of the node's slurmd: Slurm puts srun's in their place
 * right before it starts the program, as far as PropagateResourceLimits and the hard limits let it (set_user_limits).
 * What srun says is the same for all nodes. So tasks' limits differ only where these do. */
#ifndef ROLLCALL_INVENTORY_LIMITS_H
#define ROLLCALL_INVENTORY_LIMITS_H

#include "base/text.h"

/* Each writes into the arena; absent where the kernel does not say. Sizes are a number and a unit: exact ones as
 * ulimit and mount take them ("64 KiB"), others in MiB, large ones in GiB. */
struct rc_str rc_inventory_kernel(const char *root, struct rc_arena *arena);  /* "6.8.0-45-generic" */
struct rc_str rc_inventory_memlock(const char *root, struct rc_arena *arena); /* "64 KiB (hard limit 8 MiB)" */
struct rc_str rc_inventory_nofile(const char *root, struct rc_arena *arena);  /* "1024 (hard limit 524288)" */
struct rc_str rc_inventory_stack(const char *root, struct rc_arena *arena);   /* likewise */
struct rc_str rc_inventory_shm(const char *root, struct rc_arena *arena);     /* "503 GiB" */
struct rc_str rc_inventory_hugepages(const char *root,
                                     struct rc_arena *arena);                /* "0 of 2048 kB, transparent: madvise" */
struct rc_str rc_inventory_memory(const char *root, struct rc_arena *arena); /* "1007 GiB" */

/* "16 of 128": the processors that this process may give itself, if its job has as many on each node, and those of the
 * node. `even` is false where a job has not as many. Sets the process's mask for a moment. */
struct rc_str rc_inventory_cores(const char *root, bool even, struct rc_arena *arena);

#endif
