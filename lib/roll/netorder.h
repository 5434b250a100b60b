/* SPDX-License-Identifier: BSD-3-Clause */
/* netorder.h - sorts the nodes of a launch by network topology (order=topology).
 *
 * slurmd sets SLURM_TOPOLOGY_ADDR and SLURM_TOPOLOGY_ADDR_PATTERN: "top.s1.n3" and "switch.switch.node" with
 * topology/tree, "b1.n3" and "block.node" with topology/block, "..n3" or "n3" for a node outside them (slurmstepd.c and
 * topology_p_get_node_addr of 22.05 to 26.05). Nodes exchange these values in their entries. */
#pragma once

#include "base/env.h"
#include "roll/roll.h"

/* Return this node's place, in the arena: "top.s1 n3", or "- n3" if Slurm names no switch or block; `host` if it does
 * not name the node. */
struct rc_str rc_netorder_place(const struct rc_env *env, struct rc_str host, struct rc_arena *arena);

/* Sort the entries by switch, numbers in names as numbers (s2 before s10), then in the launcher's order. Return NULL
 * and set *order, in the arena, to runs of node ranks with the tasks on each, "2-3x4,0-1x4" (launcher/layout.h). On
 * failure return the reason and keep the launcher's order. complete: no node is missing. */
const char *rc_netorder_sort(struct rc_roll *rolls, size_t count, bool complete, const char **order,
                             struct rc_arena *arena);

/* Return Slurm's name of the entry's node, or RC_ABSENT if it has no place. */
struct rc_str rc_netorder_host(const struct rc_roll *roll);

/* Return the number of tasks in the entry. */
uint32_t rc_netorder_tasks(const struct rc_roll *roll);

/* Find a node rank in an order: set its place and the number of tasks before it. Return false, with both unchanged, if
 * `order` is invalid or lacks the node. */
bool rc_netorder_find(struct rc_str order, uint32_t node, uint32_t *place, uint32_t *before);
