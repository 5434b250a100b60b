/* SPDX-License-Identifier: BSD-3-Clause */
/* limits.c - the kernel, this process's limits, and how much a node has of memory and processors.
 *
 * While the plugin's nodes meet, the limits are still those of the node's slurmd: Slurm puts srun's in their place
 * right before it starts the program, as far as PropagateResourceLimits and the hard limits let it (set_user_limits).
 * What srun says is the same for all nodes. So tasks' limits differ only where these do.
 */
#include "config.h"

#include "inventory/inventory.h"

#include <sys/resource.h>
#include <sys/statvfs.h>

#include "base/text.h"
#include "system/gpufiles.h"
#include "system/node.h"

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

struct rc_str rc_inventory_kernel(const char *root, struct rc_arena *arena)
{
    char line[RC_FILES_LINE];
    char path[RC_FILES_PATH];
    struct rc_str release = rc_files_line(rc_files_path(path, "%s/proc/sys/kernel/osrelease", root), line);

    return release.p ? rc_str(rc_copy(arena, release)) : RC_ABSENT;
}

static const char *write_bytes(rlim_t limit, struct rc_arena *arena)
{
    return limit == RLIM_INFINITY ? rc_copy(arena, RC_STR("unlimited")) : write_size(limit, arena);
}

/* Of bytes. The hard limit is there where it is another one: a task may raise its own to that. With glibc `resource` is
 * an enum, to which clang converts no signed number without a warning. */
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

struct rc_str rc_inventory_memlock(const char *root, struct rc_arena *arena)
{
    (void)root;
    return write_limit(RLIMIT_MEMLOCK, arena);
}

struct rc_str rc_inventory_stack(const char *root, struct rc_arena *arena)
{
    (void)root;
    return write_limit(RLIMIT_STACK, arena);
}

struct rc_str rc_inventory_nofile(const char *root, struct rc_arena *arena)
{
    struct rlimit limit;

    (void)root;
    if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
        return RC_ABSENT;
    return rc_str(rc_format(arena, limit.rlim_cur < limit.rlim_max ? "%llu (hard limit %llu)" : "%llu",
                            (unsigned long long)limit.rlim_cur, (unsigned long long)limit.rlim_max));
}

struct rc_str rc_inventory_shm(const char *root, struct rc_arena *arena)
{
    char path[RC_FILES_PATH];
    struct statvfs there;

    if (statvfs(rc_files_path(path, "%s/dev/shm", root), &there) < 0)
        return RC_STR("none");
    if (there.f_blocks == 0)
        return RC_STR("no limit");
    return rc_str(write_size((uint64_t)there.f_blocks * there.f_frsize, arena));
}

/* "MemTotal:       16384256 kB", which is the first line */
struct rc_str rc_inventory_memory(const char *root, struct rc_arena *arena)
{
    char path[RC_FILES_PATH];
    char line[RC_FILES_LINE];
    struct rc_str rest;
    uint64_t kilobytes;

    if (!rc_str_is(rc_str_split(rc_files_line(rc_files_path(path, "%s/proc/meminfo", root), line), ':', &rest),
                   "MemTotal") ||
        !rc_parse_u64(rc_str_split(rc_files_trim(rest), ' ', &rest), UINT64_MAX >> 10, &kilobytes))
        return RC_ABSENT;
    return rc_str(write_size(kilobytes << 10, arena));
}

struct rc_str rc_inventory_cores(const char *root, bool even, struct rc_arena *arena)
{
    char path[RC_FILES_PATH];
    char line[RC_FILES_PATH];
    struct rc_str text = { line, rc_file_read(rc_files_path(path, "%s" RC_SYSFS_ONLINE, root), line, sizeof(line)) };
    struct rc_cpuset online;
    struct rc_cpuset own;

    if (!rc_cpuset_read(rc_files_trim(text), &online))
        return RC_ABSENT;
    if (!even || !rc_affinity_widest(&own))
        return rc_str(rc_format(arena, "%u", rc_cpuset_count(&online)));
    return rc_str(rc_format(arena, "%u of %u", rc_cpuset_count(&own), rc_cpuset_count(&online)));
}
