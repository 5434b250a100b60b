/* SPDX-License-Identifier: BSD-3-Clause */
/* env.h - an environment block that can be asked for names quickly.
 *
 * One pass builds an index (some 40 instructions a variable), so that the
 * preload's cost stays flat in the number of names that the launcher families
 * ask for. Beyond RC_ENV_SLOTS variables the answers are the same, from a scan.
 */
#ifndef ROLLCALL_BASE_ENV_H
#define ROLLCALL_BASE_ENV_H

#include "base/key.h"
#include "base/text.h"

enum { RC_ENV_SLOTS = 512, RC_ENV_BUCKET_BITS = 9, RC_ENV_BUCKETS = 1 << RC_ENV_BUCKET_BITS };

struct rc_env_slot {
    const char *entry;
    struct rc_key key;
    uint16_t next; /* next slot of the same bucket; 0 ends it */
};

struct rc_env {
    const char *const *block; /* NULL-terminated "NAME=VALUE" strings, borrowed */
    unsigned count;           /* number of these strings */
    bool indexed;
    uint16_t bucket[RC_ENV_BUCKETS];           /* a slot, 0 for none; never 0 where there is no index */
    struct rc_env_slot slot[1 + RC_ENV_SLOTS]; /* slot i is of block[i - 1] */
};

/* Letters differ in few bits; the multiplication spreads these to the top. */
static inline unsigned rc_env_bucket(struct rc_key key)
{
    return (unsigned)((key.low ^ key.high) * 0x9e3779b97f4a7c15u >> (64 - RC_ENV_BUCKET_BITS));
}

/* False where no variable has this key. Few of the names that the families ask
 * for are there: for the others this look is all that it takes. */
static inline bool rc_env_may_have(const struct rc_env *env, struct rc_key key)
{
    return env->bucket[rc_env_bucket(key)] != 0;
}

/* block may be NULL (a program can have none). Entries without '=' are passed
 * over. Of a name that stands there twice the first counts, as in getenv. */
void rc_env_index(struct rc_env *env, const char *const *block);

/* The value of a variable, or an absent slice. Names are slices because the
 * compiler then computes their lengths: name.p is NUL-terminated all the same. */
struct rc_str rc_env_find(const struct rc_env *env, struct rc_str name);

/* The same for a name of a table. */
static inline struct rc_str rc_env_find_name(const struct rc_env *env, const struct rc_name *name)
{
    return rc_env_may_have(env, rc_key_of_padded(name->text)) ? rc_env_find(env, rc_name(name)) : RC_ABSENT;
}

/* The value of the first variable, or of the second where the first is absent or empty. */
struct rc_str rc_env_either(const struct rc_env *env, struct rc_str first, struct rc_str second);

/* Returns 1 + the place of the last entry with this name among the first `below` entries
 * of the block, or 0 where none has it. A caller that begins with env->count and goes on
 * below each find sees all of them. */
unsigned rc_env_place(const struct rc_env *env, struct rc_str name, unsigned below);

/* For names that are literals. */
#define rc_env_get(env, literal) rc_env_find((env), RC_STR("" literal))

#endif
