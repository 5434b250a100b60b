/* SPDX-License-Identifier: BSD-3-Clause */
/* A reader of JSON (RFC 8259) that only says whether it is some: of integers, and in printable ASCII. */
#include "fuzz.h"

#include <string.h>

enum { DEPTH = 16 };

static bool take(struct rc_str *rest, const char *expected)
{
    size_t n = strlen(expected);

    if (!rc_str_starts(*rest, expected))
        return false;
    rest->p += n;
    rest->n -= n;
    return true;
}

/* Takes one byte of a set; 0 where there is none. */
static char take_one(struct rc_str *rest, const char *set)
{
    char byte = rest->n ? *rest->p : '\0';

    if (!byte || !strchr(set, byte))
        return '\0';
    rest->p++;
    rest->n--;
    return byte;
}

static void skip_space(struct rc_str *rest)
{
    while (take_one(rest, " \n"))
        continue;
}

static bool read_unit(struct rc_str *rest, uint32_t *unit)
{
    static const char digits[] = "0123456789ABCDEF";

    *unit = 0;
    for (unsigned i = 0; i < 4; i++) {
        char digit = take_one(rest, digits);

        if (!digit)
            return false;
        *unit = *unit * 16 + (uint32_t)(strchr(digits, digit) - digits);
    }
    return true;
}

/* What follows \u: a code unit of UTF-16, and of a pair of surrogates the second one, too. */
static bool read_units(struct rc_str *rest)
{
    uint32_t unit;

    if (!read_unit(rest, &unit) || (unit >= 0xdc00 && unit <= 0xdfff))
        return false;
    if (unit < 0xd800 || unit > 0xdfff)
        return true;
    return take(rest, "\\u") && read_unit(rest, &unit) && unit >= 0xdc00 && unit <= 0xdfff;
}

static bool read_string(struct rc_str *rest)
{
    if (!take(rest, "\""))
        return false;
    while (!take(rest, "\"")) {
        if (take(rest, "\\u")) {
            if (!read_units(rest))
                return false;
        } else if (take(rest, "\\")) {
            if (!take_one(rest, "\"\\/bfnrt"))
                return false;
        } else if (!rest->n || !fuzz_is_printable((struct rc_str){ rest->p, 1 })) {
            return false;
        } else {
            rest->p++;
            rest->n--;
        }
    }
    return true;
}

static bool read_number(struct rc_str *rest)
{
    take(rest, "-");
    if (take(rest, "0"))
        return true;
    if (!take_one(rest, "123456789"))
        return false;
    while (take_one(rest, "0123456789"))
        continue;
    return true;
}

static bool read_value(struct rc_str *rest, unsigned depth);

/* What follows the opening bracket of an object or array. */
static bool read_list(struct rc_str *rest, const char *closing, bool has_names, unsigned depth)
{
    skip_space(rest);
    if (take(rest, closing))
        return true;
    do {
        skip_space(rest);
        if (has_names && (!read_string(rest) || !take(rest, ":")))
            return false;
        if (!read_value(rest, depth + 1))
            return false;
    } while (take(rest, ","));
    return take(rest, closing);
}

static bool read_value(struct rc_str *rest, unsigned depth)
{
    bool is_right;

    skip_space(rest);
    if (depth > DEPTH)
        return false;
    if (take(rest, "{"))
        is_right = read_list(rest, "}", true, depth);
    else if (take(rest, "["))
        is_right = read_list(rest, "]", false, depth);
    else
        is_right = take(rest, "null") || take(rest, "true") || take(rest, "false") || read_string(rest) ||
                   read_number(rest);
    skip_space(rest);
    return is_right;
}

bool fuzz_is_json(struct rc_str text)
{
    return rc_str_starts(text, "{") && read_value(&text, 0) && text.n == 0;
}
