/* SPDX-License-Identifier: BSD-3-Clause */
/* layout.h - a node's place in a job, where the launcher only numbers ranks.
 *
 * mpirun and mpiexec tell a task its rank, its local rank and the two sizes,
 * but neither how many nodes there are nor which one is its own. Where all nodes
 * have as many tasks, both follow from how the ranks were dealt out: in turn, `block`
 * ranks a node, which is all of its ranks (by slot) or one (by node) or any
 * number between (mpiexec -ppn). An uneven layout may look even from one of
 * its tasks; nearly always another one sees that it is not, refuses, and takes
 * the job with it. Not always: 1, 3, 1 and 1 tasks with the ranks 0, 1 4 5, 2
 * and 3 look even from each of them, as 6 nodes or as 2. Rank, sizes and the
 * place that a daemon or proxy has told are right then; the number of nodes is
 * not, nor is the layout known to be uneven. So a number of nodes that was
 * derived is for rollcall's own use, and no task is told it.
 */
#ifndef ROLLCALL_LAUNCHER_LAYOUT_H
#define ROLLCALL_LAUNCHER_LAYOUT_H

#include "launcher/facts.h"

/* Local size 1..size, else RC103; one node where the local size is the size;
 * where the number of nodes is not known, it is the quotient if there is no
 * rest (nnodes_derived). False without a message: an uneven layout, or impossible counts. */
bool rc_layout_nnodes(struct rc_reader *reader, struct rc_facts *facts);

/* The node's number if each node has local size ranks, dealt in turns of
 * `block`; RC_UNKNOWN if this task shows that it is not so. */
uint32_t rc_layout_node_rank(const struct rc_facts *facts, uint32_t block);

/* Whether this task may be on node `place` of such a job, whatever the block. */
bool rc_layout_agrees(const struct rc_facts *facts, uint32_t place);

/* Rank, sizes, node rank and nodes are known: the least and the most tasks of
 * a node as far as that tells, and the rank node by node. */
void rc_layout_spread(struct rc_facts *facts);

/* RC110, unless a message says already what is wrong. Returns false. `cure` is
 * what to type for the same number of tasks on each node (rc_launcher.each). */
bool rc_layout_refuse(struct rc_reader *reader, const struct rc_facts *facts, const char *cure);

#endif
