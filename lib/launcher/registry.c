/* SPDX-License-Identifier: BSD-3-Clause */
#include "launcher/launcher.h"

#include "launcher/families.h"

#define ROLLCALL_MARKER(name, variable)

const struct rc_launcher *rc_launcher_at(unsigned index)
{
    /* addresses taken at run time: a table of pointers would need relocations */
    switch (index) {
#define ROLLCALL_LAUNCHER(name)    \
    case RC_LAUNCHER_INDEX_##name: \
        return &rc_launcher_##name;
#include "launcher/registry.def"
#undef ROLLCALL_LAUNCHER
    }
    return NULL;
}

enum rc_claim rc_launcher_recognise(unsigned index, struct rc_reader *reader, struct rc_facts *facts)
{
    switch (index) {
#define ROLLCALL_LAUNCHER(name)    \
    case RC_LAUNCHER_INDEX_##name: \
        return rc_##name##_recognise(reader, facts);
#include "launcher/registry.def"
#undef ROLLCALL_LAUNCHER
    }
    return RC_CLAIM_ABSENT;
}

bool rc_launcher_read(unsigned index, struct rc_reader *reader, struct rc_facts *facts)
{
    switch (index) {
#define ROLLCALL_LAUNCHER(name)    \
    case RC_LAUNCHER_INDEX_##name: \
        return rc_##name##_read(reader, facts);
#include "launcher/registry.def"
#undef ROLLCALL_LAUNCHER
    }
    return false;
}

#undef ROLLCALL_MARKER
#define ROLLCALL_LAUNCHER(name)

_Static_assert(RC_LAUNCHER_COUNT <= 32, "a bit each in the result of rc_launcher_marks");

static bool has_name(const char *entry, const char *name)
{
    size_t n = 0;

    while (name[n] && name[n] == entry[n])
        n++;
    return !name[n] && entry[n] == '=';
}

/* Nearly all variables begin with another letter, which the compiler knows without a call. */
static bool is_marker(const char *entry)
{
#define ROLLCALL_MARKER(family, variable)                       \
    if (entry[0] == #variable[0] && has_name(entry, #variable)) \
        return true;
#include "launcher/registry.def"
#undef ROLLCALL_MARKER
    return false;
}

bool rc_launcher_marked(const char *const *block)
{
    for (; block && *block; block++)
        if (is_marker(*block))
            return true;
    return false;
}

uint32_t rc_launcher_marks(const struct rc_env *env)
{
    uint32_t found = 0;

#define ROLLCALL_MARKER(family, variable)      \
    if (rc_env_find(env, RC_STR(#variable)).p) \
        found |= (uint32_t)1 << RC_LAUNCHER_INDEX_##family;
#include "launcher/registry.def"
#undef ROLLCALL_MARKER
    return found;
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
