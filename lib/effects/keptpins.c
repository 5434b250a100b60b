/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "effects/keptpins.h"

#include <dirent.h>
#include <string.h>
#include <sys/stat.h>

#include "base/hash.h"
#include "system/file.h"
#include "system/nvidia.h"
#include "system/sysfs.h"

/* A job has many steps in that time, and an update of hwloc does not have to wait for the machine's next start. */
enum { SECONDS_KEPT = 600, LIST_SIZE = 4096 };

static const char name[] = "rollcall-pins";

/* A number for the names in a folder, in whatever order they are read. */
static uint64_t sum_names(const char *folder)
{
    DIR *all = opendir(folder);
    uint64_t sum = 0;

    if (!all)
        return 0;
    for (const struct dirent *entry; (entry = readdir(all));)
        sum += rc_hash(entry->d_name, strlen(entry->d_name));
    closedir(all);
    return sum;
}

static struct rc_arena rest_of(struct rc_keptpins *kept)
{
    return (struct rc_arena){ .base = kept->text, .size = sizeof(kept->text), .used = kept->length };
}

/* The answer to the same request is another one after an update of the program, a change of the hardware threads, or
 * of the GPUs. NUMA nodes and caches stay as they are until the machine starts again, and the keyring does not. */
void rc_keptpins_begin(struct rc_keptpins *kept, const char *path, struct rc_str request, bool has_gpus)
{
    char list[LIST_SIZE];
    struct rc_str online = { list, rc_file_read(RC_SYSFS_ONLINE, list, sizeof(list)) };
    struct rc_arena arena;
    struct stat file;

    kept->length = 0;
    if (stat(path, &file) < 0)
        return;
    arena = rest_of(kept);
    rc_format(&arena, "map=%s\nfile=%U %U %U %U\nonline=%Sgpus=%U %U\n%S\n\n", path, (uint64_t)file.st_dev,
              (uint64_t)file.st_ino, (uint64_t)file.st_size,
              (uint64_t)file.st_mtim.tv_sec * 1000000000 + (uint64_t)file.st_mtim.tv_nsec, &online,
              has_gpus ? sum_names(RC_SYSFS_PCI) : 0, has_gpus ? sum_names(RC_NVIDIA_FOLDER) : 0, &request);
    if (!arena.full)
        kept->length = arena.used - 1;
}

size_t rc_keptpins_find(const struct rc_keptpins *kept, char *answer, size_t size)
{
    char text[RC_KEYRING_TEXT];
    size_t n = kept->length > 0 ? rc_keyring_read(name, text, sizeof(text)) : 0;

    if (n <= kept->length || n - kept->length >= size || memcmp(text, kept->text, kept->length) != 0)
        return 0;
    n -= kept->length;
    memcpy(answer, text + kept->length, n);
    answer[n] = '\0';
    return n;
}

void rc_keptpins_keep(struct rc_keptpins *kept, struct rc_str answer)
{
    struct rc_arena arena = rest_of(kept);

    if (kept->length == 0)
        return;
    rc_copy(&arena, answer);
    if (!arena.full)
        rc_keyring_keep(name, (struct rc_str){ kept->text, kept->length + answer.n }, SECONDS_KEPT);
}
