/* SPDX-License-Identifier: BSD-3-Clause */
/* changes.c - libc's functions that make, remove or change files, in the shells and filters of a rehearsal.
 *
 * Each makes the system call itself. Owners and times of files are not changed at all: the wall forbids it, and the
 * functions return 0. So is a mode; a file gets another one by being made again.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/xattr.h>
#include <unistd.h>
#include <utime.h>

#include "overlay.h"

/* The place of a file that is made now; NULL with errno set if it is there, or its folder is not. */
static const char *make(int dir, const char *path, struct overlay_place *place)
{
    struct overlay_place above;

    if (overlay_find(dir, path, false, place) < 0)
        return NULL;
    if (overlay_exists(place) && place->state != OVERLAY_PASSED)
        return errno = EEXIST, NULL;
    above = *place;
    *(strrchr(above.name, '/') + (strrchr(above.name, '/') == above.name)) = '\0';
    if (!overlay_seen(AT_FDCWD, above.name, true, &above) || !overlay_exists(&above))
        return errno = ENOENT, NULL;
    return overlay_write(place, false);
}

HOOK int mkdirat(int dir, const char *path, mode_t mode)
{
    struct overlay_place place;

    return make(dir, path, &place) ? overlay_make_folder(&place, mode) : -1;
}

FORWARD(int mkdir(const char *path, mode_t mode), mkdirat(AT_FDCWD, path, mode))

HOOK int mknodat(int dir, const char *path, mode_t mode, dev_t device)
{
    struct overlay_place place;

    if (!S_ISFIFO(mode) && !S_ISREG(mode))
        return errno = EPERM, -1;
    path = make(dir, path, &place);
    return path ? CALL(SYS_mknodat, AT_FDCWD, path, mode, device) : -1;
}

FORWARD(int mkfifoat(int dir, const char *path, mode_t mode), mknodat(dir, path, mode | S_IFIFO, 0))
FORWARD(int mkfifo(const char *path, mode_t mode), mkfifoat(AT_FDCWD, path, mode))

HOOK int symlinkat(const char *target, int dir, const char *path)
{
    struct overlay_place place;

    path = make(dir, path, &place);
    return path ? CALL(SYS_symlinkat, target, AT_FDCWD, path) : -1;
}

FORWARD(int symlink(const char *target, const char *path), symlinkat(target, AT_FDCWD, path))

HOOK int linkat(int from_dir, const char *from, int to_dir, const char *to, int flags)
{
    struct overlay_place source;
    struct overlay_place place;

    if (!overlay_seen(from_dir, from, flags & AT_SYMLINK_FOLLOW, &source) || !overlay_exists(&source))
        return errno = ENOENT, -1;
    from = overlay_write(&source, true);
    to = from ? make(to_dir, to, &place) : NULL;
    return to ? CALL(SYS_linkat, AT_FDCWD, from, AT_FDCWD, to, 0) : -1;
}

FORWARD(int link(const char *from, const char *to), linkat(AT_FDCWD, from, AT_FDCWD, to, 0))

HOOK int unlinkat(int dir, const char *path, int flags)
{
    struct overlay_place place;

    return overlay_find(dir, path, false, &place) < 0 ? -1 : overlay_remove(&place, flags);
}

FORWARD(int unlink(const char *path), unlinkat(AT_FDCWD, path, 0))
FORWARD(int rmdir(const char *path), unlinkat(AT_FDCWD, path, AT_REMOVEDIR))

/* A folder of the machine is not moved but copied, by the program that gets EXDEV. */
HOOK int renameat2(int from_dir, const char *from, int to_dir, const char *to, unsigned flags)
{
    struct overlay_place source;
    struct overlay_place place;
    struct stat status;

    if (!overlay_seen(from_dir, from, false, &source) || !overlay_exists(&source))
        return errno = ENOENT, -1;
    if (overlay_find(to_dir, to, false, &place) < 0)
        return -1;
    if (overlay_exists(&place) && place.state != OVERLAY_PASSED && flags)
        return errno = EEXIST, -1;
    if (CALL(SYS_newfstatat, AT_FDCWD, source.name, &status, AT_SYMLINK_NOFOLLOW) == 0 && !S_ISREG(status.st_mode) &&
        source.state != OVERLAY_PASSED)
        return errno = EXDEV, -1;
    from = overlay_write(&source, true);
    to = from ? overlay_write(&place, false) : NULL;
    if (!to || CALL(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0) < 0)
        return -1;
    if (source.state == OVERLAY_PASSED)
        return 0;
    source.state = OVERLAY_OUTSIDE;
    overlay_remove(&source, 0);
    return 0;
}

FORWARD(int renameat(int from_dir, const char *from, int to_dir, const char *to),
        renameat2(from_dir, from, to_dir, to, 0))
FORWARD(int rename(const char *from, const char *to), renameat2(AT_FDCWD, from, AT_FDCWD, to, 0))

HOOK int truncate(const char *path, off_t size)
{
    int fd = open(path, O_WRONLY);
    int rc = fd < 0 ? -1 : ftruncate(fd, size);

    if (fd >= 0)
        close(fd);
    return rc;
}

ALSO(truncate64, truncate);

/* Modes, owners and times */

static int change(int dir, const char *path, int flags)
{
    struct overlay_place place;

    if (!path || !*path)
        return 0;
    path = overlay_seen(dir, path, !(flags & AT_SYMLINK_NOFOLLOW), &place);
    return path && overlay_exists(&place) ? 0 : (errno = ENOENT, -1);
}

/* Makes a file again with another mode; `fd`, unless negative, becomes the new file's, at the same place. */
static int set_mode(const char *path, mode_t mode, int fd)
{
    char again[REHEARSE_PATH + 300];
    char buffer[65536];
    ssize_t n;
    int from;
    int to;

    snprintf(again, sizeof(again), "%s.%d", path, (int)getpid());
    from = CALL(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
    to = CALL(SYS_openat, AT_FDCWD, again, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, (mode & 0777) | 0600);
    while (from >= 0 && to >= 0 && (n = read(from, buffer, sizeof(buffer))) > 0 && write(to, buffer, (size_t)n) == n)
        ;
    if (from >= 0)
        close(from);
    if (to >= 0 && fd >= 0) {
        lseek(to, lseek(fd, 0, SEEK_CUR), SEEK_SET);
        fcntl(to, F_SETFL, fcntl(fd, F_GETFL));
        dup3(to, fd, fcntl(fd, F_GETFD) & FD_CLOEXEC ? O_CLOEXEC : 0);
    }
    return to >= 0 && close(to) == 0 ? CALL(SYS_renameat2, AT_FDCWD, again, AT_FDCWD, path, 0) : -1;
}

HOOK int fchmodat(int dir, const char *path, mode_t mode, int flags)
{
    struct overlay_place place;
    struct stat status;

    path = overlay_seen(dir, path, !(flags & AT_SYMLINK_NOFOLLOW), &place);
    if (!path || CALL(SYS_newfstatat, AT_FDCWD, path, &status, AT_SYMLINK_NOFOLLOW) < 0)
        return -1;
    if (!S_ISREG(status.st_mode) || !((status.st_mode ^ mode) & 0777) || place.state == OVERLAY_PASSED)
        return 0;
    path = overlay_write(&place, true);
    return path ? set_mode(path, mode, -1) : -1;
}

FORWARD(int chmod(const char *path, mode_t mode), fchmodat(AT_FDCWD, path, mode, 0))

HOOK int fchmod(int fd, mode_t mode)
{
    struct overlay_place place;
    struct stat status;

    if (fstat(fd, &status) < 0 || !S_ISREG(status.st_mode) || !((status.st_mode ^ mode) & 0777) ||
        overlay_folder(fd, place.name, sizeof(place.name)) < 0 || !overlay_seen(AT_FDCWD, place.name, false, &place))
        return 0;
    return place.state == OVERLAY_INSIDE ? set_mode(place.inside, mode, fd) : 0;
}

/* Access lists are an attribute: a file system without them. */
FORWARD(ssize_t getxattr(const char *path, const char *name, void *value, size_t size),
        ((void)path, (void)name, (void)value, (void)size, errno = ENOTSUP, -1))
FORWARD(int setxattr(const char *path, const char *name, const void *value, size_t size, int flags),
        ((void)value, (void)flags, (int)getxattr(path, name, NULL, size)))
FORWARD(int fsetxattr(int fd, const char *name, const void *value, size_t size, int flags),
        ((void)fd, setxattr("", name, value, size, flags)))
FORWARD(ssize_t listxattr(const char *path, char *list, size_t size), getxattr(path, NULL, list, size))
ALSO(llistxattr, listxattr);
ALSO(lgetxattr, getxattr);
ALSO(lsetxattr, setxattr);

FORWARD(int fchownat(int dir, const char *path, uid_t user, gid_t group, int flags),
        ((void)user, (void)group, change(dir, path, flags)))
FORWARD(int chown(const char *path, uid_t user, gid_t group), fchownat(AT_FDCWD, path, user, group, 0))
FORWARD(int lchown(const char *path, uid_t user, gid_t group),
        fchownat(AT_FDCWD, path, user, group, AT_SYMLINK_NOFOLLOW))
FORWARD(int fchown(int fd, uid_t user, gid_t group), ((void)user, (void)group, change(fd, NULL, 0)))
FORWARD(int utimensat(int dir, const char *path, const struct timespec times[2], int flags),
        ((void)times, change(dir, path, flags)))
FORWARD(int futimens(int fd, const struct timespec times[2]), ((void)times, change(fd, NULL, 0)))
FORWARD(int utimes(const char *path, const struct timeval times[2]), ((void)times, change(AT_FDCWD, path, 0)))
FORWARD(int utime(const char *path, const struct utimbuf *times), ((void)times, change(AT_FDCWD, path, 0)))
