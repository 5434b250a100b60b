/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/pairs.h"

bool rc_pair_next(struct rc_str *rest, char separator, struct rc_str *key, struct rc_str *value)
{
    if (!rest->p)
        return false;
    *key = rc_str_split(rc_str_split(*rest, separator, rest), '=', value);
    return true;
}

/* Return true if each byte is allowed and the text ends with a newline. */
static bool is_whole(const struct rc_form *form, struct rc_str text)
{
    for (size_t i = 0, length; i < text.n; i += length) {
        length = form->any_script ? rc_str_shown((struct rc_str){ text.p + i, text.n - i })
                                  : rc_is_printable(text.p[i]);
        length += text.p[i] == '\n';
        if (!length)
            return false;
    }
    return text.n > 0 && text.p[text.n - 1] == '\n';
}

static unsigned find_row(const struct rc_form *form, struct rc_str name)
{
    unsigned i = 0;

    while (i < form->rows && !rc_str_is(name, form->row[i].name))
        i++;
    return i;
}

static bool read_value(const struct rc_row *row, struct rc_str value, void *to)
{
    void *field = (char *)to + row->at;
    uint32_t *number = field;
    unsigned word;

    switch (row->kind) {
    case RC_ROW_IS_TEXT:
        *(struct rc_str *)field = value;
        return value.n >= row->least && value.n <= row->most;
    case RC_ROW_IS_NUMBER:
        return rc_parse_u32(value, row->most, number) && *number >= row->least;
    case RC_ROW_IS_FLAG:
        word = rc_str_which(value, row->words);
        *(bool *)field = word == 1;
        return word > 0;
    case RC_ROW_IS_CHOICE:
        *(unsigned *)field = rc_str_which(value, row->words);
        return *(unsigned *)field > 0;
    case RC_ROW_IS_OWN:
    case RC_ROW_IS_MANY:
        break;
    }
    return row->read(value, to);
}

bool rc_pairs_read(struct rc_str text, char separator, const struct rc_form *form, void *to)
{
    bool head = form->head != NULL; /* the next line must be the head */
    uint32_t seen = 0;
    struct rc_str name;
    struct rc_str value;

    if (!text.p || (form->most && text.n > form->most) || (head && !is_whole(form, text)))
        return false;
    for (; text.n > 0 && rc_pair_next(&text, separator, &name, &value); head = false) {
        unsigned i = find_row(form, name);

        if (name.n == 0 || !value.p || (form->head && rc_str_is(name, form->head)) != head)
            return false;
        if (head && !rc_str_is(value, "1"))
            return false;
        if (i == form->rows)
            continue;
        if ((seen >> i & 1 && form->row[i].kind != RC_ROW_IS_MANY) || !read_value(&form->row[i], value, to))
            return false;
        seen |= UINT32_C(1) << i;
    }
    return true;
}

static void put_value(struct rc_arena *arena, struct rc_str value, size_t most, bool any_script)
{
    size_t start = arena->used;

    value = rc_str_cut(value, most);
    rc_format(arena, "%pS\n", &value);
    rc_join(arena);
    if (any_script && arena->used > start)
        rc_str_clean(arena->base + start, arena->used - start - 1);
    for (size_t i = start; i + 1 < arena->used && !any_script; i++)
        if (!rc_is_printable(arena->base[i]))
            arena->base[i] = '?';
}

void rc_pairs_put_value(struct rc_arena *arena, struct rc_str value, size_t most)
{
    put_value(arena, value, most, false);
}

static void put_text(struct rc_arena *arena, const char *name, struct rc_str value, size_t most, bool any_script)
{
    if (value.n == 0)
        return;
    rc_format(arena, "%s=", name);
    rc_join(arena);
    put_value(arena, value, most, any_script);
}

static void put_row(struct rc_arena *arena, const struct rc_row *row, bool any_script, const void *from)
{
    const void *field = (const char *)from + row->at;
    const uint32_t *number = field;

    switch (row->kind) {
    case RC_ROW_IS_TEXT:
        put_text(arena, row->name, *(const struct rc_str *)field, row->most, any_script);
        return;
    case RC_ROW_IS_NUMBER:
        if (*number < row->least || *number > row->most)
            return;
        rc_format(arena, "%s=%u\n", row->name, *number);
        rc_join(arena);
        return;
    case RC_ROW_IS_FLAG:
        put_text(arena, row->name, rc_str_word(row->words, *(const bool *)field), SIZE_MAX, false);
        return;
    case RC_ROW_IS_CHOICE:
        put_text(arena, row->name, rc_str_word(row->words, *(const unsigned *)field), SIZE_MAX, false);
        return;
    case RC_ROW_IS_OWN:
    case RC_ROW_IS_MANY:
        row->write(arena, from);
    }
}

const char *rc_pairs_write(const struct rc_form *form, const void *from, struct rc_arena *arena)
{
    size_t start = arena->used;

    if (form->head)
        put_text(arena, form->head, RC_STR("1"), 1, false);
    for (unsigned i = 0; i < form->rows; i++)
        put_row(arena, &form->row[i], form->any_script, from);
    rc_copy(arena, RC_ABSENT);
    if (arena->full) {
        arena->used = start;
        return NULL;
    }
    return arena->base + start;
}
