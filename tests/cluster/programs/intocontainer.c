/* SPDX-License-Identifier: BSD-3-Clause */
/* A plugin that does to tasks what pyxis does (0.24.0: slurm_spank_task_init of pyxis_slurmstepd.c): they begin as the
 * slurmstepd's children that they are, and are in a container when the next plugin's task_init sees them.
 *
 * With TEST_IMAGE=FOLDER in the step's environment that is their root folder, in namespaces of the user's own; with
 * TEST_MOUNTS=PATH:PATH they see these of the node as well, which the image has a place for.
 */
#define _GNU_SOURCE

#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <slurm/spank.h>

SPANK_PLUGIN(intocontainer, 1)

static int write_file(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    int good = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

    if (fd >= 0)
        close(fd);
    return good ? 0 : -1;
}

static int own_namespaces(void)
{
    char uid[64], gid[64];

    snprintf(uid, sizeof(uid), "%u %u 1", (unsigned)getuid(), (unsigned)getuid());
    snprintf(gid, sizeof(gid), "%u %u 1", (unsigned)getgid(), (unsigned)getgid());
    return unshare(CLONE_NEWUSER | CLONE_NEWNS) || write_file("/proc/self/setgroups", "deny") ||
           write_file("/proc/self/uid_map", uid) || write_file("/proc/self/gid_map", gid);
}

static int show(const char *image, const char *path)
{
    char place[PATH_MAX];

    snprintf(place, sizeof(place), "%s%s", image, path);
    return mount(path, place, NULL, MS_BIND | MS_REC, NULL);
}

static int enter(const char *image, char *mounts)
{
    char *rest = mounts;

    if (own_namespaces() || mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) || show("", image) ||
        show(image, "/proc") || show(image, "/dev") || show(image, "/etc/hosts"))
        return -1;
    for (char *path; (path = strsep(&rest, ":"));)
        if (*path && show(image, path))
            return -1;
    return chdir(image) || syscall(SYS_pivot_root, ".", ".") || umount2(".", MNT_DETACH) || chdir("/") ? -1 : 0;
}

int slurm_spank_task_init(spank_t spank, int argc, char *argv[])
{
    char image[PATH_MAX], mounts[PATH_MAX] = "";

    (void)argc, (void)argv;
    if (spank_getenv(spank, "TEST_IMAGE", image, sizeof(image)) != ESPANK_SUCCESS)
        return 0;
    spank_getenv(spank, "TEST_MOUNTS", mounts, sizeof(mounts));
    if (enter(image, mounts) == 0)
        return 0;
    slurm_error("intocontainer: no container of %s", image);
    return -1;
}
