/* SPDX-License-Identifier: BSD-3-Clause */
/* devices.c - /dev as a task sees it: the scenario's devices and no others, with a device cgroup's answers. */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "host.h"

static struct {
    const char *prefix; /* "" of /dev, "dri/" */
    int next;
} folder; /* one at a time */

DIR *opendir(const char *path)
{
    DIR *(*real)(const char *) = (DIR * (*)(const char *)) dlsym(RTLD_NEXT, "opendir");
    bool dri = strcmp(path, "/dev/dri") == 0;

    if (!dri && strcmp(path, "/dev") != 0)
        return real(path);
    folder.prefix = dri ? "dri/" : "";
    folder.next = 0;
    return (DIR *)&folder;
}

struct dirent *readdir(DIR *all)
{
    struct dirent *(*real)(DIR *) = (struct dirent * (*)(DIR *)) dlsym(RTLD_NEXT, "readdir");
    static struct dirent entry;
    size_t n;

    if (all != (DIR *)&folder)
        return real(all);
    n = strlen(folder.prefix);
    while (folder.next < scenario.devices.count) {
        const char *name = scenario.devices.word[folder.next++];

        name += *name == '!';
        if (strncmp(name, folder.prefix, n) != 0 || strchr(name + n, '/'))
            continue;
        snprintf(entry.d_name, sizeof(entry.d_name), "%s", name + n);
        return &entry;
    }
    return NULL;
}

int closedir(DIR *all)
{
    int (*real)(DIR *) = (int (*)(DIR *))dlsym(RTLD_NEXT, "closedir");

    return all == (DIR *)&folder ? 0 : real(all);
}

int access(const char *path, int mode)
{
    for (int i = 0; strncmp(path, "/dev/", 5) == 0 && i < scenario.devices.count; i++) {
        const char *name = scenario.devices.word[i];

        if (*name == '!' && mode != F_OK && strcmp(name + 1, path + 5) == 0) {
            errno = EPERM;
            return -1;
        }
        if (strcmp(name, path + 5) == 0)
            return 0;
    }
    return faccessat(AT_FDCWD, path, mode, 0);
}
