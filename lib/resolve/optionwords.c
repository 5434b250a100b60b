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

unsigned rc_option_find(const char *words, struct rc_str text)
{
    struct rc_str rest = rc_str(words);

    for (unsigned i = 1; rest.p; i++) {
        struct rc_str word = rc_str_split(rest, '|', &rest);

        if (rc_str_eq(word, text))
            return i;
    }
    return 0;
}
