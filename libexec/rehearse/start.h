/* SPDX-License-Identifier: BSD-3-Clause */
/* start.h - what a rehearsal starts in the place of a program.
 *
 * A program of `programs` starts as it is, a script whose first line names a shell starts with that shell, and every
 * other program becomes the stand-in, whether it exists or not. Each has the hook, whatever environment it was given.
 */
#pragma once

#include "overlay.h"

enum { REHEARSE_HEAD = 256, REHEARSE_WORDS = 16 };

struct rehearse_start {
    char *memory; /* of the words, the environment and their texts */
    size_t size;
    size_t used;
    const char *path;
    char **argv;
    char **env;
    struct overlay_place place;
    char head[REHEARSE_HEAD + 1];
    char shell[REHEARSE_PATH];
};

/* Find what starts for a path. Return 0; rehearse_start_end() frees it. Or return -1 with errno set. */
int rehearse_start_prepare(struct rehearse_start *start, const char *path, char *const *argv, char *const *envp);

/* Keep errno. */
void rehearse_start_end(struct rehearse_start *start);

/* Write the path of the first executable file of that name in PATH, or REHEARSE_NOT_FOUND and the name. */
void rehearse_start_find(const char *name, char *path, size_t size);

static inline size_t rehearse_count(char *const *list)
{
    size_t n = 0;

    while (list && list[n])
        n++;
    return n;
}
