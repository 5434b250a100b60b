/* SPDX-License-Identifier: BSD-3-Clause */
#include "findprogram.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool cli_find_program(const char *name, char path[PATH_MAX])
{
    const char *next = getenv("PATH");

    while (next && *next) {
        size_t n = strcspn(next, ":");
        struct stat file;

        if (n > 0 && snprintf(path, PATH_MAX, "%.*s/%s", (int)n, next, name) < PATH_MAX && access(path, X_OK) == 0 &&
            stat(path, &file) == 0 && S_ISREG(file.st_mode))
            return true;
        next += n + (next[n] == ':');
    }
    return false;
}
