/* SPDX-License-Identifier: BSD-3-Clause */
/* taskmap.h - which node each task is on, where the launcher says it outright.
 *
 * Needed for `srun -m arbitrary`, the one distribution under which RANK 0 may
 * be anywhere: Slurm sorts the node list and says nothing in the environment
 * (measured: RANK 0 on NODEID 1). A map is runs in order of rank; a run is the same
 * number of tasks on each of some nodes that follow each other. Two writings:
 *   "(vector,(2,2,8),(0,1,1))"  first node, nodes, tasks on each: Slurm's
 *                               pack_process_mapping, SLURM_PMIX_MAPPING_SERV, PMI's mapping
 *   "2-3x8,0"                   the same, shorter: rollcall's own (base/runs.h), RC_TASK_HOSTS
 */
#ifndef ROLLCALL_LAUNCHER_TASKMAP_H
#define ROLLCALL_LAUNCHER_TASKMAP_H

#include "base/numbers.h"
#include "base/text.h"

/* What a map says about one node. */
struct rc_taskmap_node {
    uint32_t master_node;  /* node of rank 0 */
    uint32_t node_rank;    /* this node's place when nodes are ordered by their lowest rank */
    uint32_t tasks;        /* on this node */
    uint32_t tasks_before; /* on all nodes of a lower node_rank */
};

/* Walks the map; node indices are positions in the launcher's node list.
 *   tasks, nodes  what the launcher says elsewhere: the map must fit
 *   node          the node in question
 *   seen          scratch of `nodes` bits, in 64-bit words
 * False, with *out untouched, if the map cannot be read, does not fit, or leaves
 * a node without a task. */
bool rc_taskmap_read(struct rc_str map, uint32_t tasks, uint32_t nodes, uint32_t node, uint64_t *seen,
                     struct rc_taskmap_node *out);

/* The second writing of where each task is. NULL where the arena has no room. */
const char *rc_taskmap_write(const uint32_t *node_of, uint32_t tasks, struct rc_arena *arena);

#endif
