/* SPDX-License-Identifier: BSD-3-Clause */
#include "system/beside.h"

#include "system/sys.h"

enum { LINE_SIZE = 4096 + 128 }; /* size of a piece of /proc/self/maps */

static unsigned hexadecimal_digit(char c)
{
    return c >= '0' && c <= '9' ? (unsigned)(c - '0') : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10 : 16;
}

static uintptr_t read_address(struct rc_str text)
{
    uintptr_t address = 0;

    for (size_t i = 0; i < text.n && hexadecimal_digit(text.p[i]) < 16; i++)
        address = address << 4 | hexadecimal_digit(text.p[i]);
    return address;
}

/* "7f00-7f10 r-xp 00000000 08:01 1234      /usr/lib/x.so": the file's name, if
 * the address is in there. */
static struct rc_str mapped_file(struct rc_str line, uintptr_t address)
{
    struct rc_str end;
    struct rc_str rest;
    uintptr_t first = read_address(rc_str_split(line, '-', &end));

    if (!end.p || address < first || address >= read_address(rc_str_split(end, ' ', &rest)))
        return RC_ABSENT;
    rc_str_split(rest, '/', &end);
    return end.p ? (struct rc_str){ end.p - 1, end.n + 1 } : RC_ABSENT;
}

/* The file that this function is in; its name is in buffer. */
static struct rc_str own_file(char *buffer, size_t size)
{
    uintptr_t address = (uintptr_t)&own_file;
    struct rc_str file = RC_ABSENT;
    long fd = rc_sys_open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    size_t used = 0;
    long n;

    if (fd < 0)
        return RC_ABSENT;
    while (!file.p && (n = rc_sys_read((int)fd, buffer + used, size - used)) > 0) {
        struct rc_str rest = { buffer, used + (size_t)n };

        for (;;) {
            struct rc_str behind;
            struct rc_str line = rc_str_split(rest, '\n', &behind);

            if (!behind.p)
                break;
            if ((file = mapped_file(line, address)).p)
                break;
            rest = behind;
        }
        /* keeps the beginning of a line until its end is read */
        used = file.p ? 0 : rest.n;
        for (size_t i = 0; i < used; i++)
            buffer[i] = rest.p[i];
    }
    rc_sys_close((int)fd);
    return file;
}

/* The path up to its last slash, without it. */
static struct rc_str folder_of(struct rc_str path)
{
    size_t n = path.n;

    while (n > 0 && path.p[n - 1] != '/')
        n--;
    return n > 0 ? (struct rc_str){ path.p, n - 1 } : RC_ABSENT;
}

struct rc_str rc_beside(struct rc_str file, const char *relative, char *path, size_t size)
{
    struct rc_arena arena = { .base = path, .size = size };
    struct rc_str folder = folder_of(file);
    struct rc_str rest = rc_str(relative);

    for (; rc_str_starts(rest, "../"); rest = (struct rc_str){ rest.p + 3, rest.n - 3 })
        folder = folder_of(folder);
    if (!folder.p)
        return RC_ABSENT;
    rc_format(&arena, "%S/%S", &folder, &rest);
    return arena.full ? RC_ABSENT : rc_str(path);
}

struct rc_str rc_beside_file(const char *relative, const char *name, char *path, size_t size)
{
    char buffer[LINE_SIZE];
    struct rc_str folder = rc_beside(own_file(buffer, sizeof(buffer)), relative, path, size);
    struct rc_arena arena = { .base = path, .size = size, .used = folder.n };

    if (!folder.p)
        return RC_ABSENT;
    rc_format(&arena, "/%s", name);
    return arena.full ? RC_ABSENT : rc_str(path);
}

static bool can_be_read(const char *path)
{
    long fd = rc_sys_open(path, O_RDONLY | O_CLOEXEC);

    if (fd >= 0)
        rc_sys_close((int)fd);
    return fd >= 0;
}

static bool has_character(struct rc_str text, char character)
{
    struct rc_str behind;

    rc_str_split(text, character, &behind);
    return behind.p != NULL;
}

struct rc_str rc_beside_watch(const char *relative, char *path, size_t size)
{
    char module[4096];
    struct rc_arena arena = { .base = module, .size = sizeof(module) };
    char buffer[LINE_SIZE];
    struct rc_str folder = relative ? rc_beside(own_file(buffer, sizeof(buffer)), relative, path, size) : RC_ABSENT;

    if (!folder.p || has_character(folder, ':'))
        return RC_ABSENT;
    rc_format(&arena, "%S/rollcall_watch.py", &folder);
    return arena.full || !can_be_read(module) ? RC_ABSENT : folder;
}

struct rc_str rc_beside_library(const char *relative, const char *name, char *path, size_t size)
{
    struct rc_str file = relative ? rc_beside_file(relative, name, path, size) : RC_ABSENT;

    return !file.p || has_character(file, ':') || has_character(file, ' ') || has_character(file, '$') ||
                   !can_be_read(path)
               ? RC_ABSENT
               : file;
}
