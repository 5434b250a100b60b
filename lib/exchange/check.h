/* check.h - the roll call: do all nodes' entries make one launch?
 *
 * Every contradiction is one finding with an id of RC6xx: what was found, on
 * which tasks and nodes, and what to change. Tasks and nodes are named
 * compactly ("tasks 8-15 on h[2-3]"), the same finding of many nodes once.
 *
 *   RC601 error    nodes or tasks are missing: they did not answer by the deadline
 *   RC602 error    a rank is there twice
 *   RC603 error    nodes count the world, the nodes or themselves differently
 *   RC604 error    nodes have another MASTER_ADDR
 *   RC605 error    nodes are in another mode
 *   RC606 error    a GPU is used by two tasks
 *   RC607 warning  two nodes have one identity: equal host names, or one boot id under two names
 *   RC608 warning  another version of rollcall
 *   RC609 warning  a variable that must be the same differs (its name; values of NCCL_*, GLOO_*, MASTER_* only)
 *   RC610 error    entries of another launch
 * What would hang is an error, the rest a warning.
 */
#ifndef ROLLCALL_EXCHANGE_CHECK_H
#define ROLLCALL_EXCHANGE_CHECK_H

#include "exchange/roll.h"

/* The entries of those that answered, in any order; `nodes` and `world` as the
 * caller (the node of RANK 0, or srun) knows them, 0 where it does not. Adds its
 * findings to *findings, with texts in the arena. Allocates what it needs with
 * malloc and frees it; false, with nothing added, without memory. Takes
 * O(n log n) for n entries. Thread safe. */
bool rc_roll_check(const struct rc_roll *rolls, size_t count, uint32_t nodes, uint32_t world, uint32_t deadline,
                   struct rc_messages *findings, struct rc_arena *arena);

#endif
