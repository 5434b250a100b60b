/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "inventory/component.h"

#include "launcher/hostlist.h"

enum { COMPONENTS_MAX = 128 }; /* MAX_HET_JOB_COMPS of slurmctld */

/* salloc and sbatch write HET_GROUP, srun writes PACK_GROUP where it makes the job itself. */
static bool is_of(const struct rc_env *env, const char *kind, uint32_t component, struct rc_str node)
{
    char text[sizeof("SLURM_JOB_NODELIST_PACK_GROUP_") + 10];
    struct rc_arena arena = { .base = text, .size = sizeof(text) };
    struct rc_str hosts = rc_env_find(env,
                                      rc_str(rc_format(&arena, "SLURM_JOB_NODELIST_%s_GROUP_%u", kind, component)));

    return hosts.n > 0 && rc_hostlist_find(hosts, node) != RC_UNKNOWN;
}

struct rc_str rc_inventory_component(const struct rc_env *env, struct rc_arena *arena)
{
    struct rc_str node = rc_env_get(env, "SLURMD_NODENAME");
    uint32_t components;

    if (!rc_parse_u32(rc_env_get(env, "SLURM_HET_SIZE"), COMPONENTS_MAX, &components) || !node.n)
        return RC_ABSENT;
    for (uint32_t i = 0; i < components; i++)
        if (is_of(env, "HET", i, node) || is_of(env, "PACK", i, node))
            return rc_str(rc_format_number(arena, i));
    return rc_str(rc_copy(arena, node));
}
