/* SPDX-License-Identifier: BSD-3-Clause */
#include "inventory/component.h"

#include "launcher/slurmcomponents.h"

struct rc_str rc_inventory_component(const struct rc_env *env, struct rc_arena *arena)
{
    struct rc_str node = rc_env_get(env, "SLURMD_NODENAME");
    struct rc_slurmcomponents components;
    struct rc_slurmposition position;

    if (!rc_env_get(env, "SLURM_HET_SIZE").n || !node.n)
        return RC_ABSENT;
    if (rc_slurmcomponents_read(env, &components) && rc_slurmcomponents_find(&components, node, &position))
        return rc_str(rc_format_number(arena, position.component));
    return rc_str(rc_copy(arena, node));
}
