/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "inventory/libraries.h"

#include <string.h>
#include <sys/stat.h>

#include "base/numbers.h"
#include "system/programenv.h"

#define LIBRARY "libnccl.so.2"

enum { FILE_SIZE = 8192, NUMBERS = 3 };

static const char *const system_folders[] = {
    "/usr/local/cuda/lib64",
    "/lib/x86_64-linux-gnu",
    "/usr/lib/x86_64-linux-gnu",
    "/lib/aarch64-linux-gnu",
    "/usr/lib/aarch64-linux-gnu",
    "/lib64",
    "/usr/lib64",
    "/lib",
    "/usr/lib",
    "/usr/local/lib",
};

/* "__version__ = '2.13.0+cu126'" */
static struct rc_str find_version(struct rc_str file)
{
    struct rc_str line;

    while (rc_files_next_line(&file, &line)) {
        struct rc_str value;
        struct rc_str rest;

        if (!rc_str_starts(line, "__version__"))
            continue;
        rc_str_split(line, '=', &value);
        value = value.p ? rc_files_trim(value) : RC_ABSENT;
        if (value.n > 2 && (*value.p == '\'' || *value.p == '"'))
            return rc_str_split((struct rc_str){ value.p + 1, value.n - 1 }, *value.p, &rest);
    }
    return RC_ABSENT;
}

struct rc_str rc_inventory_torch(const char *root, const struct rc_python *python, struct rc_arena *arena)
{
    char text[FILE_SIZE];

    for (unsigned i = 0; i < python->count; i++) {
        size_t n = rc_files_read(root, python->folder[i], "torch/version.py", text, sizeof(text));
        struct rc_str version = find_version((struct rc_str){ text, n });

        if (n > 0)
            return rc_str(
                rc_format(arena, "%S in %s", version.p ? &version : &RC_STR("of no known version"), python->folder[i]));
    }
    return RC_ABSENT;
}

/* Of the name to which a link leads: libnccl.so.2.21.5 */
static struct rc_str version_of_name(const char *root, const char *path, char link[RC_FILES_PATH])
{
    struct rc_str name = rc_str_base_name(rc_files_link(root, path, "", link));
    size_t n = rc_str("libnccl.so.").n;

    return rc_str_starts(name, LIBRARY ".") ? (struct rc_str){ name.p + n, name.n - n } : RC_ABSENT;
}

/* "#define NCCL_MAJOR 2" of the header that NVIDIA's packages have beside the library */
static bool read_header(struct rc_str file, uint32_t number[NUMBERS])
{
    static const char *const names[NUMBERS] = { "NCCL_MAJOR ", "NCCL_MINOR ", "NCCL_PATCH " };
    unsigned found = 0;
    struct rc_str line;

    while (found < NUMBERS && rc_files_next_line(&file, &line)) {
        struct rc_str rest;

        rc_str_split(line, ' ', &rest);
        if (!rc_str_starts(line, "#define ") || !rc_str_starts(rest, names[found]))
            continue;
        rc_str_split(rest, ' ', &rest);
        if (!rc_parse_u32(rc_files_trim(rest), 9999, &number[found++]))
            return false;
    }
    return found == NUMBERS;
}

static struct rc_str version_of_header(const char *root, const char *folder, struct rc_arena *arena)
{
    static const char *const places[] = { "../include/nccl.h", "../../include/nccl.h" };
    char text[FILE_SIZE];
    uint32_t number[NUMBERS];

    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        size_t n = rc_files_read(root, folder, places[i], text, sizeof(text));

        if (read_header((struct rc_str){ text, n }, number))
            return rc_str(rc_format(arena, "%u.%u.%u", number[0], number[1], number[2]));
    }
    return RC_ABSENT;
}

/* "2.27.5 (402653184 bytes) in /opt/venv/lib/..."; absent where the folder has no such file */
static struct rc_str look_in(const char *root, const char *folder, struct rc_arena *arena)
{
    char path[RC_FILES_PATH];
    char full[RC_FILES_PATH];
    char link[RC_FILES_PATH];
    char text[64];
    struct rc_arena own = { .base = text, .size = sizeof(text) };
    struct rc_str version;
    struct stat file;

    if (!rc_files_join("", folder, LIBRARY, path) || !rc_files_join(root, path, "", full) || stat(full, &file) < 0 ||
        !S_ISREG(file.st_mode))
        return RC_ABSENT;
    version = version_of_name(root, path, link);
    if (!version.p)
        version = version_of_header(root, folder, &own);
    return rc_str(rc_format(arena, "%S%s%U bytes%s in %s", &version, version.p ? " (" : "", (uint64_t)file.st_size,
                            version.p ? ")" : "", folder));
}

static struct rc_str look_below(const char *root, const char *folder, const char *below, struct rc_arena *arena)
{
    char path[RC_FILES_PATH];

    return folder[0] && rc_files_join("", folder, below, path) ? look_in(root, path, arena) : RC_ABSENT;
}

static struct rc_str look_in_list(const char *root, struct rc_str list, struct rc_arena *arena)
{
    struct rc_str found = RC_ABSENT;
    char path[RC_FILES_PATH];

    while (list.p && !found.p) {
        struct rc_str folder = rc_str_split(list, ':', &list);
        struct rc_arena own = { .base = path, .size = sizeof(path) };

        rc_copy(&own, folder);
        if (folder.n > 0 && !own.full)
            found = look_in(root, path, arena);
    }
    return found;
}

struct rc_str rc_inventory_nccl(const char *root, const struct rc_python *python, const struct rc_env *env,
                                struct rc_arena *arena)
{
    struct rc_str kept = rc_env_find(env, (struct rc_str){ RC_PROGRAM_LIBRARIES, sizeof(RC_PROGRAM_LIBRARIES) - 2 });
    struct rc_str found = RC_ABSENT;

    for (unsigned i = 0; i < python->count && !found.p; i++)
        found = look_below(root, python->folder[i], "nvidia/nccl/lib", arena);
    if (!found.p && !rc_str_starts(rc_str(python->prefix), "/usr"))
        found = look_below(root, python->prefix, "lib", arena);
    if (!found.p)
        found = look_in_list(root, kept.p ? kept : rc_env_get(env, "LD_LIBRARY_PATH"), arena);
    for (size_t i = 0; i < sizeof(system_folders) / sizeof(system_folders[0]) && !found.p; i++)
        found = look_in(root, system_folders[i], arena);
    return found;
}
