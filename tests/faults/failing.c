/* SPDX-License-Identifier: BSD-3-Clause */
/* failing.c - preloaded, lets one allocation of a program fail: the FAIL_AT-th, from 1 on. With FAIL_AT=0 none fails,
 * and their number goes to the file FAIL_COUNT. Children inherit neither. */
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

static atomic_long count;
static long fail_at = -1;

__attribute__((constructor)) static void begin(void)
{
    const char *at = getenv("FAIL_AT");

    fail_at = at ? atol(at) : -1;
    unsetenv("FAIL_AT");
    unsetenv("LD_PRELOAD");
    atomic_store(&count, 0);
}

__attribute__((destructor)) static void end(void)
{
    const char *path = getenv("FAIL_COUNT");
    FILE *file = fail_at == 0 && path ? fopen(path, "w") : NULL;

    if (file) {
        fprintf(file, "%ld\n", (long)atomic_load(&count));
        fclose(file);
    }
}

static int fails(void)
{
    if (fail_at < 0 || atomic_fetch_add(&count, 1) + 1 != fail_at)
        return 0;
    errno = ENOMEM;
    return 1;
}

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *memory, size_t size);

void *malloc(size_t size)
{
    return fails() ? NULL : __libc_malloc(size);
}

void *calloc(size_t members, size_t size)
{
    return fails() ? NULL : __libc_calloc(members, size);
}

void *realloc(void *memory, size_t size)
{
    return fails() ? NULL : __libc_realloc(memory, size);
}
