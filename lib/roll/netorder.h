/* SPDX-License-Identifier: BSD-3-Clause */
/* netorder.h - the nodes of a launch in the order of the network (order=topology).
 *
 * slurmd tells each task where its node is: SLURM_TOPOLOGY_ADDR is "top.s1.n3" and SLURM_TOPOLOGY_ADDR_PATTERN
 * "switch.switch.node" with topology/tree, "b1.n3" and "block.node" with topology/block; of a node that no switch or
 * block has "..n3" or "n3" (slurmstepd.c and topology_p_get_node_addr of 22.05 to 26.05). Nobody sees those of the
 * others, so they are said in the roll, and one sorts them for all.
 */
#pragma once

#include "base/env.h"
#include "roll/roll.h"

/* What a node says of itself, in the arena: "top.s1 n3"; "- n3" where Slurm names no switch or block of it. `host` is
 * its own name, for where Slurm names not even the node. */
struct rc_str rc_netorder_place(const struct rc_env *env, struct rc_str host, struct rc_arena *arena);

/* Sorts the entries: switch by switch, each name's numbers as numbers (s2 before s10); nodes of one switch stay in the
 * launcher's order. *order is in the arena: runs of node ranks with the tasks on each, "2-3x4,0-1x4"
 * (launcher/layout.h). Returns NULL, or in the arena why there is no order; the entries are in the launcher's order
 * then. `complete`: no node is missing. */
const char *rc_netorder_sort(struct rc_roll *rolls, size_t count, bool complete, const char **order,
                             struct rc_arena *arena);

/* The name by which Slurm knows the node of an entry. Absent where its place is not there. */
struct rc_str rc_netorder_host(const struct rc_roll *roll);

/* How many tasks an entry says that its node has. */
uint32_t rc_netorder_tasks(const struct rc_roll *roll);

/* Where a node rank is in an order, and the tasks on the nodes before it. False, with both untouched, where it
 * is not there, or where the text is no order. */
bool rc_netorder_find(struct rc_str order, uint32_t node, uint32_t *place, uint32_t *before);
