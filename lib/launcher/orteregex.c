/* SPDX-License-Identifier: BSD-3-Clause */
/* orteregex.c - the nodes of Open MPI 4's daemons, as mpirun tells each of them.
 *
 * "login,n[1:1-3]@0(4)", "n[3:001,003]-ib@0(2)": names in the order of the
 * daemons' numbers, digits with their width before the colon; what stands
 * behind the @ is of other things (ompi v4.1 orte/mca/regx/fwd/regx_fwd.c).
 */
#include "launcher/families.h"

enum { WIDTH_MAX = 9 };

struct writer {
    char *name;
    size_t used;
};

static bool put_text(struct writer *w, struct rc_str text)
{
    if (text.n > RC_HOST_MAX - w->used)
        return false;
    for (size_t i = 0; i < text.n; i++)
        w->name[w->used++] = text.p[i];
    return true;
}

static bool put_number(struct writer *w, uint32_t number, uint32_t width)
{
    char digits[WIDTH_MAX + 1];
    size_t n = sizeof(digits);

    do {
        digits[--n] = (char)('0' + number % 10);
        number /= 10;
    } while (number || sizeof(digits) - n < width);
    return put_text(w, (struct rc_str){ digits + n, sizeof(digits) - n });
}

/* "001" too, unlike rc_parse_u32. */
static bool parse_digits(struct rc_str text, uint32_t *number)
{
    while (text.n > 1 && text.p[0] == '0')
        text = (struct rc_str){ text.p + 1, text.n - 1 };
    return rc_parse_u32(text, 999999999, number);
}

/* One item of a bracket, "7" or "1-3": its index-th number, or how many there are. */
static bool in_range(struct rc_str item, uint32_t *index, uint32_t *number)
{
    struct rc_str last;
    struct rc_str first = rc_str_split(item, '-', &last);
    uint32_t from;
    uint32_t to;

    if (!parse_digits(first, &from) || !parse_digits(last.p ? last : first, &to) || to < from)
        return false;
    if (*index > to - from) {
        *index -= to - from + 1;
        *number = RC_UNKNOWN;
    } else {
        *number = from + *index;
    }
    return true;
}

/* The bracket's index-th number; RC_UNKNOWN, and the index less those that it
 * has, where it has fewer. */
static bool in_bracket(struct rc_str bracket, uint32_t *index, uint32_t *width, uint32_t *number)
{
    struct rc_str ranges;

    *number = RC_UNKNOWN;
    if (!parse_digits(rc_str_split(bracket, ':', &ranges), width) || *width > WIDTH_MAX || !ranges.p)
        return false;
    while (ranges.p && *number == RC_UNKNOWN)
        if (!in_range(rc_str_split(ranges, ',', &ranges), index, number))
            return false;
    return true;
}

/* Up to the next comma that is not in brackets. */
static struct rc_str next_item(struct rc_str *rest)
{
    struct rc_str text = *rest;
    bool inside = false;

    for (size_t i = 0; i < text.n; i++) {
        inside = text.p[i] == '[' || (inside && text.p[i] != ']');
        if (text.p[i] == ',' && !inside) {
            *rest = (struct rc_str){ text.p + i + 1, text.n - i - 1 };
            return (struct rc_str){ text.p, i };
        }
    }
    *rest = RC_ABSENT;
    return text;
}

static bool has_bracket(struct rc_str text)
{
    for (size_t i = 0; i < text.n; i++)
        if (text.p[i] == '[' || text.p[i] == ']')
            return true;
    return false;
}

bool rc_orteregex_nth(struct rc_str regex, uint32_t daemon, char name[RC_HOST_MAX + 1])
{
    char found[RC_HOST_MAX];
    struct writer w = { found, 0 };
    struct rc_str topology;
    struct rc_str rest = rc_str_split(regex, '@', &topology);

    while (rest.p) {
        struct rc_str bracket;
        struct rc_str suffix = RC_ABSENT;
        struct rc_str prefix = rc_str_split(next_item(&rest), '[', &bracket);
        uint32_t width = 0;
        uint32_t number = RC_UNKNOWN;

        if (bracket.p && !in_bracket(rc_str_split(bracket, ']', &suffix), &daemon, &width, &number))
            return false;
        /* a bracket that does not end is a list that was cut, and what is left of it may be another name */
        if ((bracket.p ? !suffix.p : prefix.n == 0) || has_bracket(prefix) || has_bracket(suffix))
            return false;
        if (bracket.p ? number == RC_UNKNOWN : daemon-- > 0)
            continue;
        if (!put_text(&w, prefix) || (bracket.p && !put_number(&w, number, width)) ||
            (suffix.p && !put_text(&w, suffix)))
            return false;
        for (size_t i = 0; i < w.used; i++)
            name[i] = found[i];
        name[w.used] = '\0';
        return true;
    }
    return false;
}
