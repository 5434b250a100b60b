/* SPDX-License-Identifier: BSD-3-Clause */
/* files.c - libc's functions that take a path, in the shells and filters of a rehearsal: they see the overlay.
 *
 * Each makes the system call itself.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "overlay.h"

static int open_to_write(struct overlay_place *place, int flags, mode_t mode)
{
    struct stat status;
    const char *path = overlay_path(place);

    if (place->state == OVERLAY_PASSED)
        return CALL(SYS_openat, AT_FDCWD, path, flags, mode);
    if (!overlay_exists(place) && !(flags & O_CREAT))
        return errno = ENOENT, -1;
    if (overlay_exists(place) && (flags & O_CREAT) && (flags & O_EXCL))
        return errno = EEXIST, -1;
    if (overlay_exists(place) && CALL(SYS_newfstatat, AT_FDCWD, path, &status, 0) == 0 && S_ISDIR(status.st_mode))
        return errno = EISDIR, -1;
    path = overlay_write(place, !(flags & O_TRUNC));
    return path ? CALL(SYS_openat, AT_FDCWD, path, flags | O_CREAT, flags & O_CREAT ? mode : 0600) : -1;
}

static int open_at(int dir, const char *path, int flags, mode_t mode)
{
    struct overlay_place place;

    if ((flags & O_TMPFILE) == O_TMPFILE)
        return errno = EOPNOTSUPP, -1;
    if (overlay_find(dir, path, !(flags & O_NOFOLLOW) && (~flags & (O_CREAT | O_EXCL)), &place) < 0)
        return -1;
    if ((flags & O_ACCMODE) != O_RDONLY || (flags & (O_CREAT | O_TRUNC)))
        return open_to_write(&place, flags, mode);
    path = overlay_path(&place);
    return path ? CALL(SYS_openat, AT_FDCWD, path, flags, 0) : -1;
}

static mode_t read_mode(int flags, va_list list)
{
    return flags & O_CREAT ? va_arg(list, mode_t) : 0;
}

HOOK int open(const char *path, int flags, ...)
{
    va_list list;

    va_start(list, flags);
    mode_t mode = read_mode(flags, list);
    va_end(list);
    return open_at(AT_FDCWD, path, flags, mode);
}

HOOK int openat(int dir, const char *path, int flags, ...)
{
    va_list list;

    va_start(list, flags);
    mode_t mode = read_mode(flags, list);
    va_end(list);
    return open_at(dir, path, flags, mode);
}

FORWARD(int creat(const char *path, mode_t mode), open_at(AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC, mode))
ALSO(open64, open);
ALSO(openat64, openat);
ALSO(__open_2, open);
ALSO(__open64_2, open);
ALSO(__openat_2, openat);
ALSO(__openat64_2, openat);
ALSO(creat64, creat);

/* "XXXXXX" of a template becomes a name that is free. */
static int make_unique(char *template, int suffix, int (*try)(const char *path, int flags), int flags)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789";
    static unsigned tries;
    char *name = template + strlen(template) - suffix - 6;
    unsigned long number;
    int rc = -1;

    if (name < template || strncmp(name, "XXXXXX", 6) != 0)
        return errno = EINVAL, -1;
    for (unsigned i = 0; i < 100 && rc < 0; i++) {
        number = ((unsigned long)getpid() * 2654435761U) ^ (unsigned long)time(NULL) ^ ++tries * 7919UL;
        for (unsigned j = 0; j < 6; j++, number /= sizeof(letters) - 1)
            name[j] = letters[number % (sizeof(letters) - 1)];
        rc = try(template, flags);
        if (rc < 0 && errno != EEXIST)
            break;
    }
    return rc;
}

static int try_file(const char *path, int flags)
{
    return open_at(AT_FDCWD, path, flags | O_RDWR | O_CREAT | O_EXCL, 0600);
}

static int try_folder(const char *path, int flags)
{
    (void)flags;
    return mkdir(path, 0700);
}

FORWARD(int mkostemps(char *template, int suffix, int flags), make_unique(template, suffix, try_file, flags))
FORWARD(int mkostemp(char *template, int flags), mkostemps(template, 0, flags))
FORWARD(int mkstemp(char *template), mkostemps(template, 0, 0))
FORWARD(char *mkdtemp(char *template), make_unique(template, 0, try_folder, 0) < 0 ? NULL : template)
ALSO(mkstemp64, mkstemp);
ALSO(mkostemp64, mkostemp);

static int read_stream_flags(const char *mode)
{
    int flags = strchr(mode, '+') ? O_RDWR : *mode == 'r' ? O_RDONLY : O_WRONLY;

    flags |= *mode == 'w' ? O_CREAT | O_TRUNC : *mode == 'a' ? O_CREAT | O_APPEND : 0;
    return flags | (strchr(mode, 'x') ? O_EXCL : 0) | (strchr(mode, 'e') ? O_CLOEXEC : 0);
}

HOOK FILE *fopen(const char *path, const char *mode)
{
    int fd = open_at(AT_FDCWD, path, read_stream_flags(mode), 0666);

    return fd < 0 ? NULL : fdopen(fd, mode);
}

HOOK FILE *freopen(const char *path, const char *mode, FILE *stream)
{
    static FILE *(*real)(const char *, const char *, FILE *);
    char opened[64];
    FILE *result;
    int fd;

    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "freopen");
    fd = path ? open_at(AT_FDCWD, path, read_stream_flags(mode), 0666) : -1;
    if (path && fd < 0)
        return NULL;
    snprintf(opened, sizeof(opened), "/proc/self/fd/%d", fd);
    result = real(path ? opened : NULL, mode, stream);
    if (fd >= 0)
        close(fd);
    return result;
}

ALSO(fopen64, fopen);
ALSO(freopen64, freopen);

/* Folders */

HOOK DIR *fdopendir(int fd)
{
    static DIR *(*real)(int);
    struct overlay_place place;
    const char *path;
    int merged;

    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "fdopendir");
    if (overlay_folder(fd, place.name, sizeof(place.name)) > 0 && overlay_seen(AT_FDCWD, place.name, true, &place) &&
        place.state == OVERLAY_INSIDE && (path = overlay_list(&place))) {
        merged = CALL(SYS_openat, AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
        if (merged >= 0) {
            dup3(merged, fd, O_CLOEXEC);
            close(merged);
        }
    }
    return real(fd);
}

HOOK DIR *opendir(const char *path)
{
    int fd = open_at(AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);

    return fd < 0 ? NULL : fdopendir(fd);
}

HOOK char *getcwd(char *buffer, size_t size)
{
    char name[REHEARSE_PATH];
    ssize_t n = overlay_folder(AT_FDCWD, name, sizeof(name));

    if (n < 0)
        return NULL;
    if (buffer && (size_t)n >= size)
        return errno = ERANGE, NULL;
    return buffer ? memcpy(buffer, name, (size_t)n + 1) : strdup(name);
}

FORWARD(char *get_current_dir_name(void), getcwd(NULL, 0))

/* A script that enters a folder that it expects goes on. */
HOOK int chdir(const char *path)
{
    struct overlay_place place;
    const char *to;

    if (overlay_find(AT_FDCWD, path, true, &place) < 0)
        return -1;
    to = overlay_path(&place);
    if (to && CALL(SYS_chdir, to) == 0)
        return 0;
    if (errno != ENOENT || place.state == OVERLAY_PASSED)
        return -1;
    overlay_note("folder", place.name);
    return overlay_make_folder(&place, 0777) < 0 ? -1 : CALL(SYS_chdir, place.inside);
}

/* What a path leads to */

HOOK int fstatat(int dir, const char *path, struct stat *status, int flags)
{
    struct overlay_place place;

    if (!*path && (flags & AT_EMPTY_PATH))
        return CALL(SYS_newfstatat, dir, path, status, flags);
    path = overlay_seen(dir, path, !(flags & AT_SYMLINK_NOFOLLOW), &place);
    return path ? CALL(SYS_newfstatat, AT_FDCWD, path, status, flags) : -1;
}

FORWARD(int stat(const char *path, struct stat *status), fstatat(AT_FDCWD, path, status, 0))
FORWARD(int lstat(const char *path, struct stat *status), fstatat(AT_FDCWD, path, status, AT_SYMLINK_NOFOLLOW))
FORWARD(int __xstat(int version, const char *path, struct stat *status), ((void)version, stat(path, status)))
FORWARD(int __lxstat(int version, const char *path, struct stat *status), ((void)version, lstat(path, status)))
FORWARD(int __fxstatat(int version, int dir, const char *path, struct stat *status, int flags),
        ((void)version, fstatat(dir, path, status, flags)))
ALSO(fstatat64, fstatat);
ALSO(stat64, stat);
ALSO(lstat64, lstat);
ALSO(__xstat64, __xstat);
ALSO(__lxstat64, __lxstat);
ALSO(__fxstatat64, __fxstatat);

HOOK int statx(int dir, const char *path, int flags, unsigned mask, struct statx *status)
{
    struct overlay_place place;

    if (!*path && (flags & AT_EMPTY_PATH))
        return CALL(SYS_statx, dir, path, flags, mask, status);
    path = overlay_seen(dir, path, !(flags & AT_SYMLINK_NOFOLLOW), &place);
    return path ? CALL(SYS_statx, AT_FDCWD, path, flags, mask, status) : -1;
}

/* A read-only wall is no answer about the machine. */
HOOK int faccessat(int dir, const char *path, int mode, int flags)
{
    struct overlay_place place;
    int rc;

    path = overlay_seen(dir, path, !(flags & AT_SYMLINK_NOFOLLOW), &place);
    rc = path ? CALL(SYS_faccessat, AT_FDCWD, path, mode) : -1;
    return rc < 0 && errno == EROFS ? 0 : rc;
}

FORWARD(int access(const char *path, int mode), faccessat(AT_FDCWD, path, mode, 0))
ALSO(eaccess, access);
ALSO(euidaccess, access);

HOOK ssize_t readlinkat(int dir, const char *path, char *buffer, size_t size)
{
    struct overlay_place place;

    if (*path)
        path = overlay_seen(dir, path, false, &place);
    return path ? syscall(SYS_readlinkat, *path ? AT_FDCWD : dir, path, buffer, size) : -1;
}

FORWARD(ssize_t readlink(const char *path, char *buffer, size_t size), readlinkat(AT_FDCWD, path, buffer, size))
