/* SPDX-License-Identifier: BSD-3-Clause */
/* ordered.h - where a task's node stands in an order that the nodes were told: the variable ROLLCALL_ORDER.
 *
 *   SCOPE/RANK/NODE/PLACE/BEFORE/HOST
 *   slurm:42.0/4/2/0/0/n3      task 4, on SLURM_NODEID 2, of step 42.0: its node n3 is now the first
 *
 * order=topology replaces SLURM_PROCID and SLURM_NODEID, because programs read them. Here they are kept for a later
 * rollcall in the same task, which goes by Slurm's numbers and has not met the other nodes.
 *
 * All functions are pure and as thread safe as their arguments.
 */
#ifndef ROLLCALL_LAUNCHER_ORDERED_H
#define ROLLCALL_LAUNCHER_ORDERED_H

#include "base/env.h"
#include "base/numbers.h"

struct rc_ordered {
    uint32_t rank; /* the launcher's own numbers of task and node */
    uint32_t node;
    uint32_t place;     /* the node's number in the order */
    uint32_t before;    /* tasks on the nodes before it */
    struct rc_str host; /* the first node of all, on which RANK 0 is; absent: no order was told */
};

/* What the environment keeps of this launch; of another one nothing. False, with *ordered untouched, where it is not
 * there. The host is a slice of the environment. scope may be NULL. */
bool rc_ordered_read(const struct rc_env *env, const char *scope, struct rc_ordered *ordered);

/* The variable's value, in the arena. */
const char *rc_ordered_write(const struct rc_ordered *ordered, const char *scope, struct rc_arena *arena);

#endif
