/* SPDX-License-Identifier: BSD-3-Clause */
/* mpidaemon.h - the node of an Open MPI rank, as the numbers of mpirun's daemons tell.
 *
 * mpirun has a daemon on each node, its own among them, which is number 0. A
 * node's number is that of its daemon, d, if mpirun's own node carries ranks,
 * and d - 1 if it does not. Nothing says which of the two it is:
 * - Open MPI 4 (ORTE) exports its mapping where it was given; even is the node
 *   of an even layout by that mapping. 0 where rank and local rank are equal; d if
 *   it is 0 or there are as many daemons as nodes; d - 1 if d is not below the
 *   nodes; the place of daemon d's host (orte_node_regex) in SLURM_JOB_NODELIST, if
 *   it is d or d - 1; by node, the rank of local rank 0; even, if it is d or d - 1
 *   or d is not known; by slot on two nodes 1. By node from a file of parameters is
 *   not exported: a rank above its local rank on the first node shows it.
 * - Open MPI 5 (PRRTE) does not tell its mapping: the layout has to be even in
 *   some way that agrees (rc_layout_agrees), and there are no more nodes than
 *   daemons (D) or nodes of the Slurm job (A, where prted has ess slurm). D - A,
 *   if it is 0 or 1, says which it is. Else d if D is not one more than the
 *   nodes; if it is, or not known, by slot with d - 1 or d, else by node, and
 *   nothing where by slot with d and by node with d - 1 both fit. Where rank and
 *   local rank are equal, d has to be 0, or 1 if D is one more than the nodes or
 *   not known.
 */
#ifndef ROLLCALL_LAUNCHER_MPIDAEMON_H
#define ROLLCALL_LAUNCHER_MPIDAEMON_H

#include "launcher/facts.h"

struct rc_mpidaemon {
    bool orte;       /* of Open MPI 4 */
    uint32_t number; /* RC_UNKNOWN where it is not told */
};

/* The daemon that started this task. */
struct rc_mpidaemon rc_mpidaemon_of(const struct rc_env *env);

/* The node's number, from rank, sizes and number of nodes; RC_UNKNOWN where it
 * does not follow. May ask for the task's ancestors (rc_learned). */
uint32_t rc_mpidaemon_node_rank(struct rc_reader *reader, const struct rc_facts *facts,
                                const struct rc_mpidaemon *daemon);

/* Whether this task of Open MPI 5 may go by its PMIx server's answer. Tasks whose
 * variables look even do not ask: they must come to the same answer. */
bool rc_mpidaemon_all_right(struct rc_reader *reader, const struct rc_facts *facts, const struct rc_mpidaemon *daemon);

#endif
