/* SPDX-License-Identifier: BSD-3-Clause */
#include "resolve/optionwords.h"

const char *rc_option_join(struct rc_arena *arena, const char *words, const char *last)
{
    struct rc_str rest;
    struct rc_str word = rc_str_split(rc_str(words), '|', &rest);
    const char *list = rc_copy(arena, word);

    while (rest.p) {
        word = rc_str_split(rest, '|', &rest);
        rc_join(arena);
        rc_format(arena, "%s%S", rest.p ? ", " : last, &word);
    }
    return list;
}

/* `word` has small letters and digits alone, which one bit makes of capital ones. */
static bool is_word(struct rc_str item, struct rc_str word)
{
    if (item.n != word.n)
        return false;
    for (size_t i = 0; i < word.n; i++)
        if (item.p[i] < '0' || (item.p[i] | 0x20) != (word.p[i] | 0x20))
            return false;
    return true;
}

bool rc_option_switch(struct rc_str item, bool *on)
{
    enum { OFF_WORDS = 4 };
    struct rc_str rest = RC_STR("0|no|off|false|1|on|yes|true");

    for (unsigned i = 0; rest.p; i++) {
        if (is_word(item, rc_str_split(rest, '|', &rest))) {
            *on = i >= OFF_WORDS;
            return true;
        }
    }
    return false;
}
