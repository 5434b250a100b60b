/* SPDX-License-Identifier: BSD-3-Clause */
/* overlay.c - which file of the machine or of the rehearsal a path of the script leads to.
 * It makes system calls only: the hook replaces libc's functions, and they would call this file again. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "overlay.h"

enum { LINKS_MAX = 40 };

const char *overlay_scratch = "";
struct rehearse_bounds *overlay_bounds;
const char *overlay_at;

void overlay_note(const char *what, const char *path)
{
    const char *last = overlay_at ? overlay_at + sizeof(REHEARSE_AT) : "";
    const char *at = getenv(REHEARSE_AT);
    char text[2 * REHEARSE_PATH];
    int fd;

    snprintf(text, sizeof(text), "%s/notes", overlay_scratch);
    fd = (int)syscall(SYS_openat, AT_FDCWD, text, O_WRONLY | O_APPEND | O_CLOEXEC, 0);
    if (fd < 0)
        return;
    dprintf(fd, "%s\t%s\t%s\n", what, path, at ? at : last);
    close(fd);
}

static bool is_below(const char *path, const char *folder)
{
    size_t n = strlen(folder);

    return strncmp(path, folder, n) == 0 && (path[n] == '/' || path[n] == '\0');
}

static bool read_status(const char *path, struct stat *status)
{
    return syscall(SYS_newfstatat, AT_FDCWD, path, status, AT_SYMLINK_NOFOLLOW) == 0;
}

static ssize_t read_link(const char *path, char *link, size_t size)
{
    ssize_t n = syscall(SYS_readlinkat, AT_FDCWD, path, link, size - 1);

    if (n >= 0)
        link[n] = '\0';
    return n;
}

static bool is_removed(const char *path)
{
    char link[sizeof(REHEARSE_REMOVED) + 1];

    return read_link(path, link, sizeof(link)) > 0 && strcmp(link, REHEARSE_REMOVED) == 0;
}

/* Cuts FOLDER/files or FOLDER/lists/N off. */
static void name_for_script(char *path)
{
    size_t n = strlen(overlay_scratch);

    if (!*overlay_scratch || !is_below(path, overlay_scratch))
        return;
    if (is_below(path + n, "/files"))
        n += strlen("/files");
    else if (is_below(path + n, "/lists"))
        n += strlen("/lists/") + strspn(path + n + strlen("/lists/"), "0123456789");
    else
        return;
    memmove(path, path + n, strlen(path + n) + 1);
    if (!*path)
        memcpy(path, "/", 2);
}

ssize_t overlay_folder(int dir, char *name, size_t size)
{
    char link[64];
    ssize_t n;

    if (dir == AT_FDCWD) {
        n = syscall(SYS_getcwd, name, size);
    } else {
        snprintf(link, sizeof(link), "/proc/self/fd/%d", dir);
        n = read_link(link, name, size);
    }
    if (n < 0)
        return -1;
    name_for_script(name);
    return (ssize_t)strlen(name);
}

static bool is_passed(struct overlay_place *place, const char *rest)
{
    const char *name = place->name;

    rest += strspn(rest, "/");
    if (strcmp(name, overlay_scratch) == 0) {
        bool is_own = (is_below(rest, "tmp") || is_below(rest, "bin")) && !strstr(rest, "/..");

        place->state = is_own ? OVERLAY_PASSED : OVERLAY_REMOVED;
        return true;
    }
    if (strcmp(name, "/proc") != 0 && strcmp(name, "/sys") != 0 && (strcmp(name, "/dev") != 0 || is_below(rest, "shm")))
        return false;
    place->state = OVERLAY_PASSED;
    return true;
}

/* Looks up place->name, whose folder is in the state `above`. *n: length of the link that it is, 0 if it is none. */
static enum overlay_state look_up(struct overlay_place *place, enum overlay_state above, char *link, ssize_t *n)
{
    *n = 0;
    if (above == OVERLAY_ABSENT || above == OVERLAY_REMOVED)
        return above;
    if (above == OVERLAY_INSIDE) {
        snprintf(place->inside, sizeof(place->inside), "%s/files%s", overlay_scratch, place->name);
        *n = read_link(place->inside, link, REHEARSE_PATH);
        if (*n >= 0)
            return strcmp(link, REHEARSE_REMOVED) == 0 ? OVERLAY_REMOVED : OVERLAY_INSIDE;
        *n = 0;
        if (errno == EINVAL)
            return OVERLAY_INSIDE;
        if (errno != ENOENT)
            return OVERLAY_REMOVED;
    }
    *n = read_link(place->name, link, REHEARSE_PATH);
    if (*n >= 0)
        return OVERLAY_OUTSIDE;
    *n = 0;
    return errno == EINVAL ? OVERLAY_OUTSIDE : OVERLAY_ABSENT;
}

/* Walks along `rest`, which it may change. */
static int walk(struct overlay_place *place, char *rest, bool follow)
{
    char link[REHEARSE_PATH];
    char next[REHEARSE_PATH];
    size_t length = 0;
    unsigned links = 0;
    ssize_t is_link;

    place->state = OVERLAY_INSIDE;
    for (char *part = rest; *(part += strspn(part, "/"));) {
        size_t n = strcspn(part, "/");
        char *after = part + n;

        if (n == 2 && strncmp(part, "..", 2) == 0) {
            while (length > 0 && place->name[--length] != '/')
                ;
            place->name[length] = '\0';
            if (place->state == OVERLAY_OUTSIDE)
                place->state = OVERLAY_INSIDE;
        } else if (n != 1 || *part != '.') {
            if (length + n + 2 > sizeof(place->name))
                return errno = ENAMETOOLONG, -1;
            length += (size_t)snprintf(place->name + length, n + 2, "/%s", part);
            length = strlen(place->name);
            if (is_passed(place, after)) {
                snprintf(place->name + length, sizeof(place->name) - length, "%s", after);
                return 0;
            }
            place->state = look_up(place, place->state, link, &is_link);
            if (is_link > 0 && place->state != OVERLAY_REMOVED && (follow || *after)) {
                if (++links > LINKS_MAX)
                    return errno = ELOOP, -1;
                if ((size_t)snprintf(next, sizeof(next), "%s%s", link, after) >= sizeof(next))
                    return errno = ENAMETOOLONG, -1;
                length = *link == '/' ? 0 : (size_t)(strrchr(place->name, '/') - place->name);
                place->name[length] = '\0';
                place->state = OVERLAY_INSIDE;
                memcpy(rest, next, strlen(next) + 1);
                after = rest;
            }
        }
        part = after;
    }
    if (length == 0)
        memcpy(place->name, "/", 2);
    return 0;
}

int overlay_find(int dir, const char *path, bool follow, struct overlay_place *place)
{
    char rest[REHEARSE_PATH] = "";
    size_t n;

    if (!*path)
        return errno = ENOENT, -1;
    if (*path != '/' && overlay_folder(dir, rest, sizeof(rest)) < 0)
        return -1;
    n = strlen(rest);
    if ((size_t)snprintf(rest + n, sizeof(rest) - n, "/%s", path) >= sizeof(rest) - n)
        return errno = ENAMETOOLONG, -1;
    place->name[0] = '\0';
    if (!*overlay_scratch) {
        place->state = OVERLAY_PASSED;
        memcpy(place->name, rest, strlen(rest) + 1);
        return 0;
    }
    if (walk(place, rest, follow) < 0)
        return -1;
    snprintf(place->inside, sizeof(place->inside), "%s/files%s", overlay_scratch, place->name);
    return 0;
}

const char *overlay_path(const struct overlay_place *place)
{
    if (place->state == OVERLAY_REMOVED)
        return errno = ENOENT, NULL;
    return place->state == OVERLAY_INSIDE ? place->inside : place->name;
}

/* Calls act for each entry of a folder until it returns false. */
static bool each_entry(const char *path, bool (*act)(void *more, const struct dirent *entry), void *more)
{
    static DIR *(*open_folder)(int);
    int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    struct dirent *entry;
    bool all = true;
    DIR *folder;

    if (!open_folder)
        *(void **)&open_folder = dlsym(RTLD_NEXT, "fdopendir");
    folder = fd >= 0 ? open_folder(fd) : NULL;
    if (!folder)
        return true;
    while (all && (entry = readdir(folder)))
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            all = act(more, entry);
    closedir(folder);
    return all;
}

static bool remove_entry(void *more, const struct dirent *entry)
{
    char path[2 * REHEARSE_PATH];

    snprintf(path, sizeof(path), "%s/%s", (const char *)more, entry->d_name);
    syscall(SYS_symlinkat, REHEARSE_REMOVED, AT_FDCWD, path);
    return true;
}

static bool drop_entry(void *more, const struct dirent *entry)
{
    char path[2 * REHEARSE_PATH];

    snprintf(path, sizeof(path), "%s/%s", (const char *)more, entry->d_name);
    syscall(SYS_unlinkat, AT_FDCWD, path, 0);
    return true;
}

static bool stop(void *more, const struct dirent *entry)
{
    (void)more;
    (void)entry;
    return false;
}

/* A folder in the place of one that was removed: nothing of the old one is seen. */
static int make_again(const char *inside, const char *outside, mode_t mode)
{
    if (is_removed(inside))
        syscall(SYS_unlinkat, AT_FDCWD, inside, 0);
    if (syscall(SYS_mkdirat, AT_FDCWD, inside, mode) < 0)
        return -1;
    each_entry(outside, remove_entry, (void *)(uintptr_t)inside);
    return 0;
}

/* Makes the folders above a place in files/; notes those that are nowhere. */
static int make_above(struct overlay_place *place)
{
    struct stat status;
    char *name = place->name;
    char *inside = place->inside + (strlen(place->inside) - strlen(name));

    for (char *slash = strchr(inside + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        char *end = name + (slash - inside);
        int rc = 0;

        *slash = '\0';
        *end = '\0';
        if (is_removed(place->inside)) {
            overlay_note("folder", name);
            rc = make_again(place->inside, name, 0777);
        } else if (syscall(SYS_mkdirat, AT_FDCWD, place->inside, 0777) == 0 && !read_status(name, &status)) {
            overlay_note("folder", name);
        }
        *slash = '/';
        *end = '/';
        if (rc < 0)
            return -1;
    }
    return 0;
}

/* Copies a file of the machine; of a large one its beginning. */
static int copy(const struct overlay_place *place)
{
    char buffer[65536];
    struct stat status;
    ssize_t n;
    int from;
    int to;

    if (!read_status(place->name, &status))
        return -1;
    if (!S_ISREG(status.st_mode))
        return S_ISFIFO(status.st_mode) ? (int)syscall(SYS_mknodat, AT_FDCWD, place->inside, status.st_mode, 0) : 0;
    from = (int)syscall(SYS_openat, AT_FDCWD, place->name, O_RDONLY | O_CLOEXEC, 0);
    to = (int)syscall(SYS_openat, AT_FDCWD, place->inside, O_WRONLY | O_CREAT | O_CLOEXEC, status.st_mode | 0600);
    for (size_t size = 0; from >= 0 && to >= 0 && size < REHEARSE_COPY_MAX; size += (size_t)n) {
        n = read(from, buffer, sizeof(buffer));
        if (n <= 0 || write(to, buffer, (size_t)n) != n)
            break;
    }
    if (from >= 0)
        close(from);
    return to >= 0 ? close(to) : -1;
}

/* Whether the machine would let the script write. A read-only wall is no reason. */
static bool may_write(const struct overlay_place *place)
{
    char above[REHEARSE_PATH];
    struct stat status;

    memcpy(above, place->name, strlen(place->name) + 1);
    if (place->state != OVERLAY_OUTSIDE || S_ISLNK(read_status(above, &status) ? status.st_mode : 0))
        *(strrchr(above, '/') + (strrchr(above, '/') == above)) = '\0';
    return syscall(SYS_faccessat, AT_FDCWD, above, W_OK) == 0 || errno != EACCES;
}

const char *overlay_write(struct overlay_place *place, bool keep)
{
    if (place->state == OVERLAY_PASSED)
        return place->name;
    if (place->state != OVERLAY_INSIDE && !may_write(place))
        return NULL;
    if (make_above(place) < 0)
        return NULL;
    if (place->state == OVERLAY_REMOVED && is_removed(place->inside))
        syscall(SYS_unlinkat, AT_FDCWD, place->inside, 0);
    if (place->state == OVERLAY_OUTSIDE && keep && copy(place) < 0)
        return NULL;
    return place->inside;
}

int overlay_make_folder(struct overlay_place *place, mode_t mode)
{
    if (place->state == OVERLAY_PASSED)
        return (int)syscall(SYS_mkdirat, AT_FDCWD, place->name, mode);
    if (!may_write(place) || make_above(place) < 0)
        return -1;
    return make_again(place->inside, place->name, mode | 0700);
}

int overlay_remove(struct overlay_place *place, int flags)
{
    struct stat status;
    bool is_outside = read_status(place->name, &status);
    const char *path = overlay_path(place);
    bool is_folder;

    if (place->state == OVERLAY_PASSED)
        return (int)syscall(SYS_unlinkat, AT_FDCWD, path, flags);
    if (!path || !read_status(path, &status))
        return -1;
    is_folder = S_ISDIR(status.st_mode);
    if (is_folder != !!(flags & AT_REMOVEDIR))
        return errno = is_folder ? EISDIR : ENOTDIR, -1;
    place->state = place->state == OVERLAY_OUTSIDE ? OVERLAY_ABSENT : place->state;
    if (!may_write(place))
        return -1;
    if (is_folder) {
        struct overlay_place list = *place;

        if (place->state == OVERLAY_ABSENT)
            list.state = OVERLAY_OUTSIDE;
        if (!each_entry(overlay_list(&list), stop, NULL))
            return errno = ENOTEMPTY, -1;
        each_entry(place->inside, drop_entry, place->inside);
    }
    if (place->state == OVERLAY_INSIDE && syscall(SYS_unlinkat, AT_FDCWD, place->inside, flags) < 0)
        return -1;
    if (!is_outside)
        return 0;
    return make_above(place) < 0 ? -1 : (int)syscall(SYS_symlinkat, REHEARSE_REMOVED, AT_FDCWD, place->inside);
}

struct merge {
    const char *inside;
    char *list;
    unsigned count;
    bool from_inside;
};

/* What an entry is like, not what is in it. */
static bool merge_entry(void *more, const struct dirent *entry)
{
    struct merge *merge = more;
    char path[2 * REHEARSE_PATH];
    struct stat status;

    if (++merge->count > REHEARSE_LIST_MAX)
        return false;
    snprintf(path, sizeof(path), "%s/%s", merge->inside, entry->d_name);
    if (merge->from_inside ? is_removed(path) : read_status(path, &status))
        return true;
    snprintf(path, sizeof(path), "%s/%s", merge->list, entry->d_name);
    if (entry->d_type == DT_DIR)
        syscall(SYS_mkdirat, AT_FDCWD, path, 0700);
    else if (entry->d_type == DT_LNK)
        syscall(SYS_symlinkat, ".", AT_FDCWD, path);
    else
        syscall(SYS_mknodat, AT_FDCWD, path, S_IFREG | 0600, 0);
    return true;
}

const char *overlay_list(struct overlay_place *place)
{
    char list[2 * REHEARSE_PATH];
    struct merge merge = { .inside = place->inside, .list = list, .from_inside = true };
    size_t start;

    if (place->state != OVERLAY_INSIDE)
        return overlay_path(place);
    start = (size_t)snprintf(list, sizeof(list), "%s/lists/%u", overlay_scratch,
                             atomic_fetch_add(&overlay_bounds->lists, 1));
    if ((size_t)snprintf(list + start, sizeof(list) - start, "%s", place->name) >= sizeof(place->inside) - start)
        return errno = ENAMETOOLONG, NULL;
    for (char *slash = list + start; slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        syscall(SYS_mkdirat, AT_FDCWD, list, 0700);
        *slash = '/';
    }
    syscall(SYS_mkdirat, AT_FDCWD, list, 0700);
    each_entry(place->inside, merge_entry, &merge);
    merge.from_inside = false;
    each_entry(place->name, merge_entry, &merge);
    memcpy(place->inside, list, strlen(list) + 1);
    return place->inside;
}
