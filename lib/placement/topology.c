/* SPDX-License-Identifier: BSD-3-Clause */
#include "placement/placement.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* They open a driver or an X display. x86 moves this process over all cores to query what sysfs also has. */
static const char *const components[] = { "cuda", "nvml", "opencl", "levelzero", "rsmi", "gl", "x86" };

static int say_failure(char *error, const char *what, const char *why)
{
    snprintf(error, RC_TOPOLOGY_ERROR, "%.100s: %.50s", what, why);
    return -1;
}

static int check_file(const char *file, char *error)
{
    struct stat status;
    const char *wrong = NULL;

    if (stat(file, &status) < 0 || access(file, R_OK) < 0)
        wrong = errno == ENOENT ? "there is no such file" : strerror(errno);
    else if (!S_ISREG(status.st_mode))
        wrong = "it is not a file";
    else if (status.st_size == 0)
        wrong = "it is empty";
    else if (status.st_size > RC_TOPOLOGY_FILE_MAX)
        wrong = "it is larger than 64 MiB";
    return wrong ? say_failure(error, file, wrong) : 0;
}

/* Skip distances, memory attributes and kinds of cores: unused, and slow. */
#if HWLOC_API_VERSION >= 0x00020800
#define FLAGS (HWLOC_TOPOLOGY_FLAG_NO_DISTANCES | HWLOC_TOPOLOGY_FLAG_NO_MEMATTRS | HWLOC_TOPOLOGY_FLAG_NO_CPUKINDS)
#else
#define FLAGS 0UL
#endif

static int set_filters(hwloc_topology_t topology, enum rc_topology_depth depth)
{
    enum hwloc_type_filter_e pci = depth >= RC_TOPOLOGY_GPUS ? HWLOC_TYPE_FILTER_KEEP_IMPORTANT
                                                             : HWLOC_TYPE_FILTER_KEEP_NONE;

    if (hwloc_topology_set_io_types_filter(topology, pci) < 0 ||
        (depth < RC_TOPOLOGY_CARDS &&
         hwloc_topology_set_type_filter(topology, HWLOC_OBJ_OS_DEVICE, HWLOC_TYPE_FILTER_KEEP_NONE) < 0))
        return -1;
    if (depth < RC_TOPOLOGY_ALL)
        return hwloc_topology_set_cache_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_NONE);
    return hwloc_topology_set_type_filter(topology, HWLOC_OBJ_MISC, HWLOC_TYPE_FILTER_KEEP_ALL);
}

/* Filters affect only what is loaded afterwards. */
static int load_file(hwloc_topology_t topology, const char *file, enum rc_topology_depth depth)
{
    for (size_t i = 0; i < sizeof(components) / sizeof(*components); i++)
        /* ignore the error for a component that this hwloc does not have */
        (void)hwloc_topology_set_components(topology, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, components[i]);
    if (set_filters(topology, depth) < 0 || hwloc_topology_set_flags(topology, FLAGS) < 0)
        return -1;
    if (file && hwloc_topology_set_xml(topology, file) < 0)
        return -1;
    return hwloc_topology_load(topology);
}

static void limit_size(int resource, rlim_t most)
{
    struct rlimit now;

    if (getrlimit(resource, &now) == 0 && (now.rlim_cur == RLIM_INFINITY || now.rlim_cur > most)) {
        now.rlim_cur = most;
        setrlimit(resource, &now);
    }
}

/* Limit this process to its current size (statm's first number: pages) plus `most` bytes. */
static void limit_growth(rlim_t most)
{
    FILE *file = fopen("/proc/self/statm", "re");
    unsigned long pages;

    if (file && fscanf(file, "%lu", &pages) == 1)
        limit_size(RLIMIT_AS, (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE) + most);
    if (file)
        fclose(file);
}

/* hwloc 2.9 uses 4294967295 for a missing index: 512 MiB in each set with it. */
static bool has_small_indices(hwloc_topology_t topology)
{
    static const hwloc_obj_type_t types[] = { HWLOC_OBJ_PU, HWLOC_OBJ_NUMANODE };
    enum { INDEX_MAX = 65535 };

    for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++)
        for (hwloc_obj_t at = NULL; (at = hwloc_get_next_obj_by_type(topology, types[i], at));)
            if (at->os_index > INDEX_MAX)
                return false;
    return true;
}

/* Try the file in a child: hwloc 2.9 dereferences a null pointer if a file has a second root or defines an entity. */
static bool is_sound(const char *file)
{
    enum { SECONDS_MAX = 60, BYTES_MAX = 512 << 20 };
    pid_t child = fork();
    int status = -1;

    if (child == 0) {
        int null = open("/dev/null", O_RDWR | O_CLOEXEC);
        hwloc_topology_t made;

        dup2(null, STDOUT_FILENO);
        dup2(null, STDERR_FILENO);
        limit_size(RLIMIT_CORE, 0);
        limit_size(RLIMIT_CPU, SECONDS_MAX);
        limit_growth(BYTES_MAX);
        if (hwloc_topology_init(&made) < 0 || load_file(made, file, RC_TOPOLOGY_ALL) < 0 || !has_small_indices(made))
            _exit(EXIT_FAILURE);
        _exit(EXIT_SUCCESS);
    }
    while (child > 0 && waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return false;
    return child > 0 && WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS;
}

/* Keep hwloc_topology_init() from loading plugins. RC_TOPOLOGY_ALL needs two: libxml2 for files, libpciaccess for
 * names. */
static void choose_plugins(enum rc_topology_depth depth)
{
    if (depth == RC_TOPOLOGY_ALL)
        setenv("HWLOC_PLUGINS_BLACKLIST",
               "hwloc_cuda.so,hwloc_nvml.so,hwloc_opencl.so,hwloc_levelzero.so,hwloc_rsmi.so,hwloc_gl.so", 0);
    else
        setenv("HWLOC_PLUGINS_PATH", "/dev/null", 0);
}

int rc_topology_load(const char *file, enum rc_topology_depth depth, hwloc_topology_t *topology,
                     char error[RC_TOPOLOGY_ERROR])
{
    hwloc_topology_t made;

    if (file && check_file(file, error) < 0)
        return -1;
    if (file)
        depth = RC_TOPOLOGY_ALL;
    choose_plugins(depth);
    setenv("HWLOC_HIDE_ERRORS", "2", 0);
    if (hwloc_topology_init(&made) < 0)
        return say_failure(error, "hwloc", "out of memory");
    if ((file && !is_sound(file)) || load_file(made, file, depth) < 0) {
        hwloc_topology_destroy(made);
        return file ? say_failure(error, file, "hwloc cannot read it as a topology")
                    : say_failure(error, "this machine", "hwloc cannot read its topology");
    }
    *topology = made;
    return 0;
}
