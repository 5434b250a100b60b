/* SPDX-License-Identifier: BSD-3-Clause */
#include "system/portowner.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/numbers.h"
#include "system/proctcp.h"

/* The search takes some 50 ms on a node of a thousand processes with a hundred files each. */
enum { FILES_MAX = 1 << 20 };

static struct rc_str directory_number(const struct dirent *entry)
{
    struct rc_str name = rc_str(entry->d_name);
    uint32_t number;

    return rc_parse_u32(name, INT32_MAX, &number) ? name : RC_ABSENT;
}

/* Whether the process in /proc/NAME, opened as `folder`, has the socket open. */
static bool has_socket(int folder, uint64_t inode, unsigned *budget)
{
    int fd = openat(folder, "fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *files = fd < 0 ? NULL : fdopendir(fd);
    struct dirent *entry;
    bool found = false;

    if (!files) {
        if (fd >= 0)
            close(fd);
        return false;
    }
    while (!found && *budget > 0 && (entry = readdir(files))) {
        struct stat about;

        --*budget;
        found = directory_number(entry).p && fstatat(dirfd(files), entry->d_name, &about, 0) == 0 &&
                S_ISSOCK(about.st_mode) && about.st_ino == inode;
    }
    closedir(files);
    return found;
}

/* A process chooses its own name, so unprintable characters become a question mark. */
static void read_name(int folder, char name[17])
{
    int fd = openat(folder, "comm", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? 0 : read(fd, name, 16);

    if (fd >= 0)
        close(fd);
    if (n > 0 && name[n - 1] == '\n')
        n--;
    name[n > 0 ? n : 0] = '\0';
    for (char *p = name; *p; p++)
        if (*p < ' ' || *p > '~')
            *p = '?';
}

/* The pid that has the socket open; 0 where no such process can be seen. */
static uint32_t find_process(uint64_t inode, char name[17])
{
    DIR *processes = opendir("/proc");
    unsigned budget = FILES_MAX;
    struct dirent *entry;
    uint32_t pid = 0;

    while (processes && pid == 0 && budget > 0 && (entry = readdir(processes))) {
        struct rc_str number = directory_number(entry);
        int folder;

        if (!number.p)
            continue;
        folder = openat(dirfd(processes), entry->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (folder < 0)
            continue;
        if (has_socket(folder, inode, &budget)) {
            rc_parse_u32(number, INT32_MAX, &pid);
            read_name(folder, name);
        }
        close(folder);
    }
    if (processes)
        closedir(processes);
    return pid;
}

void rc_port_owner(uint16_t port, char *text, size_t size)
{
    struct rc_tcp_row row;
    char name[17];
    uint32_t pid;

    if (!rc_proctcp_find(port, &row))
        snprintf(text, size, "a program that holds it without listening yet");
    else if (row.inode == 0)
        snprintf(text, size, "a connection of a program that is already gone");
    else if ((pid = find_process(row.inode, name)) != 0)
        snprintf(text, size, "pid %u (%s) of user %u", pid, name, row.user);
    else
        snprintf(text, size, "a program of user %u", row.user);
}
