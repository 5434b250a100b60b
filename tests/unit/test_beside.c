/* SPDX-License-Identifier: BSD-3-Clause */
/* What was installed beside a program or library: names, and this very program. */
#include "system/node.h"
#include "unit.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>

static const struct {
    struct rc_str input; /* the file */
    const char *relative;
    const char *there; /* NULL: nowhere */
    const char *why;
} steps[] = {
    { TEXT("/opt/r/bin/rollcall"), "../share/rollcall/watch", "/opt/r/share/rollcall/watch", "one folder up" },
    { TEXT("/opt/r/lib/slurm/rollcall.so"), "../../share/w", "/opt/r/share/w", "two folders up" },
    { TEXT("/opt/r/lib/slurm/rollcall.so (deleted)"), "../../share/w", "/opt/r/share/w", "replaced while in use" },
    { TEXT("/usr/lib/x.so"), "../../share/w", "/share/w", "up to the root" },
    { TEXT("/usr/lib/x.so"), "../../../share/w", NULL, "beyond the root" },
    { TEXT("/x.so"), "share/w", "/share/w", "in the root" },
    { TEXT("/a b/c/x.so"), "../w", "/a b/w", "with a blank" },
    { TEXT("x.so"), "w", NULL, "a file without a folder" },
    { TEXT(""), "w", NULL, "no file" },
    { NO_TEXT, "w", NULL, "not known" },
};

UNIT_ROWS(goes, "from", steps)
{
    char *path = unit_guard_memory(64);
    struct rc_str there = rc_beside(unit_guard(row->input), unit_guard_string(row->relative), path, 64);

    if (row->there)
        assert_string_equal(there.p, row->there);
    else
        assert_null(there.p);
}

UNIT_TEST(needs_room, "a path that does not fit is none")
{
    static const char there[] = "/opt/r/w";

    for (size_t size = 1; size <= sizeof(there); size++) {
        struct rc_str found = rc_beside(RC_STR("/opt/r/bin/x"), "../w", unit_guard_memory(size), size);

        assert_int_equal(found.p != NULL, size == sizeof(there));
    }
}

/* The folder of this program, as the kernel names it. */
static void own_folder(char folder[PATH_MAX])
{
    ssize_t n = readlink("/proc/self/exe", folder, PATH_MAX - 1);

    assert_true(n > 0);
    folder[n] = '\0';
    *strrchr(folder, '/') = '\0';
}

UNIT_TEST(finds_itself, "the folder of the watch, beside this program")
{
    char folder[PATH_MAX], module[PATH_MAX + 128], name[64], path[PATH_MAX];
    struct rc_str found;
    int n, fd;

    own_folder(folder);
    snprintf(name, sizeof(name), "beside-%d", (int)getpid());
    assert_null(rc_beside_watch(NULL, path, sizeof(path)).p);
    assert_null(rc_beside_watch(name, path, sizeof(path)).p);
    snprintf(module, sizeof(module), "%s/%s", folder, name);
    assert_int_equal(mkdir(module, 0700), 0);
    assert_null(rc_beside_watch(name, path, sizeof(path)).p);
    n = snprintf(module, sizeof(module), "%s/%s/rollcall_watch.py", folder, name);
    assert_in_range(n, 1, sizeof(module) - 1);
    fd = open(module, O_CREAT | O_WRONLY, 0600);
    assert_true(fd >= 0);
    close(fd);
    assert_string_equal(rc_beside_file(name, "rollcall_watch.py", path, sizeof(path)).p, module);
    assert_null(rc_beside_file(name, "rollcall_watch.py", path, 16).p);
    found = rc_beside_watch(name, path, sizeof(path));
    unlink(module);
    *strrchr(module, '/') = '\0';
    rmdir(module);
    assert_string_equal(found.p, module);
}

/* Folders that LD_PRELOAD cannot hold. */
UNIT_TEST(finds_a_library, "a library, where LD_PRELOAD can hold its name")
{
    static const struct {
        const char *more;
        bool good;
    } rows[] = { { "", true }, { ":", false }, { " ", false }, { "$LIB", false } };
    char folder[PATH_MAX], file[PATH_MAX + 128], path[PATH_MAX];

    own_folder(folder);
    assert_null(rc_beside_library(NULL, "librollcall-lookup.so", path, sizeof(path)).p);
    for (size_t i = 0; i < UNIT_COUNT(rows); i++) {
        char name[64];
        struct rc_str found;
        int n, fd;

        snprintf(name, sizeof(name), "library-%d%s", (int)getpid(), rows[i].more);
        snprintf(file, sizeof(file), "%s/%s", folder, name);
        assert_int_equal(mkdir(file, 0700), 0);
        assert_null(rc_beside_library(name, "librollcall-lookup.so", path, sizeof(path)).p);
        n = snprintf(file, sizeof(file), "%s/%s/librollcall-lookup.so", folder, name);
        assert_in_range(n, 1, sizeof(file) - 1);
        fd = open(file, O_CREAT | O_WRONLY, 0600);
        assert_true(fd >= 0);
        close(fd);
        found = rc_beside_library(name, "librollcall-lookup.so", path, sizeof(path));
        unlink(file);
        if (rows[i].good)
            assert_string_equal(found.p, file);
        else
            assert_null(found.p);
        *strrchr(file, '/') = '\0';
        rmdir(file);
    }
}
