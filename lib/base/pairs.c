/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/pairs.h"

bool rc_pair_next(struct rc_str *rest, char separator, struct rc_str *key, struct rc_str *value)
{
    if (!rest->p)
        return false;
    *key = rc_str_split(rc_str_split(*rest, separator, rest), '=', value);
    return true;
}

bool rc_lines_printable(char c)
{
    return c >= ' ' && c < 0x7f;
}

bool rc_lines_read_head(struct rc_str *text, const char *head, size_t limit)
{
    if (!text->p || text->n > limit || !rc_str_starts(*text, head) || text->p[text->n - 1] != '\n')
        return false;
    for (size_t i = 0; i < text->n; i++)
        if (!rc_lines_printable(text->p[i]) && text->p[i] != '\n')
            return false;
    text->p += rc_str(head).n;
    text->n -= rc_str(head).n;
    return true;
}

bool rc_lines_next(struct rc_str *rest, struct rc_str *name, struct rc_str *value)
{
    if (!rc_pair_next(rest, '\n', name, value))
        return false;
    for (size_t i = 0; i < name->n; i++) {
        char c = name->p[i];

        if ((c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '_')
            return false;
    }
    return name->n > 0 && value->p && value->n > 0;
}

bool rc_lines_read_number(struct rc_str value, uint32_t max, uint32_t *number)
{
    return *number == RC_UNKNOWN && rc_parse_u32(value, max, number);
}

void rc_lines_put_value(struct rc_arena *arena, struct rc_str value, size_t limit)
{
    size_t start = arena->used;

    if (value.n > limit)
        value.n = limit;
    rc_format(arena, "%pS\n", &value);
    rc_join(arena);
    for (size_t i = start; i + 1 < arena->used; i++)
        if (!rc_lines_printable(arena->base[i]))
            arena->base[i] = '?';
}

void rc_lines_put(struct rc_arena *arena, const char *name, struct rc_str value, size_t limit)
{
    if (!value.p || value.n == 0)
        return;
    rc_format(arena, "%s=", name);
    rc_join(arena);
    rc_lines_put_value(arena, value, limit);
}

void rc_lines_put_number(struct rc_arena *arena, const char *name, uint32_t value)
{
    rc_format(arena, "%s=%u\n", name, value);
    rc_join(arena);
}

bool rc_lines_begin(struct rc_arena *arena, const char *head, size_t *start)
{
    const char *text = rc_format(arena, "%s", head);

    if (arena->full)
        return false;
    *start = (size_t)(text - arena->base);
    rc_join(arena);
    return true;
}

const char *rc_lines_end(struct rc_arena *arena, size_t start)
{
    rc_copy(arena, RC_STR(""));
    if (arena->full) {
        arena->used = start;
        return NULL;
    }
    return arena->base + start;
}
