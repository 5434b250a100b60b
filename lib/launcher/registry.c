/* SPDX-License-Identifier: BSD-3-Clause */

#include "launcher/families.h"

#define ROLLCALL_MARKER(name, variable)

/* No tables of pointers, which the loader would relocate in every process. */

const struct rc_launcher *rc_launcher_at(unsigned index)
{
    switch (index) {
#define ROLLCALL_LAUNCHER(name)    \
    case RC_LAUNCHER_INDEX_##name: \
        return &rc_launcher_##name;
#include "launcher/registry.def"
#undef ROLLCALL_LAUNCHER
    default:
        return NULL;
    }
}

enum rc_claim rc_launcher_recognise(unsigned index, struct rc_reader *reader, struct rc_facts *facts)
{
    switch (index) {
#define ROLLCALL_LAUNCHER(name)    \
    case RC_LAUNCHER_INDEX_##name: \
        return rc_##name##_recognise(reader, facts);
#include "launcher/registry.def"
#undef ROLLCALL_LAUNCHER
    default:
        return RC_CLAIM_ABSENT;
    }
}

bool rc_facts_read(unsigned index, struct rc_reader *reader, struct rc_facts *facts)
{
    switch (index) {
#define ROLLCALL_LAUNCHER(name)    \
    case RC_LAUNCHER_INDEX_##name: \
        return rc_##name##_read(reader, facts);
#include "launcher/registry.def"
#undef ROLLCALL_LAUNCHER
    default:
        return false;
    }
}

#undef ROLLCALL_MARKER
#define ROLLCALL_LAUNCHER(name)

_Static_assert(RC_LAUNCHER_COUNT <= 32, "a bit each in the result of rc_launcher_marks");

uint32_t rc_launcher_marks(const struct rc_env *env)
{
    uint32_t found = 0;

#define ROLLCALL_MARKER(family, variable)   \
    if (rc_env_has(env, RC_STR(#variable))) \
        found |= (uint32_t)1 << RC_LAUNCHER_INDEX_##family;
#include "launcher/registry.def"
#undef ROLLCALL_MARKER
    return found;
}

bool rc_launcher_marked(const char *const *block)
{
    struct rc_env env;

    rc_env_index(&env, block);
    return rc_launcher_marks(&env) != 0;
}

bool rc_launcher_is_alone(const struct rc_env *env, uint32_t marks)
{
    if (rc_slurmpmix_step(env).p)
        marks &= ~(1u << RC_LAUNCHER_INDEX_pmix);
    return !(marks & (marks - 1));
}

bool rc_launcher_has_scope(const struct rc_launcher *launcher, struct rc_str scope)
{
    struct rc_str rest;

    return rc_str_is(rc_str_split(scope, ':', &rest), launcher->id);
}
