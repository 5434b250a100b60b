/* SPDX-License-Identifier: BSD-3-Clause */
#include "system/devicefiles.h"

#include <dirent.h>
#include <unistd.h>

#include "base/text.h"
#include "system/nvidia.h"

enum { PATH_SIZE = 300, BITS = 64, FIRST_RENDER_MINOR = 128 };

/* The number of "nvidia0", but not of "nvidia-uvm" or "nvidiactl". */
static bool read_minor(struct rc_str name, const char *prefix, uint32_t *minor)
{
    size_t n = rc_str(prefix).n;

    return rc_str_starts(name, prefix) && rc_parse_u32((struct rc_str){ name.p + n, name.n - n }, UINT16_MAX, minor);
}

/* Counts a folder's device files, and sets the bit of each that may be opened: its minor number, counted from
 * `first` on. */
static void count_files(const char *folder, const char *prefix, uint32_t first, struct rc_here *here)
{
    DIR *all = opendir(folder);
    char path[PATH_SIZE];

    if (!all)
        return;
    for (const struct dirent *entry; (entry = readdir(all));) {
        struct rc_arena arena = { .base = path, .size = sizeof(path) };
        uint32_t minor;

        if (!read_minor(rc_str(entry->d_name), prefix, &minor))
            continue;
        rc_format(&arena, "%s/%s", folder, entry->d_name);
        here->gpu_files++;
        if (arena.full || access(path, R_OK | W_OK) != 0)
            continue;
        here->gpu_files_open++;
        if (minor >= first && minor - first < BITS)
            here->gpus_open |= (uint64_t)1 << (minor - first);
    }
    closedir(all);
}

/* Converts minor numbers to places in the order of PCI addresses, if the driver's files
 * tell which minor number belongs to which GPU. */
static uint64_t order_by_address(uint64_t minors)
{
    struct rc_nvidia_gpu gpu[RC_NVIDIA_GPUS_MAX];
    size_t count = rc_nvidia_read_gpus(RC_NVIDIA_FOLDER, gpu);
    uint64_t places = 0;

    for (size_t i = 0; i < count; i++)
        if (gpu[i].minor >= 0 && gpu[i].minor < BITS && (minors >> gpu[i].minor & 1))
            places |= (uint64_t)1 << i;
    return count > 0 ? places : minors;
}

void rc_device_files_find(struct rc_here *here)
{
    here->gpu_files = here->gpu_files_open = 0;
    here->gpus_open = 0;
    here->gpu_files_amd = false;
    count_files("/dev", "nvidia", 0, here);
    if (here->gpu_files == 0) {
        count_files("/dev/dri", "renderD", FIRST_RENDER_MINOR, here);
        here->gpu_files_amd = here->gpu_files > 0;
    } else if (here->gpu_files_open < here->gpu_files) {
        here->gpus_open = order_by_address(here->gpus_open);
    }
}
