/* SPDX-License-Identifier: BSD-3-Clause */
#include "system/devicefiles.h"

#include <dirent.h>
#include <unistd.h>

#include "base/text.h"

enum { PATH_SIZE = 300 };

/* "nvidia0", but not "nvidia-uvm" or "nvidiactl" */
static bool is_numbered(struct rc_str name, const char *prefix)
{
    size_t n = rc_str(prefix).n;
    uint32_t number;

    return rc_str_starts(name, prefix) && rc_parse_u32((struct rc_str){ name.p + n, name.n - n }, UINT16_MAX, &number);
}

static void count(const char *folder, const char *prefix, struct rc_here *here)
{
    DIR *all = opendir(folder);
    char path[PATH_SIZE];

    if (!all)
        return;
    for (const struct dirent *entry; (entry = readdir(all));) {
        struct rc_arena arena = { .base = path, .size = sizeof(path) };

        if (!is_numbered(rc_str(entry->d_name), prefix))
            continue;
        rc_format(&arena, "%s/%s", folder, entry->d_name);
        here->gpu_files++;
        here->gpu_files_open += !arena.full && access(path, R_OK | W_OK) == 0;
    }
    closedir(all);
}

void rc_device_files_find(struct rc_here *here)
{
    here->gpu_files = here->gpu_files_open = 0;
    here->gpu_files_amd = false;
    count("/dev", "nvidia", here);
    if (here->gpu_files > 0)
        return;
    count("/dev/dri", "renderD", here);
    here->gpu_files_amd = here->gpu_files > 0;
}
