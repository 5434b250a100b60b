/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "inventory/files.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "system/file.h"

bool rc_files_join(const char *root, const char *folder, const char *name, char path[RC_FILES_PATH])
{
    struct rc_arena arena = { .base = path, .size = RC_FILES_PATH };

    rc_format(&arena, *name ? "%s%s/%s" : "%s%s", root, folder, name);
    return !arena.full;
}

size_t rc_files_read(const char *root, const char *folder, const char *name, char *text, size_t size)
{
    char path[RC_FILES_PATH];

    return rc_files_join(root, folder, name, path) ? rc_file_read(path, text, size) : 0;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

struct rc_str rc_files_trim(struct rc_str text)
{
    while (text.n > 0 && is_blank(text.p[0]))
        text = (struct rc_str){ text.p + 1, text.n - 1 };
    while (text.n > 0 && is_blank(text.p[text.n - 1]))
        text.n--;
    return text;
}

bool rc_files_next_line(struct rc_str *text, struct rc_str *line)
{
    if (!text->p)
        return false;
    *line = rc_files_trim(rc_str_split(*text, '\n', text));
    return true;
}

struct rc_str rc_files_line(const char *root, const char *folder, const char *name, char line[RC_FILES_LINE])
{
    struct rc_str text = { line, rc_files_read(root, folder, name, line, RC_FILES_LINE) };
    struct rc_str first;

    return text.n > 0 && rc_files_next_line(&text, &first) && first.n > 0 ? first : RC_ABSENT;
}

struct rc_str rc_files_link(const char *root, const char *folder, const char *name, char path[RC_FILES_PATH])
{
    char from[RC_FILES_PATH];
    ssize_t n = rc_files_join(root, folder, name, from) ? readlink(from, path, RC_FILES_PATH) : -1;

    return n > 0 && n < RC_FILES_PATH ? (struct rc_str){ path, (size_t)n } : RC_ABSENT;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(a, b);
}

unsigned rc_files_list(const char *root, const char *folder, unsigned max, char name[][RC_FILES_NAME])
{
    char path[RC_FILES_PATH];
    DIR *all = rc_files_join(root, folder, "", path) ? opendir(path) : NULL;
    unsigned count = 0;

    if (!all)
        return 0;
    for (const struct dirent *entry; count < max && (entry = readdir(all));) {
        size_t n = strlen(entry->d_name);

        if (entry->d_name[0] != '.' && n < RC_FILES_NAME)
            memcpy(name[count++], entry->d_name, n + 1);
    }
    closedir(all);
    qsort(name, count, RC_FILES_NAME, compare_names);
    return count;
}
