/* SPDX-License-Identifier: BSD-3-Clause */
#include "roll/group.h"

#include <stdlib.h>
#include <string.h>

/* Bytes. Three groups with lists and values of this length make a line that can be read. */
enum { TASKS_LIMIT = 32, HOSTS_LIMIT = 64, VALUE_LIMIT = 40 };

void rc_namer_reset(struct rc_namer *namer)
{
    namer->text = (struct rc_arena){ .base = namer->space, .size = sizeof(namer->space) };
}

int rc_text_order(struct rc_str a, struct rc_str b)
{
    size_t n = a.n < b.n ? a.n : b.n;
    int order = n ? memcmp(a.p, b.p, n) : 0;

    if (!order)
        order = (a.n > b.n) - (a.n < b.n);
    return order ? order : (a.p != NULL) - (b.p != NULL);
}

static int order_number(uint32_t a, uint32_t b)
{
    return (a > b) - (a < b);
}

static int by_value(const void *left, const void *right)
{
    const struct rc_member *a = left;
    const struct rc_member *b = right;
    int order = rc_text_order(a->text, b->text);

    if (!order)
        order = order_number(a->number, b->number);
    return order ? order : order_number(a->roll->node, b->roll->node);
}

static int by_host(const void *left, const void *right)
{
    return rc_compact_order(*(const struct rc_str *)left, *(const struct rc_str *)right);
}

static int by_first(const void *left, const void *right)
{
    return order_number(((const struct rc_range *)left)->first, ((const struct rc_range *)right)->first);
}

void rc_member_sort(struct rc_member *member, size_t count)
{
    qsort(member, count, sizeof(*member), by_value);
}

size_t rc_member_run(const struct rc_member *member, size_t count)
{
    size_t n = 1;

    while (n < count && member->number == member[n].number && !rc_text_order(member->text, member[n].text))
        n++;
    return n;
}

static bool is_before(const struct rc_group *a, const struct rc_group *b)
{
    return a->count != b->count ? a->count > b->count : a->node < b->node;
}

size_t rc_group_find(struct rc_member *member, size_t count, struct rc_group shown[RC_GROUPS_SHOWN])
{
    size_t groups = 0;
    size_t n;

    rc_member_sort(member, count);
    for (size_t i = 0; i < count; i += n) {
        struct rc_group group = { &member[i], 0, member[i].roll->node };
        size_t at = groups < RC_GROUPS_SHOWN ? groups : RC_GROUPS_SHOWN;

        group.count = n = rc_member_run(&member[i], count - i);
        for (groups++; at > 0 && is_before(&group, &shown[at - 1]); at--)
            if (at < RC_GROUPS_SHOWN)
                shown[at] = shown[at - 1];
        if (at < RC_GROUPS_SHOWN)
            shown[at] = group;
    }
    return groups;
}

const char *rc_name_ranges(struct rc_namer *namer, const char *what, const struct rc_range *range, size_t count)
{
    bool one = true;
    const char *list = rc_compact_ranges(range, count, TASKS_LIMIT, &namer->text);

    for (size_t i = 0; i < count; i++)
        one = one && range[i].last == range[0].first;
    return rc_format(&namer->text, one ? "%s %s" : "%ss %s", what, list);
}

static const char *name_sorted(struct rc_namer *namer, const char *what, size_t count)
{
    qsort(namer->range, count, sizeof(*namer->range), by_first);
    return rc_name_ranges(namer, what, namer->range, count);
}

const char *rc_name_tasks(struct rc_namer *namer, const struct rc_member *member, size_t count)
{
    size_t ranges = 0;

    for (size_t i = 0; i < count; i++) {
        struct rc_str rest = member[i].roll->tasks;

        while (rc_roll_next_range(&rest, &namer->range[ranges].first, &namer->range[ranges].last))
            ranges++;
    }
    return name_sorted(namer, "task", ranges);
}

const char *rc_name_nodes(struct rc_namer *namer, const struct rc_member *member, size_t count)
{
    for (size_t i = 0; i < count; i++)
        namer->range[i] = (struct rc_range){ member[i].roll->node, member[i].roll->node };
    return name_sorted(namer, "node", count);
}

const char *rc_name_numbers(struct rc_namer *namer, const char *what, const struct rc_member *member, size_t count)
{
    for (size_t i = 0; i < count; i++)
        namer->range[i] = (struct rc_range){ member[i].number, member[i].number };
    return name_sorted(namer, what, count);
}

const char *rc_name_hosts(struct rc_namer *namer, const struct rc_member *member, size_t count)
{
    for (size_t i = 0; i < count; i++)
        namer->host[i] = member[i].roll->host;
    qsort(namer->host, count, sizeof(*namer->host), by_host);
    return rc_compact_hosts(namer->host, count, HOSTS_LIMIT, &namer->text);
}

const char *rc_name_value(struct rc_namer *namer, struct rc_str value)
{
    bool whole = value.n <= VALUE_LIMIT;

    if (!whole)
        value.n = VALUE_LIMIT;
    return rc_format(&namer->text, whole ? "%q" : "%q...", &value);
}

static const char *show_value(struct rc_namer *namer, const struct rc_member *member, enum rc_group_show show,
                              bool first)
{
    switch (show) {
    case RC_SHOW_NUMBER:
        return rc_format(&namer->text, "%u", member->number);
    case RC_SHOW_NO_VALUE:
        return !member->text.p ? "no value" : first ? "one value" : "another value";
    case RC_SHOW_TEXT:
        break;
    }
    return member->text.p ? rc_name_value(namer, member->text) : "unset";
}

const char *rc_name_groups(struct rc_namer *namer, const struct rc_group *group, size_t groups, enum rc_group_show show)
{
    const char *list = "";
    bool first = true; /* how many members have a value */

    for (size_t i = 0; i < groups && i < RC_GROUPS_SHOWN; i++) {
        const char *value = show_value(namer, group[i].member, show, first);
        const char *tasks = rc_name_tasks(namer, group[i].member, group[i].count);
        const char *hosts = rc_name_hosts(namer, group[i].member, group[i].count);

        list = rc_format(&namer->text, "%s%s%s for %s on %s", list, i ? ", " : "", value, tasks, hosts);
        first = first && !group[i].member->text.p;
    }
    if (groups > RC_GROUPS_SHOWN)
        list = rc_format(&namer->text, "%s and %U more", list, (uint64_t)(groups - RC_GROUPS_SHOWN));
    return list;
}
