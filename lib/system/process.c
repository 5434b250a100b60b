/* SPDX-License-Identifier: BSD-3-Clause */
#include "system/process.h"

#include "base/numbers.h"
#include "base/text.h"
#include "system/file.h"

enum { PATH_SIZE = 48, STAT_SIZE = 512 };

static size_t read_proc(uint32_t pid, const char *file, char *buffer, size_t size)
{
    char path[PATH_SIZE];
    struct rc_arena arena = { .base = path, .size = sizeof(path) };

    rc_format(&arena, "/proc/%u/%s", pid, file);
    return rc_file_read(path, buffer, size);
}

/* "42 (a) b) S 17 ...": the program's name may hold blanks and brackets. */
uint32_t rc_process_parent(uint32_t pid)
{
    char text[STAT_SIZE];
    struct rc_str rest = { text, read_proc(pid, "stat", text, sizeof(text)) };
    struct rc_str behind_name = rest;
    uint32_t parent;

    while (rest.p) {
        rc_str_split(rest, ')', &rest);
        if (rest.p)
            behind_name = rest;
    }
    /* an empty word before the first blank, then the state */
    rc_str_split(behind_name, ' ', &behind_name);
    rc_str_split(behind_name, ' ', &behind_name);
    return rc_parse_u32(rc_str_split(behind_name, ' ', &behind_name), UINT32_MAX - 1, &parent) ? parent : 0;
}

size_t rc_process_command(uint32_t pid, char *buffer, size_t size)
{
    return read_proc(pid, "cmdline", buffer, size);
}
