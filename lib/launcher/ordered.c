/* SPDX-License-Identifier: BSD-3-Clause */
#include "launcher/ordered.h"

#include "base/variables.h"

static bool read_number(struct rc_str *rest, uint32_t *number)
{
    return rest->p && rc_parse_u32(rc_str_split(*rest, '/', rest), RC_MAX_TASKS, number);
}

bool rc_ordered_read(const struct rc_env *env, const char *scope, struct rc_ordered *ordered)
{
    struct rc_str rest = rc_env_get(env, RC_ORDERED);
    struct rc_ordered found;

    if (!scope || !rest.n || !rc_str_is(rc_str_split(rest, '/', &rest), scope) || !read_number(&rest, &found.rank) ||
        !read_number(&rest, &found.node) || !read_number(&rest, &found.place) || !read_number(&rest, &found.before) ||
        !rest.n)
        return false;
    found.host = rest;
    *ordered = found;
    return true;
}

const char *rc_ordered_write(const struct rc_ordered *ordered, const char *scope, struct rc_arena *arena)
{
    return rc_format(arena, "%s/%u/%u/%u/%u/%S", scope, ordered->rank, ordered->node, ordered->place, ordered->before,
                     &ordered->host);
}
