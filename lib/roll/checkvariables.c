/* SPDX-License-Identifier: BSD-3-Clause */
#include "roll/checking.h"

enum { VARIABLES_SHOWN = 3 }; /* each in a line of its own */

static struct rc_str begin_of(struct rc_str name)
{
    return (struct rc_str){ name.p, name.n < RC_COMPACT_NAME_MAX ? name.n : RC_COMPACT_NAME_MAX };
}

static struct rc_str name_of(struct rc_str variable)
{
    struct rc_str value;
    struct rc_str name = rc_str_split(variable, '=', &value);

    return value.p ? name : RC_ABSENT;
}

/* What the entry says of the variable; absent where it says nothing. */
static struct rc_str find_variable(const struct rc_roll *roll, struct rc_str name)
{
    struct rc_str value;

    for (unsigned i = 0; i < roll->user_count; i++)
        if (rc_str_eq(rc_str_split(roll->user[i], '=', &value), name))
            return value;
    return RC_ABSENT;
}

/* A full entry may have had no room for a variable. */
static bool is_full(const struct rc_member *member)
{
    return member->roll->user_count >= RC_ROLL_USER_MAX;
}

/* One variable that differs, in a line of its own. */
static void add_variable(struct rc_checking *check, struct rc_str name)
{
    struct rc_group shown[RC_GROUPS_SHOWN];
    bool open = rc_str_starts(name, "NCCL_") || rc_str_starts(name, "GLOO_") || rc_str_starts(name, "MASTER_");
    struct rc_str begin = begin_of(name);
    size_t count = 0;
    size_t groups;

    for (size_t i = 0; i < check->count; i++) {
        const struct rc_roll *roll = check->member[i].roll;
        struct rc_str value = find_variable(roll, name);

        if (value.p || !is_full(&check->member[i]))
            check->part[count++] = (struct rc_member){ roll, value, 0 };
    }
    groups = rc_group_find(check->part, count, shown);
    rc_checking_add(check, RC609,
                    rc_format(check->arena, "%S %s %s; set it alike on all nodes, or on none", &begin,
                              open ? "is" : "has",
                              rc_name_groups(&check->namer, shown, groups, open ? RC_SHOW_TEXT : RC_SHOW_NO_VALUE)));
    rc_checking_blame_odd(check, check->part, count, &shown[0]);
}

/* What differs beyond those. */
static void add_variables(struct rc_checking *check, const struct rc_str *name, size_t count)
{
    struct rc_str first = begin_of(name[0]);
    struct rc_str second = count > 1 ? begin_of(name[1]) : RC_ABSENT;
    const char *names = rc_format(&check->namer.text, count > 1 ? "%S, %S" : "%S", &first, &second);

    if (count > 2)
        names = rc_format(&check->namer.text, "%s and %U more", names, (uint64_t)(count - 2));
    rc_checking_add(check, RC609,
                    rc_format(check->arena, "%s differ%s, too; set each alike on all nodes, or on none", names,
                              count > 1 ? "" : "s"));
}

static bool has_found(const struct rc_checking *check, enum rc_message_id id)
{
    for (unsigned i = 0; i < check->found.count; i++)
        if (check->found.list[i].id == id)
            return true;
    return false;
}

/* The members that speak of one variable say the same, and all others have room
 * to say it, too. */
static bool is_alike(const struct rc_member *member, size_t count, size_t with_room)
{
    size_t said = 0;

    for (size_t i = 0; i < count; i++)
        said += !is_full(&member[i]);
    return said == with_room && rc_member_run(member, count) == count;
}

void rc_check_variables(struct rc_checking *check)
{
    struct rc_str differs[VARIABLES_SHOWN + 2];
    size_t different = 0;
    size_t with_room = 0;
    size_t count = 0;
    size_t n;

    for (size_t i = 0; i < check->count; i++) {
        const struct rc_roll *roll = check->member[i].roll;

        for (unsigned k = 0; k < roll->user_count; k++)
            if (name_of(roll->user[k]).p)
                check->user[count++] = (struct rc_member){ roll, roll->user[k], 0 };
        with_room += !is_full(&check->member[i]);
    }
    rc_member_sort(check->user, count);
    for (size_t i = 0; i < count; i += n) {
        struct rc_str name = name_of(check->user[i].text);

        for (n = 1; i + n < count && rc_str_eq(name, name_of(check->user[i + n].text)); n++)
            continue;
        if (is_alike(&check->user[i], n, with_room) || (rc_str_is(name, "MASTER_ADDR") && has_found(check, RC604)))
            continue;
        if (different < VARIABLES_SHOWN + 2)
            differs[different] = name;
        different++;
    }
    for (size_t i = 0; i < different && i < VARIABLES_SHOWN; i++)
        add_variable(check, differs[i]);
    if (different > VARIABLES_SHOWN)
        add_variables(check, &differs[VARIABLES_SHOWN], different - VARIABLES_SHOWN);
}
