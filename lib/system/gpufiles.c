/* SPDX-License-Identifier: BSD-3-Clause */
#include "system/gpufiles.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "system/node.h"

enum { PATH_SIZE = 512, FILE_SIZE = 2048 };

/* Addresses have leading zeros, so a longer one has a larger domain. */
int rc_pci_address_order(const void *a, const void *b)
{
    size_t n = strlen(a);
    size_t m = strlen(b);

    return n == m ? strcmp(a, b) : (n > m) - (n < m);
}

static bool is_uuid(struct rc_str text)
{
    for (size_t i = 0; i < text.n; i++)
        if (text.p[i] == '?' || text.p[i] <= ' ')
            return false;
    return text.n == RC_NVIDIA_UUID && rc_str_starts(text, "GPU-");
}

static void keep_line(struct rc_str name, struct rc_str value, struct rc_nvidia_gpu *gpu)
{
    uint32_t minor;

    while (value.n > 0 && (*value.p == ' ' || *value.p == '\t'))
        value = (struct rc_str){ value.p + 1, value.n - 1 };
    if (rc_str_is(name, "GPU UUID") && is_uuid(value)) {
        memcpy(gpu->uuid, value.p, RC_NVIDIA_UUID);
        gpu->uuid[RC_NVIDIA_UUID] = '\0';
    } else if (rc_str_is(name, "Device Minor") && rc_parse_u32(value, UINT16_MAX, &minor)) {
        gpu->minor = (int)minor;
    } else if (rc_str_is(name, "Model")) {
        size_t n = value.n < RC_NVIDIA_MODEL ? value.n : RC_NVIDIA_MODEL - 1;

        memcpy(gpu->model, value.p, n);
        gpu->model[n] = '\0';
    }
}

void rc_nvidia_read_gpu(const char *folder, struct rc_nvidia_gpu *gpu)
{
    char path[PATH_SIZE];
    char file[FILE_SIZE];
    struct rc_arena arena = { .base = path, .size = sizeof(path) };
    struct rc_str rest;

    gpu->uuid[0] = '\0';
    gpu->model[0] = '\0';
    gpu->minor = -1;
    rc_format(&arena, "%s/%s/information", folder, gpu->address);
    rest = (struct rc_str){ file, arena.full ? 0 : rc_file_read(path, file, sizeof(file)) };
    while (rest.p) {
        struct rc_str value;
        struct rc_str name = rc_str_split(rc_str_split(rest, '\n', &rest), ':', &value);

        keep_line(name, value, gpu);
    }
}

size_t rc_nvidia_read_gpus(const char *folder, struct rc_nvidia_gpu gpu[RC_NVIDIA_GPUS_MAX])
{
    DIR *all = opendir(folder);
    size_t count = 0;

    if (!all)
        return 0;
    for (const struct dirent *entry; (entry = readdir(all));) {
        size_t n = strlen(entry->d_name);

        if (entry->d_name[0] == '.' || n >= sizeof(gpu->address))
            continue;
        /* indices of a partial list could mean other GPUs */
        if (count == RC_NVIDIA_GPUS_MAX) {
            count = 0;
            break;
        }
        memcpy(gpu[count++].address, entry->d_name, n + 1);
    }
    closedir(all);
    qsort(gpu, count, sizeof(*gpu), rc_pci_address_order);
    for (size_t i = 0; i < count; i++)
        rc_nvidia_read_gpu(folder, &gpu[i]);
    return count;
}

enum { BITS = 64, FIRST_RENDER_MINOR = 128 };

/* Accept "nvidia0", not "nvidia-uvm" or "nvidiactl". */
static bool read_minor(struct rc_str name, const char *prefix, uint32_t *minor)
{
    size_t n = rc_str(prefix).n;

    return rc_str_starts(name, prefix) && rc_parse_u32((struct rc_str){ name.p + n, name.n - n }, UINT16_MAX, minor);
}

/* Count device files; set bit (minor - first) of those that may be opened. */
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

/* Convert minor numbers to PCI order if the files map them. */
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

/* MIG instances are folders gi0 and so on. */
static bool is_sliced(const char *gpu)
{
    char path[PATH_SIZE];
    struct rc_arena arena = { .base = path, .size = sizeof(path) };
    bool found = false;
    DIR *all;

    rc_format(&arena, RC_NVIDIA_CAPABILITIES "/%s/mig", gpu);
    all = arena.full ? NULL : opendir(path);
    for (const struct dirent *entry; all && !found && (entry = readdir(all));)
        found = rc_str_starts(rc_str(entry->d_name), "gi");
    if (all)
        closedir(all);
    return found;
}

static bool are_all_sliced(void)
{
    DIR *all = opendir(RC_NVIDIA_CAPABILITIES);
    unsigned whole = 0, sliced = 0;

    if (!all)
        return false;
    for (const struct dirent *entry; (entry = readdir(all));)
        if (rc_str_starts(rc_str(entry->d_name), "gpu"))
            *(is_sliced(entry->d_name) ? &sliced : &whole) += 1;
    closedir(all);
    return sliced > 0 && whole == 0;
}

void rc_device_files_find(struct rc_here *here)
{
    here->gpu_files = here->gpu_files_open = 0;
    here->gpus_open = 0;
    here->gpu_files_amd = false;
    here->gpu_slices = are_all_sliced();
    count_files("/dev", "nvidia", 0, here);
    if (here->gpu_files == 0) {
        count_files("/dev/dri", "renderD", FIRST_RENDER_MINOR, here);
        here->gpu_files_amd = here->gpu_files > 0;
    } else if (here->gpu_files_open < here->gpu_files) {
        here->gpus_open = order_by_address(here->gpus_open);
    }
}
