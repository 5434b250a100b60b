/* SPDX-License-Identifier: BSD-3-Clause */
#include "resolve/preloading.h"

/* What does not fit would be a reason to set nothing at all, and others write to
 * arena and plan behind it. */
enum { LIST_LENGTH_MAX = 2048, ARENA_LEFT = 4096, ENTRIES_LEFT = 8 };

#define NAME "LD_PRELOAD"

/* The list as it is planned, or else the user's own. */
static struct rc_str find(const struct rc_plan *plan, struct rc_str users)
{
    for (unsigned i = 0; i < plan->count; i++)
        if (plan->entry[i].action == RC_SET && rc_str_is(plan->entry[i].name, NAME))
            return rc_str(plan->entry[i].value);
    return users;
}

/* Loaders part the names by colons and by blanks. */
static bool holds(struct rc_str list, struct rc_str file)
{
    while (list.p) {
        struct rc_str names = rc_str_split(list, ':', &list);

        while (names.p)
            if (rc_str_eq(rc_str_split(names, ' ', &names), file))
                return true;
    }
    return false;
}

bool rc_preloading_add(struct rc_result *result, struct rc_str file, const char *source, const char *reason)
{
    struct rc_str users = rc_env_get(&result->env, NAME);
    struct rc_str now = find(&result->plan, users);
    const char *list;

    if (now.n + 1 + file.n > LIST_LENGTH_MAX || result->arena.used + now.n + file.n + ARENA_LEFT > result->arena.size ||
        result->plan.count + ENTRIES_LEFT > RC_PLAN_MAX)
        return false;
    /* behind them: a sanitizer's runtime must be the first */
    if (!now.n || holds(now, file))
        list = rc_format(&result->arena, "%S", now.n ? &now : &file);
    else
        list = rc_format(&result->arena, "%S:%S", &now, &file);
    rc_plan_put(&result->plan, (struct rc_plan_entry){
                                   .action = RC_SET,
                                   .name = RC_STR(NAME),
                                   .value = list,
                                   .source = source,
                                   .reason = reason,
                                   .changes = !rc_str_is(users, list),
                                   .is_new = !users.p,
                               });
    return true;
}
