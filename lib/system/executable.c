/* SPDX-License-Identifier: BSD-3-Clause */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "system/program.h"

static bool is_program(const char *path)
{
    struct stat file;

    return access(path, X_OK) == 0 && stat(path, &file) == 0 && S_ISREG(file.st_mode);
}

bool rc_program_find(const char *folders, const char *name, char path[PATH_MAX])
{
    while (folders && *folders) {
        size_t n = strcspn(folders, ":");

        if (n > 0 && snprintf(path, PATH_MAX, "%.*s/%s", (int)n, folders, name) < PATH_MAX && is_program(path))
            return true;
        folders += n + (folders[n] == ':');
    }
    return false;
}
