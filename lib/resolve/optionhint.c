/* SPDX-License-Identifier: BSD-3-Clause */
#include "resolve/optionhint.h"

#include "base/nearest.h"
#include "resolve/optionwords.h"

/* Words of torchrun and others that are typed for a key, and differ too much from it to be near. */
static const struct {
    char word[16];
    char cure[64];
} mistaken[] = {
    { "mode", "name the mode alone" },
    { "nnodes", "leave it out: the launcher says how many nodes there are" },
    { "master_addr", "did you mean addr=?" },
    { "master_port", "did you mean port=?" },
    { "nproc_per_node", "did you mean nproc=?" },
};

/* The nearest of "a|b=|c", no farther than *distance, which becomes its distance; absent where none is. */
static struct rc_str find_near(struct rc_str name, const char *words, unsigned *distance)
{
    struct rc_str nearest = RC_ABSENT;

    for (struct rc_str rest = rc_str(words); rest.p;) {
        struct rc_str word = rc_str_split(rest, '|', &rest);
        struct rc_str value;
        unsigned d = rc_nearest_distance(name, rc_str_split(word, '=', &value));

        if (d < *distance || (d == *distance && !nearest.p)) {
            *distance = d;
            nearest = word;
        }
    }
    return nearest;
}

/* A mode that stands behind something else is no mistyped one. */
static bool is_mode(struct rc_str item, const char *modes)
{
    unsigned distance = 0;

    return find_near(item, modes, &distance).p;
}

const char *rc_option_hint(struct rc_str item, bool first, const char *modes, const char *keys, struct rc_arena *arena)
{
    struct rc_str value;
    struct rc_str name = rc_str_split(item, '=', &value);
    unsigned distance = name.n > RC_NEAREST_LONGEST ? 0 : (unsigned)(name.n + 2) / 3;
    struct rc_str key, mode = RC_ABSENT;

    for (size_t i = 0; i < sizeof(mistaken) / sizeof(*mistaken); i++)
        if (rc_nearest_distance(name, rc_str(mistaken[i].word)) == 0)
            return mistaken[i].cure;
    if (!first && is_mode(item, modes))
        return "name one mode, before the keys";
    key = find_near(name, keys, &distance);
    if (first && !value.p)
        mode = find_near(name, modes, &distance);
    if (mode.p) {
        const char *all = rc_option_join(arena, modes, " or ");

        return rc_format(arena, "did you mean %S? modes are %s", &mode, all);
    }
    return key.p ? rc_format(arena, "did you mean %S?", &key) : NULL;
}
