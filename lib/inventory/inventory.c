/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "inventory/inventory.h"

#include <string.h>

#include "base/env.h"
#include "launcher/families.h"
#include "roll/roll.h"

enum { VALUE_SIZE = 2048 };

/* Where each item of the node comes from, the gravest first: what does not fit is left out. */
static const struct {
    enum rc_item item;
    rc_inventory_item *find;
} sources[] = {
    { RC_ITEM_gpus, rc_inventory_gpus },
    { RC_ITEM_gpu_links, rc_inventory_gpu_links },
    { RC_ITEM_gpu_driver, rc_inventory_gpu_driver },
    { RC_ITEM_imex, rc_inventory_imex },
    { RC_ITEM_nics, rc_inventory_nics },
    { RC_ITEM_nic_ports, rc_inventory_nic_ports },
    { RC_ITEM_nic_links, rc_inventory_nic_links },
    { RC_ITEM_kernel, rc_inventory_kernel },
    { RC_ITEM_memlock, rc_inventory_memlock },
    { RC_ITEM_nofile, rc_inventory_nofile },
    { RC_ITEM_stack, rc_inventory_stack },
    { RC_ITEM_shm, rc_inventory_shm },
    { RC_ITEM_memory, rc_inventory_memory },
};

/* Writes a line, or nothing where all lines would get too long. The arena ends with the NUL of them. */
static void put_item(enum rc_item item, struct rc_str value, size_t start, struct rc_arena *arena)
{
    size_t before = arena->used;

    rc_join(arena);
    rc_item_put(arena, item, value);
    rc_copy(arena, RC_STR(""));
    if (!arena->full && arena->used - start <= RC_INVENTORY_SIZE)
        return;
    arena->full = false;
    arena->used = before;
    arena->base[before - 1] = '\0';
}

/* Which component of its job this node is of (srun A : B), as Slurm's variables have it: components are asked for as
 * different ones. Absent in a job without them; the node's own name where nothing tells the number, so that the node is
 * compared with none. */
static struct rc_str find_component(const struct rc_env *env, struct rc_arena *arena)
{
    struct rc_str node = rc_env_get(env, "SLURMD_NODENAME");
    struct rc_slurmcomponents components;
    struct rc_slurmposition position;

    if (!rc_env_get(env, "SLURM_HET_SIZE").n || !node.n)
        return RC_ABSENT;
    if (rc_slurmcomponents_read(env, &components) && rc_slurmcomponents_find(&components, node, &position))
        return rc_str(rc_format(arena, "%u", position.component));
    return rc_str(rc_copy(arena, node));
}

/* Whether the job has as many processors on each of its nodes: "64(x8)", and not "64(x7),32". */
static bool has_even_processors(const struct rc_env *env)
{
    struct rc_str counts = rc_env_get(env, "SLURM_JOB_CPUS_PER_NODE");

    return counts.n > 0 && !memchr(counts.p, ',', counts.n);
}

const char *rc_inventory_write(const char *root, const char *const *variables, struct rc_arena *arena)
{
    static struct rc_env env;
    char text[VALUE_SIZE];
    struct rc_arena value = { .base = text, .size = sizeof(text) };
    size_t start = arena->used;
    const char *lines = rc_copy(arena, RC_STR(""));

    if (arena->full)
        return lines;
    rc_env_index(&env, variables);
    put_item(RC_ITEM_component, find_component(&env, &value), start, arena);
    for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]); i++) {
        value = (struct rc_arena){ .base = text, .size = sizeof(text) };
        put_item(sources[i].item, sources[i].find(root, &value), start, arena);
    }
    value = (struct rc_arena){ .base = text, .size = sizeof(text) };
    put_item(RC_ITEM_cores, rc_inventory_cores(root, has_even_processors(&env), &value), start, arena);
    return lines;
}
