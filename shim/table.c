/* SPDX-License-Identifier: BSD-3-Clause */
#include "shim.h"

_Static_assert(SHIM_TABLE_MAX < UINT16_MAX, "1 + a place fits 16 bits");

/* Write "NAME=VALUE" for each entry that sets a variable, else NULL. Return false without room. */
static bool write_strings(struct shim_table *table, const struct rc_plan *plan, char *string[RC_PLAN_MAX])
{
    char *to = table->text;

    for (unsigned i = 0; i < plan->count; i++) {
        const struct rc_plan_entry *e = &plan->entry[i];
        struct rc_str value;

        string[i] = NULL;
        if (e->action != RC_SET)
            continue;
        value = rc_str(e->value);
        if (!value.p || e->name.n + value.n + 2 > (size_t)(table->text + SHIM_TEXT_MAX - to))
            return false;
        string[i] = to;
        __builtin_memcpy(to, e->name.p, e->name.n);
        to += e->name.n;
        *to++ = '=';
        __builtin_memcpy(to, value.p, value.n);
        to += value.n;
        *to++ = '\0';
    }
    return true;
}

/* Write to `place` 1 + the first index of each variable, or 0; to table->dropped the duplicates and unset names. Return
 * their number. */
static unsigned find_places(struct shim_table *table, const struct rc_env *index, const struct rc_plan *plan,
                            unsigned place[RC_PLAN_MAX])
{
    unsigned dropped = 0;

    for (unsigned i = 0; i < plan->count; i++) {
        const struct rc_plan_entry *e = &plan->entry[i];
        unsigned found = e->action == RC_KEEP ? 0 : rc_env_place(index, e->name, index->count);

        place[i] = found;
        while (found) {
            found = rc_env_place(index, e->name, found - 1);
            if (!found && e->action == RC_SET)
                break;
            table->dropped[dropped++] = (uint16_t)place[i];
            place[i] = found;
        }
    }
    return dropped;
}

/* Fill a removed entry of the old array: a NULL would end it for programs that walk main()'s third argument, and some
 * take an empty string for a name. */
static char *filler_entry(const struct shim_table *table)
{
    static char nothing[] = "";

    return table->entry[0] ? table->entry[0] : nothing;
}

/* Remove the NULLs. Return the number left. */
static unsigned close_holes(char **entry, unsigned count)
{
    unsigned left = 0;

    for (unsigned i = 0; i < count; i++)
        if (entry[i])
            entry[left++] = entry[i];
    return left;
}

bool shim_table_apply(struct shim_table *table, const struct rc_env *index, const struct rc_plan *plan)
{
    char **env = environ;
    char *string[RC_PLAN_MAX];
    unsigned place[RC_PLAN_MAX];
    unsigned count = index->count;
    unsigned dropped, reused = 0, added = 0, replaced = 0;

    if (count > SHIM_TABLE_MAX || !write_strings(table, plan, string))
        return false;
    dropped = find_places(table, index, plan, place);
    for (unsigned i = 0; i < plan->count; i++) {
        added += string[i] && !place[i];
        replaced += string[i] && place[i];
    }
    if (count + added > SHIM_TABLE_MAX + dropped)
        return false;

    /* no failure from here on */
    for (unsigned i = 0; i < count; i++)
        table->entry[i] = env[i];
    for (unsigned i = 0; i < plan->count; i++) {
        if (!string[i])
            continue;
        if (!place[i] && reused < dropped)
            place[i] = table->dropped[reused++];
        if (place[i])
            table->entry[place[i] - 1] = env[place[i] - 1] = string[i];
        else
            table->entry[count++] = string[i];
    }
    if (reused < dropped) {
        for (unsigned i = reused; i < dropped; i++)
            table->entry[table->dropped[i] - 1] = NULL;
        count = close_holes(table->entry, count);
    }
    table->entry[count] = NULL;
    for (; reused < dropped; reused++)
        env[table->dropped[reused] - 1] = filler_entry(table);
    if (count != index->count)
        environ = table->entry;
    table->added = dropped || replaced ? NULL : table->entry + index->count;
    return true;
}
