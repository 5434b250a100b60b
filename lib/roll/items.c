/* SPDX-License-Identifier: BSD-3-Clause */
#include "roll/items.h"

#include "base/pairs.h"
#include "base/text.h"

#define PREFIX "has="

enum { PREFIX_SIZE = sizeof(PREFIX) - 1 };

static const struct rc_item_row rows[] = {
#define ROLLCALL_ITEM(name, compared, words) { #name, RC_COMPARED_##compared, words },
#include "roll/items.def"
#undef ROLLCALL_ITEM
};

const struct rc_item_row *rc_item_row(enum rc_item item)
{
    return &rows[item];
}

enum rc_item rc_item_find(struct rc_str name)
{
    unsigned item = 0;

    while (item < RC_ITEMS && !rc_str_is(name, rows[item].name))
        item++;
    return (enum rc_item)item;
}

void rc_item_put(struct rc_arena *arena, enum rc_item item, struct rc_str value)
{
    if (!value.p || value.n == 0)
        return;
    rc_format(arena, PREFIX "%s ", rows[item].name);
    rc_join(arena);
    rc_pairs_put_value(arena, value, RC_ITEM_VALUE_MAX);
}

bool rc_items_next(struct rc_str *lines, enum rc_item *item, struct rc_str *value)
{
    struct rc_str prefix;
    struct rc_str line;

    while (lines->n > 0 && rc_pair_next(lines, '\n', &prefix, &line)) {
        *item = rc_item_find(rc_str_split(line, ' ', value));
        if (*item < RC_ITEMS)
            return true;
    }
    return false;
}

struct rc_str rc_items_value(struct rc_str lines, enum rc_item item)
{
    enum rc_item other;
    struct rc_str value;

    while (rc_items_next(&lines, &other, &value))
        if (other == item)
            return value;
    return RC_ABSENT;
}

bool rc_items_take(struct rc_str *lines, struct rc_str value)
{
    struct rc_str text;
    struct rc_str name = rc_str_split(value, ' ', &text);
    enum rc_item item = rc_item_find(name);

    if (name.n == 0 || !text.p || text.n == 0 || text.n > RC_ITEM_VALUE_MAX)
        return false;
    if (!lines->p)
        *lines = (struct rc_str){ value.p - PREFIX_SIZE, 0 };
    else if (lines->p + lines->n != value.p - PREFIX_SIZE || (item < RC_ITEMS && rc_items_value(*lines, item).p))
        return false;
    lines->n += PREFIX_SIZE + value.n + 1;
    return true;
}
