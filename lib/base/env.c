/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/env.h"

static unsigned count_of(const char *const *block, unsigned from)
{
    while (block[from])
        from++;
    return from;
}

static void fill_buckets(struct rc_env *env, uint16_t slot)
{
    for (unsigned i = 0; i < RC_ENV_BUCKETS; i++)
        env->bucket[i] = slot;
}

void rc_env_index(struct rc_env *env, const char *const *block)
{
    unsigned used = 0;

    env->block = block;
    env->indexed = true;
    fill_buckets(env, 0);
    while (block && block[used]) {
        struct rc_key key;
        struct rc_env_slot *slot;
        uint16_t *bucket;

        if (used == RC_ENV_SLOTS) {
            env->indexed = false;
            fill_buckets(env, RC_ENV_SLOTS);
            used = count_of(block, used);
            break;
        }
        key = rc_key_of_entry(block[used]);
        bucket = &env->bucket[rc_env_bucket(key)];
        slot = &env->slot[used + 1];
        slot->entry = block[used];
        slot->key = key;
        slot->next = *bucket;
        *bucket = (uint16_t)++used;
    }
    env->count = used;
}

static struct rc_str value_of(const char *entry, size_t name_length)
{
    return rc_str(entry + name_length + 1);
}

/* Whether "NAME=VALUE" has this name. The caller has compared the first `same` characters
 * already. */
static bool has_name(const char *entry, struct rc_str name, size_t same)
{
    while (same < name.n && entry[same] == name.p[same])
        same++;
    return same == name.n && entry[same] == '=';
}

static bool is_slot_of(const struct rc_env_slot *slot, struct rc_key key, struct rc_str name)
{
    return slot->key.low == key.low && slot->key.high == key.high &&
           has_name(slot->entry, name, name.n < RC_KEY_SIZE ? name.n : RC_KEY_SIZE);
}

static struct rc_str scan(const char *const *block, struct rc_str name)
{
    for (; block && *block; block++)
        if (has_name(*block, name, 0))
            return value_of(*block, name.n);
    return RC_ABSENT;
}

struct rc_str rc_env_find(const struct rc_env *env, struct rc_str name)
{
    const char *found = NULL;
    struct rc_key key;

    if (!env->indexed)
        return scan(env->block, name);
    key = rc_key_of_name(name.p, name.n);
    /* a bucket holds the last entry first, and of two equal names the first one counts */
    for (unsigned i = env->bucket[rc_env_bucket(key)]; i; i = env->slot[i].next)
        if (is_slot_of(&env->slot[i], key, name))
            found = env->slot[i].entry;
    return found ? value_of(found, name.n) : RC_ABSENT;
}

struct rc_str rc_env_either(const struct rc_env *env, struct rc_str first, struct rc_str second)
{
    struct rc_str value = rc_env_find(env, first);

    return value.n ? value : rc_env_find(env, second);
}

unsigned rc_env_place(const struct rc_env *env, struct rc_str name, unsigned below)
{
    struct rc_key key;
    unsigned i;

    if (!env->indexed) {
        while (below && !has_name(env->block[below - 1], name, 0))
            below--;
        return below;
    }
    key = rc_key_of_name(name.p, name.n);
    i = env->bucket[rc_env_bucket(key)];
    while (i && (i > below || !is_slot_of(&env->slot[i], key, name)))
        i = env->slot[i].next;
    return i;
}
