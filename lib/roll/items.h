/* SPDX-License-Identifier: BSD-3-Clause */
/* items.h - what a node has, by kinds that are compared. */
#pragma once

#include "base/text.h"

/* What a node has, in its entry: lines has=NAME VALUE, for the comparison of nodes (items.def).
 *
 * The lines are consecutive, so that an entry holds them all in one slice. A name
 * that is not known is skipped. Pure: reads the text, writes the caller's arena. */

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

/* Takes the line with `value`, what follows has=, into *lines, the slice of all of them. False, with *lines
 * untouched, for what is no item, for one that was there, and for lines that are not consecutive. */
bool rc_items_take(struct rc_str *lines, struct rc_str value);

/* Takes a known item off lines that rc_items_take has taken. False at the end. */
bool rc_items_next(struct rc_str *lines, enum rc_item *item, struct rc_str *value);

/* The value of one item in such lines; absent where it is not there. */
struct rc_str rc_items_value(struct rc_str lines, enum rc_item item);
