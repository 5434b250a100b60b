/* SPDX-License-Identifier: BSD-3-Clause */
#include "system/nvidia.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers.h"
#include "base/text.h"
#include "system/file.h"

enum { PATH_SIZE = 512, FILE_SIZE = 2048 };

/* Compares addresses. They have leading zeros, so a longer one has a larger domain. */
static int compare_addresses(const void *a, const void *b)
{
    const char *left = ((const struct rc_nvidia_gpu *)a)->address;
    const char *right = ((const struct rc_nvidia_gpu *)b)->address;
    size_t n = strlen(left);
    size_t m = strlen(right);

    return n == m ? strcmp(left, right) : (n > m) - (n < m);
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
        /* an incomplete list is worse than none: its numbers could mean other GPUs */
        if (count == RC_NVIDIA_GPUS_MAX) {
            count = 0;
            break;
        }
        memcpy(gpu[count++].address, entry->d_name, n + 1);
    }
    closedir(all);
    qsort(gpu, count, sizeof(*gpu), compare_addresses);
    for (size_t i = 0; i < count; i++)
        rc_nvidia_read_gpu(folder, &gpu[i]);
    return count;
}
