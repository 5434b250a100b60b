/* SPDX-License-Identifier: BSD-3-Clause */
#include "system/node.h"

#include "system/sys.h"

size_t rc_file_read(const char *path, char *buffer, size_t size)
{
    long fd = rc_sys_open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    size_t used = 0;
    long n = 0;

    if (fd < 0)
        return 0;
    while (used < size && (n = rc_sys_read((int)fd, buffer + used, size - used)) > 0)
        used += (size_t)n;
    rc_sys_close((int)fd);
    return n < 0 ? 0 : used;
}

bool rc_file_lines(const char *path, char *buffer, size_t size, rc_file_line *take, void *more)
{
    long fd = rc_sys_open(path, O_RDONLY | O_CLOEXEC);
    bool taken = false;
    size_t used = 0;
    long n;

    if (fd < 0)
        return false;
    while (!taken && (n = rc_sys_read((int)fd, buffer + used, size - used)) > 0) {
        struct rc_str rest = { buffer, used + (size_t)n };
        struct rc_str line = rc_str_split(rest, '\n', &rest);

        for (; rest.p && !taken; line = rc_str_split(rest, '\n', &rest))
            taken = take(line, more);
        used = taken ? 0 : line.n;
        for (size_t i = 0; i < used; i++)
            buffer[i] = line.p[i];
    }
    rc_sys_close((int)fd);
    return taken;
}

uint64_t rc_hexadecimal(struct rc_str text)
{
    uint64_t number = 0;

    for (size_t i = 0; i < text.n; i++) {
        char c = text.p[i] | 0x20; /* lower case */

        number = number << 4 | (uint64_t)(c <= '9' ? c - '0' : c - 'a' + 10);
    }
    return number;
}

enum { PATH_SIZE = 48, STAT_SIZE = 512 };

static size_t read_proc(uint32_t pid, const char *file, char *buffer, size_t size)
{
    char path[PATH_SIZE];
    struct rc_arena arena = { .base = path, .size = sizeof(path) };

    rc_format(&arena, "/proc/%u/%s", pid, file);
    return rc_file_read(path, buffer, size);
}

/* "42 (a) b) S 17 ...": the name may contain blanks and parentheses. */
uint32_t rc_process_parent(uint32_t pid)
{
    char text[STAT_SIZE];
    struct rc_str rest;
    uint32_t parent;

    rc_str_split_last((struct rc_str){ text, read_proc(pid, "stat", text, sizeof(text)) }, ')', &rest);
    rc_str_split(rest, ' ', &rest);
    rc_str_split(rest, ' ', &rest);
    return rc_parse_u32(rc_str_split(rest, ' ', &rest), UINT32_MAX - 1, &parent) ? parent : 0;
}

size_t rc_process_command(uint32_t pid, char *buffer, size_t size)
{
    return read_proc(pid, "cmdline", buffer, size);
}

const char *rc_node_name(char name[RC_NODE_NAME_SIZE])
{
    struct utsname uts = { .nodename = "" };
    size_t n = 0;

    _Static_assert(sizeof(uts.nodename) == RC_NODE_NAME_SIZE, "as Linux has it");
    if (rc_sys_uname(&uts) < 0)
        uts.nodename[0] = '\0';
    do
        name[n] = uts.nodename[n];
    while (name[n++]);
    return name;
}

uint32_t rc_node_gpus(void)
{
    enum { GPUS_MAX = 64 };
    uint32_t count = 0;

    if (rc_sys_access("/dev", R_OK) < 0)
        return RC_UNKNOWN;
    for (uint32_t i = 0; i < GPUS_MAX; i++) {
        char path[PATH_SIZE];
        struct rc_arena arena = { .base = path, .size = sizeof(path) };

        count += rc_sys_access(rc_format(&arena, "/dev/nvidia%u", i), F_OK) == 0;
    }
    return count;
}

bool rc_affinity_get(struct rc_cpuset *set)
{
    struct rc_cpuset read = { .word = { 0 } };

    /* returns the number of bytes written */
    if (rc_sys_getaffinity(&read, sizeof(read)) <= 0)
        return false;
    *set = read;
    return true;
}

bool rc_affinity_set(const struct rc_cpuset *set)
{
    return rc_sys_setaffinity(set, sizeof(*set)) >= 0;
}

bool rc_affinity_widest(struct rc_cpuset *set)
{
    struct rc_cpuset before;
    struct rc_cpuset widest;
    struct rc_cpuset all;
    bool known;

    if (!rc_affinity_get(&before))
        return false;
    for (unsigned i = 0; i < sizeof(all.word) / sizeof(*all.word); i++)
        all.word[i] = UINT64_MAX;
    known = rc_affinity_set(&all) && rc_affinity_get(&widest);
    if (!rc_affinity_set(&before) || !known)
        return false;
    *set = widest;
    return true;
}

enum { LINE_SIZE = 4096 + 128 }; /* of a part of /proc/self/maps */

struct mapping {
    uintptr_t address;
    struct rc_str file;
};

/* "7f00-7f10 r-xp 00000000 08:01 1234      /usr/lib/x.so" */
static bool take_mapping(struct rc_str line, void *more)
{
    struct mapping *mapping = more;
    struct rc_str end;
    struct rc_str rest;
    uint64_t first = rc_hexadecimal(rc_str_split(line, '-', &end));

    if (mapping->address < first || mapping->address >= rc_hexadecimal(rc_str_split(end, ' ', &rest)))
        return false;
    rc_str_split(rest, '/', &end);
    if (end.p)
        mapping->file = (struct rc_str){ end.p - 1, end.n + 1 };
    return true;
}

/* Return this function's file; its name is in `buffer`. */
static struct rc_str own_file(char *buffer, size_t size)
{
    struct mapping own = { .address = (uintptr_t)&own_file };

    rc_file_lines("/proc/self/maps", buffer, size, take_mapping, &own);
    return own.file;
}

static struct rc_str folder_of(struct rc_str path)
{
    struct rc_str name;
    struct rc_str folder = rc_str_split_last(path, '/', &name);

    return name.p ? folder : RC_ABSENT;
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
    rc_format(&arena, "%pS/%pS", &folder, &rest);
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

/* Return the file if it is readable and without these characters. */
static struct rc_str file_without(const char *characters, const char *relative, const char *name, char *path,
                                  size_t size)
{
    struct rc_str file = relative ? rc_beside_file(relative, name, path, size) : RC_ABSENT;
    struct rc_str after = RC_ABSENT;

    for (; file.p && *characters && !after.p; characters++)
        rc_str_split(file, *characters, &after);
    return file.p && !after.p && rc_sys_access(path, R_OK) == 0 ? file : RC_ABSENT;
}

struct rc_str rc_beside_watch(const char *relative, char *path, size_t size)
{
    struct rc_str folder = folder_of(file_without(":", relative, "rollcall_watch.py", path, size));

    if (folder.p)
        path[folder.n] = '\0';
    return folder;
}

struct rc_str rc_beside_library(const char *relative, const char *name, char *path, size_t size)
{
    return file_without(": $", relative, name, path, size);
}
