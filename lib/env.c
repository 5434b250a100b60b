#include "env.h"

static unsigned count_of(const char *const *block, unsigned from)
{
    while (block[from])
        from++;
    return from;
}

void rc_env_index(struct rc_env *env, const char *const *block)
{
    unsigned used = 0;

    env->block = block;
    env->indexed = true;
    for (unsigned i = 0; i < RC_ENV_BUCKETS; i++)
        env->bucket[i] = 0;
    while (block && block[used]) {
        struct rc_key key;
        uint16_t *bucket;

        if (used == RC_ENV_SLOTS) {
            env->indexed = false;
            used = count_of(block, used);
            break;
        }
        key = rc_key_of_entry(block[used]);
        bucket = &env->bucket[rc_env_bucket(key)];
        env->slot[used].entry = block[used];
        env->slot[used].key = key;
        env->slot[used].next = *bucket;
        *bucket = (uint16_t)++used;
    }
    env->count = used;
}

static struct rc_str value_of(const char *entry, size_t name_length)
{
    return rc_str(entry + name_length + 1);
}

/* Whether "NAME=VALUE" has this name, of which the first `same` characters have
 * been compared. */
static bool has_name(const char *entry, struct rc_str name, size_t same)
{
    while (same < name.n && entry[same] == name.p[same])
        same++;
    return same == name.n && entry[same] == '=';
}

static struct rc_str scan(const char *const *block, struct rc_str name)
{
    for (; block && *block; block++)
        if (has_name(*block, name, 0))
            return value_of(*block, name.n);
    return RC_ABSENT;
}

struct rc_str rc_env_find_key(const struct rc_env *env, struct rc_key key, struct rc_str name)
{
    size_t compared = name.n < RC_KEY_SIZE ? name.n : RC_KEY_SIZE;
    const char *found = NULL;

    if (!env->indexed)
        return scan(env->block, name);
    /* a bucket holds the last entry first, and of two equal names the first one counts */
    for (unsigned i = rc_env_slot(env, key); i; i = rc_env_next_slot(env, i, key))
        if (has_name(env->slot[i - 1].entry, name, compared))
            found = env->slot[i - 1].entry;
    return found ? value_of(found, name.n) : RC_ABSENT;
}

struct rc_str rc_env_find(const struct rc_env *env, struct rc_str name)
{
    return rc_env_find_key(env, rc_key_of_name(name.p, name.n), name);
}

unsigned rc_env_place(const struct rc_env *env, struct rc_str name, unsigned below)
{
    size_t compared = name.n < RC_KEY_SIZE ? name.n : RC_KEY_SIZE;
    struct rc_key key;

    if (!env->indexed) {
        while (below && !has_name(env->block[below - 1], name, 0))
            below--;
        return below;
    }
    key = rc_key_of_name(name.p, name.n);
    for (unsigned i = rc_env_slot(env, key); i; i = rc_env_next_slot(env, i, key))
        if (i <= below && has_name(env->slot[i - 1].entry, name, compared))
            return i;
    return 0;
}
