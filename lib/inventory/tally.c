/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "inventory/tally.h"

#include <stdlib.h>
#include <string.h>

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
    const char *text = rc_format(arena, "");

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
