/* SPDX-License-Identifier: BSD-3-Clause */
#include "roll/items.h"

#include "base/pairs.h"

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
    if (value.n == 0)
        return;
    rc_format(arena, "has=%s ", rows[item].name);
    rc_join(arena);
    rc_pairs_put_value(arena, value, RC_ITEM_VALUE_MAX);
}
