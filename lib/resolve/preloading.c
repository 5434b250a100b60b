/* SPDX-License-Identifier: BSD-3-Clause */
#include "resolve/preloading.h"

#include "resolve/container.h"

/* Checks the room first: a plan that is full sets nothing at all, and others write to
 * arena and plan after this. */
enum { LIST_LENGTH_MAX = 2048, ARENA_LEFT = 4096, ENTRIES_LEFT = 8 };

#define NAME "LD_PRELOAD"

/* The loader accepts colons and blanks between the names. */
static bool holds_file(struct rc_str list, struct rc_str file)
{
    while (list.p) {
        struct rc_str names = rc_str_split(list, ':', &list);

        while (names.p)
            if (rc_str_eq(rc_str_split(names, ' ', &names), file))
                return true;
    }
    return false;
}

/* False, with the plan untouched, where the list would be too long. */
static bool lengthen_list(struct rc_result *result, struct rc_str file, const char *source, const char *reason)
{
    struct rc_str users = rc_env_get(&result->env, NAME);
    const struct rc_plan_entry *planned = rc_plan_find(&result->plan, RC_STR(NAME));
    struct rc_str now = planned && planned->action == RC_SET ? rc_str(planned->value) : users;
    const char *list;

    if (now.n + 1 + file.n > LIST_LENGTH_MAX || result->arena.used + now.n + file.n + ARENA_LEFT > result->arena.size ||
        result->plan.count + ENTRIES_LEFT > RC_PLAN_MAX)
        return false;
    /* ours is the last, because a sanitizer's runtime must be the first */
    if (!now.n || holds_file(now, file))
        list = rc_format(&result->arena, "%S", now.n ? &now : &file);
    else
        list = rc_format(&result->arena, "%S:%S", &now, &file);
    rc_plan_set(result, RC_STR(NAME), list, source, reason);
    return true;
}

const char *rc_preloading_add(const struct rc_context *context, struct rc_result *result, struct rc_str file,
                              const char *name, const char *source, const char *reason)
{
    const char *hidden = rc_container_hides(context, result, file, name);

    if (hidden)
        return hidden;
    if (!file.n)
        return rc_format(&result->arena,
                         "%s is not where it was installed to, or its folder has a colon, blank or dollar in its name",
                         name);
    return lengthen_list(result, file, source, reason) ? NULL : "LD_PRELOAD is too long for one more library";
}
