/* SPDX-License-Identifier: BSD-3-Clause */
/* slurmorder.h - on which node of a step RANK 0 is, and in which order the nodes have their ranks. */
#ifndef ROLLCALL_LAUNCHER_SLURMORDER_H
#define ROLLCALL_LAUNCHER_SLURMORDER_H

#include "launcher/facts.h"

/* What a task of a step sees of its own node. */
struct rc_slurmnode {
    uint32_t index; /* in the step's list of hosts, which is also the order of its tasks per node */
    uint32_t first; /* its lowest rank; RC_UNKNOWN where SLURM_GTIDS is not there */
    bool in_a_row;  /* its ranks are first, first + 1 and so on */
    bool holds_rank_0;
    bool het; /* the step has several components (srun A : B), or the job it is in has */
};

/* Finds the node of RANK 0 and this node's NODE_RANK: facts->master_*, the field RC_NODE_RANK
 * (SLURM_NODEID before) and node_order_rank. All else of the step is in the facts already, the
 * list of tasks per node in facts->layout. False, with RC106, RC124 or RC125, where nothing says it. */
bool rc_slurmorder_read(struct rc_reader *reader, struct rc_facts *facts, const struct rc_slurmnode *node);

#endif
