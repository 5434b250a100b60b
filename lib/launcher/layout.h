/* SPDX-License-Identifier: BSD-3-Clause */
/* layout.h - tasks per node: even layouts, lists, maps. */
#pragma once

#include "launcher/launcher.h"

/* Runs of nodes in order of ranks: "2-3x8,0" is 8 tasks on each of nodes 2 and 3, then 1 on node 0. Used by maps of
 * tasks (below), in which a node may repeat, and by roll/netorder.h. */

/* Consecutive nodes with equally many tasks. */
struct rc_run {
    uint32_t first; /* at most RC_MAX_TASKS, like the last node and `tasks` */
    uint32_t nodes; /* at least 1 */
    uint32_t tasks; /* on each, at least 1 */
};

/* Remove the first run; the rest is RC_ABSENT after the last. Return false, with *run unchanged, if invalid. */
bool rc_run_next(struct rc_str *rest, struct rc_run *run);

/* A text being written, at the arena's end. */
struct rc_runs {
    struct rc_arena *arena;
    const char *text;
    struct rc_run open; /* the last run, which may grow */
};

struct rc_runs rc_runs_begin(struct rc_arena *arena);

/* Add the next node's tasks. */
void rc_runs_add(struct rc_runs *runs, uint32_t node, uint32_t tasks);

/* Return the shortest text; NULL if the arena is full. */
const char *rc_runs_end(struct rc_runs *runs);

/* The node of a task whose launcher sets only rank, local rank and both sizes (mpirun, mpiexec).
 *
 * If all nodes have equally many tasks, nodes follow from rounds of `block` ranks per node: all (by slot), one (by
 * node) or between (mpiexec -ppn). An uneven layout may look even to one task; nearly always another detects it,
 * refuses, and so ends the job. Not always: 1, 3, 1 and 1 tasks with ranks 0, 1 4 5, 2 and 3 look even to each, as 6
 * nodes or 2. So a derived number of nodes is internal and never set in a task. */

/* Check ranks and sizes (RC103). Set one node if the local size is the size; an unknown number of nodes to the quotient
 * (nnodes_derived). Return false without a message for an uneven layout or impossible counts. */
bool rc_layout_nnodes(struct rc_reader *reader, struct rc_facts *facts);

/* Return the node's index in rounds of `block`, or RC_UNKNOWN. */
uint32_t rc_layout_node_rank(const struct rc_facts *facts, uint32_t block);

/* Return true if this task may be on node `place` with any block. */
bool rc_layout_agrees(const struct rc_facts *facts, uint32_t place);

/* Use the Slurm job's hosts if they are as many as the nodes. */
bool rc_layout_take_job_hosts(const struct rc_env *env, struct rc_facts *facts);

/* Set minimum and maximum per node, as far as known, and the rank node by node. */
void rc_layout_spread(struct rc_facts *facts);

/* Add RC110 unless there is an error. Return false. `cure`: see rc_launcher.each. */
bool rc_layout_refuse(struct rc_reader *reader, const struct rc_facts *facts, const char *cure);

/* Slurm's tasks per node, "2(x3),1" for 2,2,2,1 (_uint16_array_to_str in srun.c, uint16_array_to_str in env.c). Never
 * expanded. */

struct rc_tasklist {
    struct rc_str text; /* valid */
    uint32_t nodes;
    uint32_t tasks;
    uint32_t smallest; /* fewest tasks of a node */
    uint32_t largest;
};

/* Validate and sum up. Return false, with *list unchanged, unless it is COUNT[(xREPEAT)],... from 1, for at most
 * RC_MAX_TASKS. */
bool rc_tasklist_parse(struct rc_str text, struct rc_tasklist *list);

/* Return a node's tasks, or 0; *before: of earlier nodes. */
uint32_t rc_tasklist_at(const struct rc_tasklist *list, uint32_t node, uint32_t *before);

/* Explicit maps of tasks, for `srun -m arbitrary`, the only distribution with rank 0 on any node (measured: on NODEID
 * 1); Slurm sorts the node list. Runs in order of rank:
 *
 * "(vector,(2,2,8),(0,1,1))": first node, nodes, tasks on each: SLURM_PMIX_MAPPING_SERV, PMI's mapping
 * "2-3x8,0": RC_TASK_HOSTS */

struct rc_taskmap_node {
    uint32_t master_node;
    uint32_t node_rank; /* its index in order of lowest ranks */
    uint32_t tasks;
    uint32_t tasks_before; /* on all nodes with a lower node_rank */
};

/* Like rc_run_next(), for a map of either format. */
bool rc_taskmap_next(struct rc_str *rest, struct rc_run *run);

/* Read a node's entry of a map with `tasks` tasks on all `nodes` nodes; `seen` is scratch of `nodes` bits. Return
 * false, with *out unchanged, for another map. */
bool rc_taskmap_read(struct rc_str map, uint32_t tasks, uint32_t nodes, uint32_t node, uint64_t *seen,
                     struct rc_taskmap_node *out);

/* Return a map, or NULL if the arena is full. */
const char *rc_taskmap_write(const uint32_t *node_of, uint32_t tasks, struct rc_arena *arena);
