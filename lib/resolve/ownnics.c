/* SPDX-License-Identifier: BSD-3-Clause */
#include "resolve/ownnics.h"

#include "base/lines.h"

bool rc_own_nics_have(const struct rc_result *result, struct rc_str name, struct rc_str now)
{
    struct rc_str own = rc_env_get(&result->env, RC_NICS_OWN);
    struct rc_str key;
    struct rc_str value;

    while (rc_pair_next(&own, ' ', &key, &value)) {
        if (rc_str_eq(key, name))
            return value.p && rc_str_eq(value, now);
    }
    return false;
}

const char *rc_own_nics_add(const char *own, struct rc_str name, const char *value, struct rc_arena *arena)
{
    return rc_format(arena, "%s%s%S=%s", own, *own ? " " : "", &name, value);
}
