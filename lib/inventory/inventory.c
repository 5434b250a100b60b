/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "inventory/inventory.h"

#include <string.h>
#include <sys/resource.h>
#include <sys/statvfs.h>

#include "base/env.h"
#include "launcher/families.h"
#include "roll/roll.h"
#include "system/gpufiles.h"
#include "system/node.h"

/* The kernel, this process's limits, memory and processors.
 *
 * While the plugin's nodes meet, the limits are slurmd's: Slurm sets srun's just before it starts the program, as far
 * as PropagateResourceLimits and the hard limits allow (set_user_limits). srun's are the same on all nodes, so tasks'
 * limits differ only if slurmd's do. */

enum { EXACT_MAX = 99999, ROUGH_GIB = 100 };

static const char *write_size(uint64_t bytes, struct rc_arena *arena)
{
    static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB" };
    uint64_t number = bytes;
    unsigned unit = 0;

    for (; unit < 4 && number >= 1024 && number % 1024 == 0; unit++)
        number /= 1024;
    if (number > EXACT_MAX) {
        unit = bytes >> 30 >= ROUGH_GIB ? 3 : 2;
        number = bytes >> (10 * unit);
    }
    return rc_format(arena, "%llu %s", (unsigned long long)number, units[unit]);
}

static struct rc_str find_kernel(struct rc_arena *arena)
{
    return rc_files_line(rc_files_path("/proc/sys/kernel/osrelease"), arena);
}

static const char *write_bytes(rlim_t limit, struct rc_arena *arena)
{
    return limit == RLIM_INFINITY ? rc_copy(arena, RC_STR("unlimited")) : write_size(limit, arena);
}

/* Report a limit in bytes, and the hard limit if it differs: a task may raise the soft one to it. glibc's `resource` is
 * an enum; clang warns when it converts a signed number. */
static struct rc_str write_limit(unsigned resource, struct rc_arena *arena)
{
    struct rlimit limit;
    char text[64];
    struct rc_arena own = { .base = text, .size = sizeof(text) };

    if (getrlimit(resource, &limit) < 0)
        return RC_ABSENT;
    if (limit.rlim_cur == limit.rlim_max)
        return rc_str(write_bytes(limit.rlim_cur, arena));
    return rc_str(
        rc_format(arena, "%s (hard limit %s)", write_bytes(limit.rlim_cur, &own), write_bytes(limit.rlim_max, &own)));
}

static struct rc_str find_memlock(struct rc_arena *arena)
{
    return write_limit(RLIMIT_MEMLOCK, arena);
}

static struct rc_str find_stack(struct rc_arena *arena)
{
    return write_limit(RLIMIT_STACK, arena);
}

static struct rc_str find_nofile(struct rc_arena *arena)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
        return RC_ABSENT;
    return rc_str(rc_format(arena, limit.rlim_cur < limit.rlim_max ? "%llu (hard limit %llu)" : "%llu",
                            (unsigned long long)limit.rlim_cur, (unsigned long long)limit.rlim_max));
}

static struct rc_str find_shm(struct rc_arena *arena)
{
    struct statvfs there;

    if (statvfs(rc_files_path("/dev/shm"), &there) < 0)
        return RC_STR("none");
    if (there.f_blocks == 0)
        return RC_STR("no limit");
    return rc_str(write_size((uint64_t)there.f_blocks * there.f_frsize, arena));
}

/* The first line is "MemTotal: 16384256 kB". */
static struct rc_str find_memory(struct rc_arena *arena)
{
    struct rc_str rest;
    uint64_t kilobytes;

    if (!rc_str_is(rc_str_split(rc_files_line(rc_files_path("/proc/meminfo"), arena), ':', &rest), "MemTotal") ||
        !rc_parse_u64(rc_str_split(rc_files_trim(rest), ' ', &rest), UINT64_MAX >> 10, &kilobytes))
        return RC_ABSENT;
    return rc_str(write_size(kilobytes << 10, arena));
}

/* Report "16 of 128": the processors that this process may use and the node's; only the latter unless `even`. Briefly
 * changes the process's mask. */
static struct rc_str find_cores(bool even, struct rc_arena *arena)
{
    char line[RC_FILES_PATH];
    struct rc_str text = { line, rc_file_read(rc_files_path(RC_SYSFS_ONLINE), line, sizeof(line)) };
    struct rc_cpuset online;
    struct rc_cpuset own;

    if (!rc_cpuset_read(rc_files_trim(text), &online))
        return RC_ABSENT;
    if (!even || !rc_affinity_widest(&own))
        return rc_str(rc_format(arena, "%u", rc_cpuset_count(&online)));
    return rc_str(rc_format(arena, "%u of %u", rc_cpuset_count(&own), rc_cpuset_count(&online)));
}

enum { VALUE_SIZE = 2048 };

/* The most serious first: items that do not fit are dropped. */
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
    { RC_ITEM_kernel, find_kernel },
    { RC_ITEM_memlock, find_memlock },
    { RC_ITEM_nofile, find_nofile },
    { RC_ITEM_stack, find_stack },
    { RC_ITEM_shm, find_shm },
    { RC_ITEM_memory, find_memory },
};

/* Write a line unless the total would exceed RC_INVENTORY_SIZE. The arena ends with the NUL of the lines. */
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

/* Return the node's component in a heterogeneous job (srun A : B), because components differ by request. Return
 * RC_ABSENT in other jobs, and the node name if the number is unknown: the node then matches no other. */
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

/* Return true for "64(x8)", false for "64(x7),32". */
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
    rc_files_begin(root);
    rc_env_index(&env, variables);
    put_item(RC_ITEM_component, find_component(&env, &value), start, arena);
    for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]); i++) {
        value = (struct rc_arena){ .base = text, .size = sizeof(text) };
        put_item(sources[i].item, sources[i].find(&value), start, arena);
    }
    value = (struct rc_arena){ .base = text, .size = sizeof(text) };
    put_item(RC_ITEM_cores, find_cores(has_even_processors(&env), &value), start, arena);
    return lines;
}
