/* SPDX-License-Identifier: BSD-3-Clause */
/* items.h - what a node has, by kinds that are compared (items.def). In its entry they are lines has=NAME VALUE. */
#pragma once

#include "base/text.h"

enum { RC_ITEM_VALUE_MAX = 255 }; /* bytes; a longer one is cut when it is written */

enum rc_item {
#define ROLLCALL_ITEM(name, compared, words) RC_ITEM_##name,
#include "roll/items.def"
#undef ROLLCALL_ITEM
    RC_ITEMS
};

enum rc_compared {
    RC_COMPARED_EXACTLY,
    RC_COMPARED_OR_NONE,
    RC_COMPARED_ROUGHLY,
    RC_COMPARED_PER_TASKS,
    RC_COMPARED_PER_GPUS,
    RC_COMPARED_PER_NICS,
    RC_COMPARED_WITHIN,
};

struct rc_item_row {
    const char *name;
    enum rc_compared compared;
    const char *words;
};

const struct rc_item_row *rc_item_row(enum rc_item item);

/* RC_ITEMS for a name that is not known. */
enum rc_item rc_item_find(struct rc_str name);

/* Writes one line; what is not printable ASCII becomes `?`. An absent or empty value gets no line. */
void rc_item_put(struct rc_arena *arena, enum rc_item item, struct rc_str value);
