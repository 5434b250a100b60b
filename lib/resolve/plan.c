/* SPDX-License-Identifier: BSD-3-Clause */
/* plan.c - changes to the environment: one entry a name, each with its reason. */
#include "base/pairs.h"
#include "resolve/resolve.h"
#include "resolve/steps.h"

struct rc_plan_entry *rc_plan_find(struct rc_plan *plan, struct rc_str name)
{
    /* most names differ in length, and need no call */
    for (unsigned i = 0; i < plan->count; i++)
        if (plan->entry[i].name.n == name.n && rc_str_eq(plan->entry[i].name, name))
            return &plan->entry[i];
    return NULL;
}

/* Replace the entry of the same name, or add one. */
static void put_entry(struct rc_plan *plan, struct rc_plan_entry entry)
{
    struct rc_plan_entry *place = rc_plan_find(plan, entry.name);

    if (!place && plan->count < RC_PLAN_MAX)
        place = &plan->entry[plan->count++];
    if (place)
        *place = entry;
    else
        plan->full = true;
}

struct rc_str rc_plan_set(struct rc_result *result, struct rc_str name, const char *value, const char *source,
                          const char *reason)
{
    struct rc_str now = rc_env_find(&result->env, name);

    put_entry(&result->plan, (struct rc_plan_entry){
                                 .action = RC_SET,
                                 .name = name,
                                 .value = value,
                                 .source = source,
                                 .reason = reason,
                                 .changes = !rc_str_is(now, value),
                             });
    return now;
}

void rc_plan_unset(struct rc_result *result, struct rc_str name, const char *reason)
{
    if (rc_env_find(&result->env, name).p)
        put_entry(&result->plan,
                  (struct rc_plan_entry){ .action = RC_UNSET, .name = name, .reason = reason, .changes = true });
}

void rc_plan_keep(struct rc_result *result, struct rc_str name, const char *reason)
{
    struct rc_str now = rc_env_find(&result->env, name);

    put_entry(&result->plan, (struct rc_plan_entry){
                                 .action = RC_KEEP,
                                 .name = name,
                                 .value = rc_copy(&result->arena, now),
                                 .source = name.p,
                                 .reason = reason,
                             });
}

void rc_plan_set_number(struct rc_result *result, struct rc_str name, uint32_t value, const char *source,
                        const char *reason)
{
    const char *text = rc_format(&result->arena, "%u", value);
    struct rc_str now = rc_plan_set(result, name, text, source, reason);

    if (now.p && !rc_str_is(now, text))
        rc_say(&result->messages, RC501, "%s was %pQ, it is %s now: %s", name.p, &now, text, reason);
}

void rc_plan_set_field(struct rc_result *result, struct rc_str name, enum rc_field field, const char *reason)
{
    rc_plan_set_number(result, name, result->identity.field[field], rc_identity_source(result, field), reason);
}

void rc_plan_unset_all(struct rc_result *result, const struct rc_str *names, size_t count, const char *reason)
{
    for (size_t i = 0; i < count; i++)
        rc_plan_unset(result, names[i], reason);
}

static uint32_t digest(struct rc_str value)
{
    return (uint32_t)rc_hash(value.p, value.n) & INT32_MAX;
}

bool rc_plan_owns(const struct rc_env *env, struct rc_str name)
{
    struct rc_str now = rc_env_find(env, name);
    struct rc_str list = rc_env_get(env, RC_OWN);
    struct rc_str key;
    struct rc_str value;
    uint32_t number;

    while (now.p && rc_pair_next(&list, ' ', &key, &value))
        if (rc_str_eq(key, name))
            return rc_parse_u32(value, INT32_MAX, &number) && number == digest(now);
    return false;
}

static void add_own(struct rc_arena *arena, const char *list, struct rc_str name, struct rc_str value)
{
    rc_join(arena);
    rc_format(arena, *list ? " %pS=%u" : "%pS=%u", &name, digest(value));
}

/* Entries of an outer launch stay if this plan leaves them unchanged. */
void rc_plan_own(struct rc_result *result)
{
    enum { LIST_MAX = 6144 };
    struct rc_str before = rc_env_get(&result->env, RC_OWN);
    struct rc_plan *plan = &result->plan;
    struct rc_str name;
    struct rc_str value;
    const char *list;

    if (!rc_plan_find(plan, RC_STR(RC_STAMP)) || !rc_plan_has_room(result, LIST_MAX))
        return;
    list = rc_copy(&result->arena, RC_STR(""));
    for (unsigned i = 0; i < plan->count; i++) {
        const struct rc_plan_entry *entry = &plan->entry[i];
        bool is_new = entry->action == RC_SET && entry->changes;

        if (is_new || (entry->action != RC_UNSET && rc_plan_owns(&result->env, entry->name)))
            add_own(&result->arena, list, entry->name, rc_str(entry->value));
    }
    while (rc_pair_next(&before, ' ', &name, &value))
        if (!rc_plan_find(plan, name) && rc_plan_owns(&result->env, name))
            add_own(&result->arena, list, name, rc_env_find(&result->env, name));
    rc_plan_set(result, RC_STR(RC_OWN), list, "rollcall", "what a job that is submitted here must not inherit");
}

bool rc_plan_has_room(const struct rc_result *result, size_t bytes)
{
    enum { ENTRIES_LEFT = 9, BYTES_LEFT = 4096 };

    return result->plan.count + ENTRIES_LEFT <= RC_PLAN_MAX &&
           result->arena.used + bytes + BYTES_LEFT <= result->arena.size;
}

bool rc_plan_fits(struct rc_result *result)
{
    if (!result->plan.full && !result->arena.full)
        return true;
    if (result->plan.full)
        return rc_say(
            &result->messages, RC502,
            "more than %u variables have to be set or unset; nothing is set; unset those that the job does not "
            "need, such as PMIX_ and PMI_ variables",
            (uint32_t)RC_PLAN_MAX);
    return rc_say(&result->messages, RC502,
                  "the values to set are too long; nothing is set; unset variables of many thousand characters");
}
