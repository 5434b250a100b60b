/* SPDX-License-Identifier: BSD-3-Clause */
#include "roll/blame.h"

#include <stdlib.h>
#include <string.h>

#include "launcher/hostlist.h"

enum { ROOM_FIRST = 16 };

static bool make_room(struct rc_blame *blame)
{
    size_t room = blame->room ? 2 * blame->room : ROOM_FIRST;
    struct rc_blamed *list;

    if (blame->count < blame->room)
        return true;
    list = realloc(blame->list, room * sizeof(*list));
    if (!list)
        return false;
    blame->list = list;
    blame->room = room;
    return true;
}

/* What is no host's name must not come into a line that is pasted into a shell. */
static bool is_host_name(struct rc_str name)
{
    uint32_t count;

    return rc_hostlist_count(name, &count) && count == 1;
}

static bool add(struct rc_blame *blame, unsigned finding, struct rc_str name, struct rc_str host)
{
    char *copy;

    if (!is_host_name(name))
        return true;
    copy = make_room(blame) ? strndup(name.p, name.n) : NULL;

    if (copy)
        blame->list[blame->count++] = (struct rc_blamed){ finding, copy, host };
    return copy;
}

bool rc_blame_add_name(struct rc_blame *blame, unsigned finding, struct rc_str name)
{
    return add(blame, finding, name, RC_ABSENT);
}

uint32_t rc_blame_find_host(struct rc_str hosts, struct rc_str host)
{
    uint32_t index = rc_hostlist_find(hosts, host);
    struct rc_str domain;

    return index != RC_UNKNOWN ? index : rc_hostlist_find(hosts, rc_str_split(host, '.', &domain));
}

/* A node may call itself by another name than its launcher; srun counts its nodes as it lists them. */
static uint32_t find_node(const struct rc_roll *roll)
{
    uint32_t index = roll->hosts.p ? rc_blame_find_host(roll->hosts, roll->host) : RC_UNKNOWN;
    uint32_t count;

    if (index == RC_UNKNOWN && rc_str_is(roll->launcher, "slurm") && rc_hostlist_count(roll->hosts, &count) &&
        count == roll->nodes)
        index = roll->node;
    return index;
}

bool rc_blame_add(struct rc_blame *blame, unsigned finding, const struct rc_roll *roll)
{
    char name[RC_HOST_MAX + 1];
    uint32_t index = find_node(roll);

    if (index == RC_UNKNOWN || !rc_hostlist_nth(roll->hosts, index, name))
        return add(blame, finding, roll->host, roll->host);
    return add(blame, finding, rc_str(name), roll->host);
}

void rc_blame_free(struct rc_blame *blame)
{
    for (size_t i = 0; i < blame->count; i++)
        free(blame->list[i].name);
    free(blame->list);
    *blame = (struct rc_blame){ .count = 0 };
}
