/* SPDX-License-Identifier: BSD-3-Clause */
#include "roll/checking.h"

#include <stdlib.h>
#include <string.h>

#include "launcher/hosts.h"

void rc_checking_add(struct rc_checking *check, enum rc_message_id id, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    rc_say_list(&check->found, id, format, args);
    va_end(args);
    rc_namer_reset(&check->namer);
}

void *rc_checking_allocate(struct rc_checking *check, size_t count, size_t size)
{
    void *array = calloc(count + 1, size);

    check->array[check->arrays++] = array;
    check->failed = check->failed || !array;
    return array;
}

/* Double the list at each power of two. */
static bool make_room(struct rc_blame *blame)
{
    struct rc_blamed *list;

    if (blame->count & (blame->count - 1))
        return true;
    list = realloc(blame->list, (blame->count ? 2 * blame->count : 1) * sizeof(*list));
    if (list)
        blame->list = list;
    return list != NULL;
}

/* Reject other text: users paste these names into a shell. */
static bool is_host_name(struct rc_str name)
{
    uint32_t count;

    return rc_hostlist_count(name, &count) && count == 1;
}

static void add_blamed(struct rc_checking *check, unsigned finding, struct rc_str name)
{
    struct rc_blame *blame = check->blame;
    char *copy;

    if (!blame || !is_host_name(name))
        return;
    copy = make_room(blame) ? strndup(name.p, name.n) : NULL;
    if (copy)
        blame->list[blame->count++] = (struct rc_blamed){ finding, copy };
    else
        check->failed = true;
}

/* A node's host name may differ from the launcher's name for it. Slurm's node ranks follow its list. */
static uint32_t find_node(const struct rc_roll *roll)
{
    uint32_t index = roll->hosts.p ? rc_hostlist_find_node(roll->hosts, roll->host) : RC_UNKNOWN;
    uint32_t count;

    if (index == RC_UNKNOWN && rc_str_is(roll->launcher, "slurm") && rc_hostlist_count(roll->hosts, &count) &&
        count == roll->nodes)
        index = roll->node;
    return index;
}

static void blame_node(struct rc_checking *check, unsigned finding, const struct rc_roll *roll)
{
    char name[RC_HOST_MAX + 1];
    uint32_t index = check->blame ? find_node(roll) : RC_UNKNOWN;
    bool listed = index != RC_UNKNOWN && rc_hostlist_nth(roll->hosts, index, name);

    add_blamed(check, finding, listed ? rc_str(name) : roll->host);
}

void rc_checking_blame_name(struct rc_checking *check, struct rc_str name)
{
    add_blamed(check, check->found.count - 1, name);
}

void rc_checking_blame_odd(struct rc_checking *check, const struct rc_member *member, size_t count,
                           const struct rc_group *most)
{
    for (size_t i = 0; rc_group_is_most(most, count) && i < count; i++)
        if (&member[i] < most->member || &member[i] >= most->member + most->count)
            blame_node(check, check->found.count - 1, member[i].roll);
}

void rc_checking_blame_dead(struct rc_checking *check, const struct rc_roll *roll)
{
    blame_node(check, RC_BLAMED_BY_ITSELF, roll);
}
