/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "outside.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/* The node's root folder. It is closed on exec. Slurm closes some descriptors in the
 * task as well, so it is used only if it still is that folder. */
static int node_root = -1;
static struct stat node_root_is;

/* The root folder of the task, while the task is outside of it. */
static int task_root = -1;
static int task_folder = -1;

static int open_folder(const char *path)
{
    return open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

static void close_folder(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static bool is_node_root(const struct stat *folder)
{
    return folder->st_dev == node_root_is.st_dev && folder->st_ino == node_root_is.st_ino;
}

void rc_spank_outside_remember(void)
{
    node_root = open_folder("/");
    if (node_root >= 0 && fstat(node_root, &node_root_is) < 0)
        close_folder(&node_root);
}

void rc_spank_outside_forget(void)
{
    close_folder(&node_root);
}

bool rc_spank_outside_is_elsewhere(void)
{
    struct stat folder;

    return node_root >= 0 && stat("/", &folder) == 0 && !is_node_root(&folder);
}

static bool make_root(int fd)
{
    return fchdir(fd) == 0 && chroot(".") == 0;
}

void rc_spank_outside_enter(void)
{
    struct stat folder;

    if (!rc_spank_outside_is_elsewhere() || fstat(node_root, &folder) < 0 || !is_node_root(&folder))
        return;
    task_root = open_folder("/");
    task_folder = open_folder(".");
    if (task_root >= 0 && task_folder >= 0 && make_root(node_root))
        return;
    if (task_folder >= 0 && fchdir(task_folder) < 0)
        _exit(1);
    close_folder(&task_root);
    close_folder(&task_folder);
}

void rc_spank_outside_leave(void)
{
    if (task_root < 0)
        return;
    if (!make_root(task_root) || fchdir(task_folder) < 0)
        _exit(1);
    close_folder(&task_root);
    close_folder(&task_folder);
}
