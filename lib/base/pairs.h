/* SPDX-License-Identifier: BSD-3-Clause */
/* pairs.h - the reader and writer of NAME=VALUE texts between rollcall's nodes and programs.
 *
 * A form is a table of names, types and struct fields. Unknown names are skipped, so that a newer rollcall can send
 * more. Repeated names are errors except in RC_ROW_IS_MANY. Values may come from other nodes; they are checked only
 * here. */
#pragma once

#include "base/text.h"

enum rc_row_kind {
    RC_ROW_IS_TEXT,   /* struct rc_str: a slice of the text, `least` to `most` bytes */
    RC_ROW_IS_NUMBER, /* uint32_t: `least` to `most` */
    RC_ROW_IS_FLAG,   /* bool: the first of `words` is true, any other false; false is not written */
    RC_ROW_IS_CHOICE, /* enum: index in `words`, from 1 on; 0 is not written */
    RC_ROW_IS_OWN,    /* custom: `read` gets the value, `write` writes the whole line */
    RC_ROW_IS_MANY,   /* the same, for any number of lines */
};

struct rc_row {
    const char *name;
    enum rc_row_kind kind;
    size_t at; /* offset in the struct */
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
    /* NULL, or the first line's name, "head=1": the text must then be whole lines of printable ASCII */
    const char *head;
    bool any_script; /* texts may contain other characters in UTF-8 (rc_str_shown) */
    size_t most;     /* limit of the text in bytes; 0: none */
    const struct rc_row *row;
    unsigned rows; /* at most 32 */
};

/* Parse NAME=VALUE pairs; a trailing separator is allowed. Fields without a pair keep their values. Return false, with
 * *to partly written, if the form rejects the text. */
bool rc_pairs_read(struct rc_str text, char separator, const struct rc_form *form, void *to);

/* Write a line per row in order, and a NUL. Cut texts at their maximum; replace unprintable characters by '?'. Skip
 * empty texts and numbers outside their limits. Return NULL, with the arena unchanged, if it does not fit. */
const char *rc_pairs_write(const struct rc_form *form, const void *from, struct rc_arena *arena);

/* Write a value in the same way and end the caller's line. */
void rc_pairs_put_value(struct rc_arena *arena, struct rc_str value, size_t most);

/* Remove the next KEY=VALUE from *rest, up to `separator` or the end. *value is RC_ABSENT without '='. Return false,
 * with nothing written, if *rest is RC_ABSENT. */
bool rc_pair_next(struct rc_str *rest, char separator, struct rc_str *key, struct rc_str *value);
