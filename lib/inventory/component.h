/* SPDX-License-Identifier: BSD-3-Clause */
/* component.h - which component of its job this node is of (srun A : B), as Slurm's variables have it. Components are
 * asked for as different ones. */
#ifndef ROLLCALL_INVENTORY_COMPONENT_H
#define ROLLCALL_INVENTORY_COMPONENT_H

#include "base/env.h"

/* Writes the component's number; absent in a job without components. Where nothing tells the number, it is the node's
 * own name, so that the node is compared with none. */
struct rc_str rc_inventory_component(const struct rc_env *env, struct rc_arena *arena);

#endif
