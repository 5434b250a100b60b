/* SPDX-License-Identifier: BSD-3-Clause */
#include "exclude.h"

#include <stdlib.h>

#include "base/compact.h"

/* So many names are shorter without brackets, which some shells take for a pattern. */
enum { PLAIN_MAX = 8 };

static int by_name(const void *a, const void *b)
{
    return rc_compact_order(*(const struct rc_str *)a, *(const struct rc_str *)b);
}

static size_t keep_one_each(struct rc_str *name, size_t count)
{
    size_t kept = 0;

    for (size_t i = 0; i < count; i++)
        if (kept == 0 || !rc_str_eq(name[kept - 1], name[i]))
            name[kept++] = name[i];
    return kept;
}

/* Names that rc_compact_hosts would cut stand by themselves. */
static bool are_short(const struct rc_str *name, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (name[i].n > RC_COMPACT_NAME_MAX)
            return false;
    return true;
}

static void write_list(const struct rc_str *name, size_t count, struct rc_arena *arena)
{
    if (count > PLAIN_MAX && are_short(name, count)) {
        rc_compact_hosts(name, count, arena->size, arena);
        return;
    }
    rc_format(arena, "");
    for (size_t i = 0; i < count; i++) {
        rc_join(arena);
        rc_format(arena, "%s%S", i ? "," : "", &name[i]);
    }
}

/* finding: NULL for all of them. */
static char *make_list(const struct rc_blame *blame, const unsigned *finding)
{
    struct rc_str *name = calloc(blame->count + 1, sizeof(*name));
    struct rc_arena arena = { .size = 1 };
    size_t count = 0;

    for (size_t i = 0; name && i < blame->count; i++) {
        if (finding && blame->list[i].finding != *finding)
            continue;
        name[count++] = rc_str(blame->list[i].name);
        arena.size += name[count - 1].n + sizeof("[],");
    }
    if (name && (arena.base = malloc(arena.size))) {
        qsort(name, count, sizeof(*name), by_name);
        write_list(name, keep_one_each(name, count), &arena);
    }
    free(name);
    return arena.base;
}

char *cli_exclude_list(const struct rc_blame *blame)
{
    return make_list(blame, NULL);
}

char *cli_exclude_of(const struct rc_blame *blame, unsigned finding)
{
    return make_list(blame, &finding);
}
