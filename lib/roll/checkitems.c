/* SPDX-License-Identifier: BSD-3-Clause */
/* checkitems.c - RC622: which nodes an item is compared on, and which values count as equal. */
#include <stdlib.h>
#include <string.h>

#include "roll/checking.h"
#include "roll/netorder.h"

struct comparison {
    struct rc_checking *check;
    const struct rc_member *node; /* nodes with items, sorted by component */
    size_t count;
    unsigned lines;        /* that may still be written */
    bool beyond[RC_ITEMS]; /* items that differ when no line is left */
};

enum { ROUGH_PART = 64 };

/* Return bytes, or UINT64_MAX if the text is not a number with a unit. */
static uint64_t read_amount(struct rc_str text)
{
    static const char units[][4] = { "B", "KiB", "MiB", "GiB", "TiB" };
    struct rc_str name;
    uint32_t number;

    if (rc_parse_u32(rc_str_split(text, ' ', &name), UINT32_MAX, &number))
        for (unsigned i = 0; i < sizeof(units) / sizeof(*units); i++)
            if (rc_str_is(name, units[i]))
                return (uint64_t)number << (10 * i);
    return UINT64_MAX;
}

/* Healthy nodes may differ by 1/64, less than one of 48 memory modules. Equal texts match even without numbers. */
static bool is_almost(struct rc_str one, struct rc_str other)
{
    uint64_t a = read_amount(one);
    uint64_t b = read_amount(other);
    uint64_t high = a > b ? a : b;

    return rc_str_eq(one, other) || (high < UINT64_MAX && high - (a < b ? a : b) <= high / ROUGH_PART);
}

/* Amounts in ascending order, then other texts. */
static int by_amount(const void *left, const void *right)
{
    struct rc_str a = ((const struct rc_member *)left)->text;
    struct rc_str b = ((const struct rc_member *)right)->text;
    uint64_t less = read_amount(a);
    uint64_t more = read_amount(b);

    return less != more ? (less < more ? -1 : 1) : rc_text_order(a, b);
}

/* Replace runs of almost equal amounts by their median. */
static void round_values(struct rc_member *member, size_t count)
{
    size_t n;

    qsort(member, count, sizeof(*member), by_amount);
    for (size_t i = 0; i < count; i += n) {
        struct rc_str middle;

        for (n = 1; i + n < count && is_almost(member[i + n - 1].text, member[i + n].text); n++)
            continue;
        middle = member[i + n / 2].text;
        for (size_t k = 0; k < n; k++)
            member[i + k].text = middle;
    }
}

/* Keep the largest group with equal tasks, GPUs or cards. */
static size_t keep_comparable(struct rc_member *member, size_t count, enum rc_item item)
{
    enum rc_compared compared = rc_item_row(item)->compared;
    struct rc_group shown[RC_GROUPS_SHOWN];

    for (size_t i = 0; i < count; i++) {
        const struct rc_roll *roll = member[i].roll;

        member[i] = (struct rc_member){ roll, RC_ABSENT, 0 };
        if (compared == RC_COMPARED_PER_TASKS)
            member[i].number = rc_netorder_tasks(roll);
        else if (compared == RC_COMPARED_PER_GPUS || compared == RC_COMPARED_PER_NICS)
            member[i].text = roll->item[compared == RC_COMPARED_PER_GPUS ? RC_ITEM_gpus : RC_ITEM_nics];
    }
    rc_group_find(member, count, shown);
    count = shown[0].count;
    memmove(member, shown[0].member, count * sizeof(*member));
    for (size_t i = 0; i < count; i++)
        member[i] = (struct rc_member){ member[i].roll, member[i].roll->item[item], 0 };
    return count;
}

/* Collect in check->part the nodes of one component to compare, with almost equal amounts made equal. Return their
 * number, or 0 if all agree. */
static size_t select_nodes(const struct comparison *comparison, size_t first, size_t nodes, enum rc_item item)
{
    enum rc_compared compared = rc_item_row(item)->compared;
    struct rc_member *member = comparison->check->part;
    bool differs = false;
    size_t count = 0;

    if (compared == RC_COMPARED_WITHIN)
        return 0;
    for (size_t i = first; i < first + nodes; i++) {
        struct rc_str text = comparison->node[i].roll->item[item];

        if (!text.p && compared != RC_COMPARED_OR_NONE)
            continue;
        member[count] = (struct rc_member){ comparison->node[i].roll, text, 0 };
        differs = differs || rc_text_order(member[0].text, text) != 0;
        count++;
    }
    if (!differs)
        return 0;
    if (compared != RC_COMPARED_ROUGHLY)
        return keep_comparable(member, count, item);
    round_values(member, count);
    return count;
}

/* Show the whole value: long ones may differ only at their ends. */
static const char *show_value(struct rc_namer *namer, struct rc_str value)
{
    return value.p ? rc_format(&namer->text, "'%pS'", &value) : "none";
}

static const char *name_on(struct rc_namer *namer, const struct rc_group *group)
{
    const char *hosts = rc_name_hosts(namer, group->member, group->count);

    return rc_format(&namer->text, "%s on %s", show_value(namer, group->member->text), hosts);
}

/* "'7 NVIDIA H100' on n7, '8 NVIDIA H100' on the other 31": the minority first, if there is a majority. */
static const char *name_sides(struct rc_namer *namer, const struct rc_group *group, size_t groups, size_t count)
{
    bool odd = rc_group_is_most(group, count);
    size_t shown = groups < RC_GROUPS_SHOWN ? groups : RC_GROUPS_SHOWN;
    const char *list = "";
    size_t left = count;

    for (size_t i = odd; i < shown; i++) {
        list = rc_format(&namer->text, "%s%s%s", list, *list ? ", " : "", name_on(namer, &group[i]));
        left -= group[i].count;
    }
    left -= odd ? group[0].count : 0;
    if (left > 0)
        list = rc_format(&namer->text, "%s, others on %llu more", list, (unsigned long long)left);
    if (odd)
        list = rc_format(&namer->text, "%s, %s on the other %llu", list, show_value(namer, group[0].member->text),
                         (unsigned long long)group[0].count);
    return rc_format(&namer->text, "%s; %s", list,
                     odd ? "repair or leave out the odd one, or use same=off"
                         : "use nodes of one kind, or use same=off");
}

/* Compare the `count` members in check->part. */
static void check_item(struct comparison *comparison, enum rc_item item, size_t count)
{
    struct rc_checking *check = comparison->check;
    struct rc_group shown[RC_GROUPS_SHOWN];
    size_t groups = rc_group_find(check->part, count, shown);

    if (groups < 2)
        return;
    if (comparison->lines == 0) {
        comparison->beyond[item] = true;
        return;
    }
    comparison->lines--;
    rc_checking_add(check, RC622, "%s %s", rc_item_row(item)->words, name_sides(&check->namer, shown, groups, count));
    rc_checking_blame_odd(check, check->part, count, &shown[0]);
}

static void add_beyond(struct rc_checking *check, const bool beyond[RC_ITEMS])
{
    const char *names = "";
    unsigned count = 0;

    for (unsigned item = 0; item < RC_ITEMS; item++)
        if (beyond[item])
            names = rc_format(&check->namer.text, "%s%s%s", names, count++ ? ", " : "",
                              rc_item_row((enum rc_item)item)->name);
    if (count > 0)
        rc_checking_add(check, RC622, "%s differ%s, too; rollcall check shows on which nodes", names,
                        count > 1 ? "" : "s");
}

void rc_check_items(struct rc_checking *check, unsigned lines)
{
    struct rc_member *node = check->many;
    struct comparison comparison = { .check = check, .node = node, .lines = lines };
    size_t nodes;

    for (size_t i = 0; i < check->count; i++) {
        const struct rc_roll *roll = check->member[i].roll;

        if (roll->has_items)
            node[comparison.count++] = (struct rc_member){ roll, roll->item[RC_ITEM_component], 0 };
    }
    rc_member_sort(node, comparison.count);
    for (unsigned item = 0; item < RC_ITEMS; item++) {
        for (size_t first = 0; first < comparison.count; first += nodes) {
            nodes = rc_member_run(&comparison.node[first], comparison.count - first);
            check_item(&comparison, (enum rc_item)item, select_nodes(&comparison, first, nodes, (enum rc_item)item));
        }
    }
    add_beyond(check, comparison.beyond);
}
