/* SPDX-License-Identifier: BSD-3-Clause */
/* pairs.h - texts of NAME=VALUE: one reader and one writer for all that rollcall's nodes and programs tell each other.
 *
 * A table of rows, the form, says which names a text may have, what their values are, and where they go in a struct. A
 * name that is not known is skipped, so that a newer rollcall can say more. A name that comes twice is an error, unless
 * it is a row of many. The values may come from other nodes: they are checked where they are read, and nowhere else.
 * Pure: reads the text, writes the caller's struct or arena. */
#pragma once

#include "base/text.h"

enum rc_row_kind {
    RC_ROW_IS_TEXT,   /* struct rc_str: a slice of the text, `least` to `most` bytes */
    RC_ROW_IS_NUMBER, /* uint32_t: `least` to `most` */
    RC_ROW_IS_FLAG,   /* bool: the first of `words` for true, another one for false, for which nothing is written */
    RC_ROW_IS_CHOICE, /* an enum: the number in `words`, from 1 on; nothing is written for 0 */
    RC_ROW_IS_OWN,    /* a form of its own: `read` gets the value, `write` writes the whole line */
    RC_ROW_IS_MANY,   /* the same for any number of lines */
};

struct rc_row {
    const char *name;
    enum rc_row_kind kind;
    size_t at; /* in the struct */
    uint32_t least;
    uint32_t most;
    const char *words; /* "a|b|c" */
    bool (*read)(struct rc_str value, void *to);
    void (*write)(struct rc_arena *arena, const void *from);
};

/* clang-format off */
#define RC_ROW_TEXT(type, field, longest) \
    { .name = #field, .kind = RC_ROW_IS_TEXT, .at = offsetof(type, field), .least = 1, .most = (longest) }
#define RC_ROW_NUMBER(type, field, lowest, highest) \
    { .name = #field, .kind = RC_ROW_IS_NUMBER, .at = offsetof(type, field), .least = (lowest), .most = (highest) }
#define RC_ROW_FLAG(type, field, list) \
    { .name = #field, .kind = RC_ROW_IS_FLAG, .at = offsetof(type, field), .words = (list) }
#define RC_ROW_CHOICE(type, field, list) \
    { .name = #field, .kind = RC_ROW_IS_CHOICE, .at = offsetof(type, field), .words = (list) }
#define RC_ROW_OWN(text, reads, writes) \
    { .name = (text), .kind = RC_ROW_IS_OWN, .read = (reads), .write = (writes) }
#define RC_ROW_MANY(text, reads, writes) \
    { .name = (text), .kind = RC_ROW_IS_MANY, .read = (reads), .write = (writes) }
#define RC_FORM_ROWS(table) .row = (table), .rows = sizeof(table) / sizeof(*(table))
/* clang-format on */

struct rc_form {
    const char *head; /* NULL, or the name of the first line, head=1: then all must be lines of printable ASCII */
    bool any_script;  /* texts may have other letters in UTF-8 (rc_str_shown) */
    size_t most;      /* bytes of the text; 0: any number */
    const struct rc_row *row;
    unsigned rows; /* 32 at most */
};

/* Reads a text whose NAME=VALUE the separator parts; one at the end does no harm. What the text does not have stays
 * in *to as it was. False, with *to half written, for a text that the form does not allow. */
bool rc_pairs_read(struct rc_str text, char separator, const struct rc_form *form, void *to);

/* Write one line for each row, in their order, and a NUL. Cut a text at its most bytes, and write '?' for what is not
 * printable ASCII, or UTF-8 in a form of any script. Write no line for an empty text or a number outside its limits.
 * Return NULL, with the arena as before, if it does not fit. */
const char *rc_pairs_write(const struct rc_form *form, const void *from, struct rc_arena *arena);

/* Writes a value in the same way, and ends the line that the caller has begun. */
void rc_pairs_put_value(struct rc_arena *arena, struct rc_str value, size_t most);

/* Takes the next KEY=VALUE off *rest, up to `separator` or the end. *value is
 * absent where there is no '='. False, with nothing written, once *rest is absent. */
bool rc_pair_next(struct rc_str *rest, char separator, struct rc_str *key, struct rc_str *value);
