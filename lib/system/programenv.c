/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "system/programenv.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define LIBRARY_PATH "LD_LIBRARY_PATH="

/* Those that glibc drops for set-uid programs (unsecvars.h) and that are not about names, times
 * or temporary files; musl reads LD_* alone. */
static const char *const loader_variables[] = {
    "LD_", "GCONV_PATH=", "GETCONF_DIR=", "GLIBC_TUNABLES=", "LOCPATH=", "MALLOC_", "NLSPATH=",
};

static bool starts_with(const char *entry, const char *start)
{
    return strncmp(entry, start, strlen(start)) == 0;
}

static bool is_for_loader(const char *entry)
{
    for (size_t i = 0; i < sizeof(loader_variables) / sizeof(*loader_variables); i++)
        if (starts_with(entry, loader_variables[i]))
            return true;
    return starts_with(entry, RC_PROGRAM_LIBRARIES);
}

/* The entry as rollcall-pmix gets it, from the task or from a program between; else NULL. */
static const char *library_path(const char *entry)
{
    if (starts_with(entry, LIBRARY_PATH))
        return entry;
    return starts_with(entry, RC_PROGRAM_LIBRARIES) ? entry + strlen(RC_PROGRAM_LIBRARIES) - strlen(LIBRARY_PATH)
                                                    : NULL;
}

/* What becomes of an entry; NULL: it is left out. `room` is for one that is renamed. */
static const char *adapt_entry(enum rc_program_kind kind, const char *entry, char *room)
{
    const char *path = library_path(entry);

    if (kind == RC_PROGRAM_USER)
        return starts_with(entry, "LD_PRELOAD=") ? NULL : entry;
    if (!is_for_loader(entry))
        return entry;
    if (!path || kind == RC_PROGRAM_PMIX)
        return path;
    memcpy(room, RC_PROGRAM_LIBRARIES, strlen(RC_PROGRAM_LIBRARIES));
    memcpy(room + strlen(RC_PROGRAM_LIBRARIES), path + strlen(LIBRARY_PATH), strlen(path + strlen(LIBRARY_PATH)) + 1);
    return room;
}

char **rc_program_environment(enum rc_program_kind kind, const char *const *env)
{
    size_t room = 0;
    size_t count = 0;
    size_t used = 0;
    char **copy;
    char *renamed;

    for (; env[count]; count++)
        if (library_path(env[count]))
            room += strlen(RC_PROGRAM_LIBRARIES) + strlen(env[count]);
    copy = malloc((count + 1) * sizeof(*copy) + room);
    if (!copy)
        return NULL;
    renamed = (char *)(copy + count + 1);
    for (size_t i = 0; i < count; i++) {
        const char *entry = adapt_entry(kind, env[i], renamed);

        if (!entry)
            continue;
        copy[used++] = (char *)(uintptr_t)entry;
        if (entry == renamed)
            renamed += strlen(renamed) + 1;
    }
    copy[used] = NULL;
    return copy;
}
