/* SPDX-License-Identifier: BSD-3-Clause */
#include "roll/comparison.h"

#include <stdlib.h>
#include <string.h>

#include "roll/amount.h"
#include "roll/netorder.h"

static void read_values(const struct rc_roll *roll, struct rc_str *value)
{
    struct rc_str lines = roll->items;
    struct rc_str text;
    enum rc_item item;

    while (rc_items_next(&lines, &item, &text))
        value[item] = text;
}

bool rc_comparison_read(struct rc_comparison *comparison, const struct rc_member *member, size_t count)
{
    struct rc_member *node = calloc(count + 1, sizeof(*node));

    *comparison = (struct rc_comparison){ .node = node };
    for (size_t i = 0; node && i < count; i++) {
        struct rc_str items = member[i].roll->items;

        if (items.p)
            node[comparison->count++] = (struct rc_member){ member[i].roll, rc_items_value(items, RC_ITEM_component),
                                                            0 };
    }
    comparison->value = calloc(comparison->count * RC_ITEMS + 1, sizeof(*comparison->value));
    if (!node || !comparison->value)
        return false;
    rc_member_sort(node, comparison->count);
    for (size_t i = 0; i < comparison->count; i++)
        read_values(node[i].roll, &comparison->value[i * RC_ITEMS]);
    return true;
}

void rc_comparison_free(struct rc_comparison *comparison)
{
    free(comparison->node);
    free(comparison->value);
    *comparison = (struct rc_comparison){ .count = 0 };
}

size_t rc_comparison_part(const struct rc_comparison *comparison, size_t first)
{
    return rc_member_run(&comparison->node[first], comparison->count - first);
}

/* Amounts in their order, and behind them what is none. */
static int by_amount(const void *left, const void *right)
{
    const struct rc_member *a = left;
    const struct rc_member *b = right;
    uint64_t less, more, unit;
    bool first = rc_amount_read(a->text, &less, &unit);
    bool second = rc_amount_read(b->text, &more, &unit);

    if (first != second)
        return first ? -1 : 1;
    if (first && less != more)
        return less < more ? -1 : 1;
    return rc_text_order(a->text, b->text);
}

/* Gives members with almost the same amount one value, that of the one in their middle. */
static void round_values(struct rc_member *member, size_t count)
{
    size_t n;

    qsort(member, count, sizeof(*member), by_amount);
    for (size_t i = 0; i < count; i += n) {
        struct rc_str middle;

        for (n = 1; i + n < count && rc_amount_is_almost(member[i + n - 1].text, member[i + n].text); n++)
            continue;
        middle = member[i + n / 2].text;
        for (size_t k = 0; k < n; k++)
            member[i + k].text = middle;
    }
}

/* What members must have alike to be compared: another number of tasks, or other GPUs, explains the difference. */
static struct rc_member comparable_by(const struct rc_roll *roll, enum rc_compared compared)
{
    switch (compared) {
    case RC_COMPARED_PER_TASKS:
        return (struct rc_member){ roll, RC_ABSENT, rc_netorder_tasks(roll) };
    case RC_COMPARED_PER_GPUS:
        return (struct rc_member){ roll, rc_items_value(roll->items, RC_ITEM_gpus), 0 };
    case RC_COMPARED_PER_NICS:
        return (struct rc_member){ roll, rc_items_value(roll->items, RC_ITEM_nics), 0 };
    default:
        return (struct rc_member){ roll, RC_ABSENT, 0 };
    }
}

/* Leaves the members that have it alike with most others. */
static size_t keep_comparable(struct rc_member *member, size_t count, enum rc_item item)
{
    struct rc_group shown[RC_GROUPS_SHOWN];

    for (size_t i = 0; i < count; i++)
        member[i] = comparable_by(member[i].roll, rc_item_row(item)->compared);
    rc_group_find(member, count, shown);
    count = shown[0].count;
    memmove(member, shown[0].member, count * sizeof(*member));
    for (size_t i = 0; i < count; i++)
        member[i] = (struct rc_member){ member[i].roll, rc_items_value(member[i].roll->items, item), 0 };
    return count;
}

size_t rc_comparison_select(const struct rc_comparison *comparison, size_t first, enum rc_item item,
                            struct rc_member *member)
{
    enum rc_compared compared = rc_item_row(item)->compared;
    size_t nodes = rc_comparison_part(comparison, first);
    bool differs = false;
    size_t count = 0;

    if (compared == RC_COMPARED_WITHIN)
        return 0;
    for (size_t i = first; i < first + nodes; i++) {
        struct rc_str text = comparison->value[i * RC_ITEMS + item];

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
