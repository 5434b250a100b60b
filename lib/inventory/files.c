/* SPDX-License-Identifier: BSD-3-Clause */
/* files.c - read, list and count files; never blocks on a FIFO. */
#include "config.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "inventory/inventory.h"
#include "system/node.h"

static const char *root;

void rc_files_begin(const char *folder)
{
    root = folder;
}

const char *rc_files_path(const char *format, ...)
{
    static char path[RC_FILES_PATH];
    struct rc_arena arena = { .base = path, .size = sizeof(path) };
    va_list args;

    rc_format(&arena, "%s", root);
    rc_join(&arena);
    va_start(args, format);
    rc_format_list(&arena, format, args);
    va_end(args);
    return arena.full ? "" : path;
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

struct rc_str rc_files_line(const char *path, struct rc_arena *arena)
{
    char line[RC_FILES_LINE];
    struct rc_str text = { line, rc_file_read(path, line, sizeof(line)) };
    struct rc_str first = rc_files_trim(rc_str_split(text, '\n', &text));

    return first.n > 0 ? rc_str(rc_copy(arena, first)) : RC_ABSENT;
}

struct rc_str rc_files_link(const char *path, struct rc_arena *arena)
{
    char target[RC_FILES_PATH];
    ssize_t n = readlink(path, target, sizeof(target));

    return n > 0 && n < RC_FILES_PATH ? rc_str(rc_copy(arena, rc_str_base_name((struct rc_str){ target, (size_t)n })))
                                      : RC_ABSENT;
}

unsigned rc_files_list(const char *path, char name[RC_FILES_MAX][RC_FILES_NAME])
{
    DIR *all = opendir(path);
    unsigned count = 0;

    if (!all)
        return 0;
    for (const struct dirent *entry; count < RC_FILES_MAX && (entry = readdir(all));) {
        size_t n = strlen(entry->d_name);

        if (entry->d_name[0] != '.' && n < RC_FILES_NAME)
            memcpy(name[count++], entry->d_name, n + 1);
    }
    closedir(all);
    return count;
}

void rc_tally_add(struct rc_tally *tally, struct rc_str text)
{
    struct rc_tally_kind *kind = tally->kind;
    struct rc_tally_kind *end = kind + tally->kinds;

    if (text.n >= RC_TALLY_TEXT)
        text.n = RC_TALLY_TEXT - 1;
    while (kind < end && !rc_str_is(text, kind->text))
        kind++;
    if (kind == tally->kind + RC_TALLY_KINDS) {
        tally->others++;
        return;
    }
    if (kind == end) {
        tally->kinds++;
        kind->count = 0;
        memcpy(kind->text, text.p, text.n);
        kind->text[text.n] = '\0';
    }
    kind->count++;
}

static int compare_kinds(const void *a, const void *b)
{
    const struct rc_tally_kind *left = a;
    const struct rc_tally_kind *right = b;

    return left->count == right->count ? strcmp(left->text, right->text) : (left->count < right->count) * 2 - 1;
}

struct rc_str rc_tally_write(struct rc_tally *tally, struct rc_arena *arena)
{
    const char *text = rc_copy(arena, RC_STR(""));

    if (tally->kinds == 0 || arena->full)
        return RC_ABSENT;
    qsort(tally->kind, tally->kinds, sizeof(tally->kind[0]), compare_kinds);
    for (unsigned i = 0; i < tally->kinds; i++) {
        rc_join(arena);
        rc_format(arena, "%s%u %s", i ? ", " : "", tally->kind[i].count, tally->kind[i].text);
    }
    if (tally->others) {
        rc_join(arena);
        rc_format(arena, ", %u others", tally->others);
    }
    return arena->full ? RC_ABSENT : rc_str(text);
}
