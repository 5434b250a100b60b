/* SPDX-License-Identifier: BSD-3-Clause */
/* layout.h - how many tasks each node has: even layouts, lists of tasks, maps of tasks. */
#pragma once

#include "launcher/launcher.h"

/* Nodes by number, with the tasks on each: "2-3x8,0" is 8 tasks on each of the nodes 2 and 3, and 1 on node 0.
 *
 * Both say where ranks are, in the order of the ranks: a map of tasks (below), in which a node may come
 * again, and an order of the network (roll/netorder.h). A hundred nodes that are filled alike are a dozen bytes. */

/* The same number of tasks on each of some nodes that follow each other. */
struct rc_run {
    uint32_t first; /* RC_MAX_TASKS at most, like the node after it and the number of tasks */
    uint32_t nodes; /* 1 or more */
    uint32_t tasks; /* on each, 1 or more */
};

/* Takes the first run off the text, which is absent after the last one. False, with *run untouched, where none is
 * there. */
bool rc_run_next(struct rc_str *rest, struct rc_run *run);

/* A text that is being written; nothing else may go into the arena meanwhile. */
struct rc_runs {
    struct rc_arena *arena;
    const char *text;
    struct rc_run open; /* the last run, which may yet grow; of no nodes: there is none */
};

/* Begins a text in the arena. */
struct rc_runs rc_runs_begin(struct rc_arena *arena);

/* Adds the tasks of the next node. */
void rc_runs_add(struct rc_runs *runs, uint32_t node, uint32_t tasks);

/* The text, as short as it can be; NULL where the arena has no room. */
const char *rc_runs_end(struct rc_runs *runs);

/* A node's place in a job, where the launcher only numbers ranks.
 *
 * mpirun and mpiexec tell a task its rank, its local rank and the two sizes, but neither how many nodes there are nor
 * which one is its own. Where all nodes have as many tasks, both follow from how the ranks were dealt out: in turn,
 * `block` ranks a node, which is all of its ranks (by slot) or one (by node) or any number between (mpiexec -ppn). An
 * uneven layout may look even from one of its tasks; nearly always another one sees that it is not, refuses, and takes
 * the job with it. Not always: 1, 3, 1 and 1 tasks with the ranks 0, 1 4 5, 2 and 3 look even from each of them, as 6
 * nodes or as 2. Rank, sizes and the place that a daemon or proxy has told are right then; the number of nodes is not,
 * nor is the layout known to be uneven. So a number of nodes that was derived is for rollcall's own use, and no task is
 * told it. */

/* Ranks below their sizes, and the local size not above the size, else RC103; one node where the local size is the
 * size; where the number of nodes is not known, it is the quotient if there is no rest (nnodes_derived). False without
 * a message: an uneven layout, or impossible counts. */
bool rc_layout_nnodes(struct rc_reader *reader, struct rc_facts *facts);

/* The node's number if each node has local size ranks, dealt in turns of
 * `block`; RC_UNKNOWN if this task shows that it is not so. */
uint32_t rc_layout_node_rank(const struct rc_facts *facts, uint32_t block);

/* Whether this task may be on node `place` of such a job, whatever the block. */
bool rc_layout_agrees(const struct rc_facts *facts, uint32_t place);

/* Takes the hosts of the Slurm job, with rank 0 on the first, where they are as many as the nodes. */
bool rc_layout_take_job_hosts(const struct rc_env *env, struct rc_facts *facts);

/* Rank, sizes, node rank and nodes are known: the least and the most tasks of
 * a node as far as that tells, and the rank node by node. */
void rc_layout_spread(struct rc_facts *facts);

/* RC110, unless a message says already what is wrong. Returns false. `cure` is
 * what to type for the same number of tasks on each node (rc_launcher.each). */
bool rc_layout_refuse(struct rc_reader *reader, const struct rc_facts *facts, const char *cure);

/* Slurm's tasks per node: "2(x3),1" is 2,2,2,1.
 *
 * Written by Slurm's _uint16_array_to_str (srun.c) and uint16_array_to_str (env.c). Never expanded: "1(x65533)" costs
 * what "1" costs. Linear in the length of the text, whatever numbers it holds. */

struct rc_tasklist {
    struct rc_str text; /* checked: every later walk may trust it */
    uint32_t nodes;
    uint32_t tasks;
    uint32_t smallest; /* tasks of the node that has fewest */
    uint32_t largest;
};

/* Checks a text and sums it up. False, with *list untouched, unless it is COUNT[(xREPEAT)],... with counts and repeats
 * from 1 and at most RC_MAX_TASKS tasks in all. */
bool rc_tasklist_parse(struct rc_str text, struct rc_tasklist *list);

/* Tasks on the node with that index, 0 if there is no such node, and on all nodes before that one. */
uint32_t rc_tasklist_at(const struct rc_tasklist *list, uint32_t node, uint32_t *before);

/* Which node each task is on, where the launcher says it outright.
 *
 * Needed for `srun -m arbitrary`, the one distribution under which RANK 0 may be anywhere: Slurm sorts the node list
 * and says nothing in the environment (measured: RANK 0 on NODEID 1). A map is runs in order of rank; a run is the same
 * number of tasks on each of some nodes that follow each other. Two writings:
 *   "(vector,(2,2,8),(0,1,1))"  first node, nodes, tasks on each: Slurm's
 *                               pack_process_mapping, SLURM_PMIX_MAPPING_SERV, PMI's mapping
 *   "2-3x8,0"                   the same, shorter: rollcall's own (above), RC_TASK_HOSTS */

/* What a map says about one node. */
struct rc_taskmap_node {
    uint32_t master_node;  /* node of rank 0 */
    uint32_t node_rank;    /* this node's place when nodes are ordered by their lowest rank */
    uint32_t tasks;        /* on this node */
    uint32_t tasks_before; /* on all nodes of a lower node_rank */
};

/* Takes the first run off a map in either writing. False, at the end with *rest absent, else where it is none. */
bool rc_taskmap_next(struct rc_str *rest, struct rc_run *run);

/* Walks the map; node indices are positions in the launcher's node list.
 *   tasks, nodes  what the launcher says elsewhere: the map must fit
 *   node          the node in question
 *   seen          scratch of `nodes` bits, in 64-bit words
 * False, with *out untouched, if the map cannot be read, does not fit, or leaves a node without a task. */
bool rc_taskmap_read(struct rc_str map, uint32_t tasks, uint32_t nodes, uint32_t node, uint64_t *seen,
                     struct rc_taskmap_node *out);

/* The second writing of where each task is. NULL where the arena has no room. */
const char *rc_taskmap_write(const uint32_t *node_of, uint32_t tasks, struct rc_arena *arena);
