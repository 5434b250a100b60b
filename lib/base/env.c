/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/env.h"

/* Letters and '_' are greater than '=' in ASCII, so one comparison skips most of a name. */
static struct rc_str name_of(const char *entry)
{
    struct rc_str name = { entry, 0 };

    for (;; name.n++) {
        while ((unsigned char)entry[name.n] > '=')
            name.n++;
        if (!entry[name.n] || entry[name.n] == '=')
            return name;
    }
}

void rc_env_index(struct rc_env *env, const char *const *block)
{
    unsigned count = 0;

    for (unsigned i = 0; i < RC_ENV_BUCKETS; i++)
        env->bucket[i] = 0;
    for (; block && block[count]; count++) {
        if (count < RC_ENV_INDEXED) {
            uint16_t *bucket = &env->bucket[rc_env_bucket(name_of(block[count]))];

            env->before[count + 1] = *bucket;
            *bucket = (uint16_t)(count + 1);
        }
    }
    env->block = block;
    env->count = count;
    env->indexed = count <= RC_ENV_INDEXED;
}

static unsigned last_place(const struct rc_env *env, struct rc_str name)
{
    return env->indexed ? env->bucket[rc_env_bucket(name)] : env->count;
}

static unsigned place_before(const struct rc_env *env, unsigned place)
{
    return env->indexed ? env->before[place] : place - 1;
}

static bool has_name(const char *entry, struct rc_str name)
{
    size_t same = 0;

    while (same < name.n && entry[same] == name.p[same])
        same++;
    return same == name.n && entry[same] == '=';
}

struct rc_str rc_env_find(const struct rc_env *env, struct rc_str name)
{
    const char *found = NULL;

    for (unsigned place = last_place(env, name); place; place = place_before(env, place))
        if (has_name(env->block[place - 1], name))
            found = env->block[place - 1];
    return found ? rc_str(found + name.n + 1) : RC_ABSENT;
}

struct rc_str rc_env_either(const struct rc_env *env, struct rc_str first, struct rc_str second)
{
    struct rc_str value = rc_env_find(env, first);

    return value.n ? value : rc_env_find(env, second);
}

unsigned rc_env_place(const struct rc_env *env, struct rc_str name, unsigned below)
{
    unsigned place = last_place(env, name);

    while (place && (place > below || !has_name(env->block[place - 1], name)))
        place = place_before(env, place);
    return place;
}
