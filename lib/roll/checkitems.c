/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "roll/amount.h"
#include "roll/checking.h"
#include "roll/items.h"
#include "roll/netorder.h"

/* Bytes of a value that a line shows (rc_format); of longer ones it has so many before the first difference. */
enum { VALUE_LIMIT = 64, BEFORE_DIFFERENCE = 16 };

/* The nodes that say what they have, and what each of them says, RC_ITEMS a node. */
struct things {
    struct rc_member *node; /* text: the part of the launch that it is compared in */
    struct rc_str *value;
    size_t count;
    unsigned lines; /* that may still be written */
    enum rc_item beyond[RC_ITEMS];
    unsigned beyonds; /* items that differ, too */
};

static bool read_values(struct things *things)
{
    things->value = calloc(things->count * RC_ITEMS + 1, sizeof(*things->value));
    for (size_t i = 0; things->value && i < things->count; i++) {
        struct rc_str lines = things->node[i].roll->items;
        struct rc_str value;
        enum rc_item item;

        while (rc_items_next(&lines, &item, &value))
            things->value[i * RC_ITEMS + item] = value;
    }
    return things->value != NULL;
}

/* Nodes that say nothing of what they have are compared with none. */
static bool collect_nodes(struct rc_checking *check, struct things *things)
{
    things->node = calloc(check->count + 1, sizeof(*things->node));
    for (size_t i = 0; things->node && i < check->count; i++) {
        const struct rc_roll *roll = check->member[i].roll;

        if (roll->items.p)
            things->node[things->count++] = (struct rc_member){ roll, rc_items_value(roll->items, RC_ITEM_component),
                                                                0 };
    }
    if (things->node)
        rc_member_sort(things->node, things->count);
    return things->node && read_values(things);
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

/* Puts what these nodes say of an item into check->part, and returns how many say something; 0 where all say the
 * same, which is so in a healthy launch. */
static size_t select_members(struct rc_checking *check, const struct rc_member *node, const struct rc_str *value,
                             size_t nodes, enum rc_item item)
{
    enum rc_compared compared = rc_item_row(item)->compared;
    bool differs = false;
    size_t count = 0;

    for (size_t i = 0; i < nodes; i++) {
        struct rc_str text = value[i * RC_ITEMS + item];

        if (!text.p && compared != RC_COMPARED_OR_NONE)
            continue;
        check->part[count] = (struct rc_member){ node[i].roll, text, 0 };
        differs = differs || rc_text_order(check->part[0].text, text) != 0;
        count++;
    }
    if (!differs)
        return 0;
    if (compared == RC_COMPARED_ROUGHLY)
        round_values(check->part, count);
    else
        count = keep_comparable(check->part, count, item);
    return count;
}

/* How many bytes the values of these groups have in common at their beginning. */
static size_t common_beginning(const struct rc_group *group, size_t groups)
{
    struct rc_str first = group[0].member->text;
    size_t common = first.n;

    for (size_t i = 1; i < groups; i++) {
        struct rc_str other = group[i].member->text;
        size_t n = 0;

        while (n < common && n < other.n && first.p[n] == other.p[n])
            n++;
        common = n;
    }
    return common;
}

/* "'7 NVIDIA H100'"; of long values the part that differs, "...'torch 2.13.0'". */
static const char *show_part(struct rc_namer *namer, struct rc_str value, size_t common)
{
    size_t from = value.n > VALUE_LIMIT && common > BEFORE_DIFFERENCE ? common - BEFORE_DIFFERENCE : 0;
    struct rc_str part = { value.p + from, value.n - from };

    if (!value.p)
        return "none";
    return rc_format(&namer->text, "%s%q", from ? "..." : "", &part);
}

static const char *name_on(struct rc_namer *namer, const struct rc_group *group, size_t common)
{
    const char *hosts = rc_name_hosts(namer, group->member, group->count);

    return rc_format(&namer->text, "%s on %s", show_part(namer, group->member->text, common), hosts);
}

/* "'7 NVIDIA H100' on n7, '8 NVIDIA H100' on the other 31": the odd ones first, if more than half are alike. */
static const char *name_sides(struct rc_namer *namer, const struct rc_group *group, size_t groups, size_t count)
{
    bool odd = group[0].count > count / 2;
    size_t shown = groups < RC_GROUPS_SHOWN ? groups : RC_GROUPS_SHOWN;
    size_t common = common_beginning(group, shown);
    const char *list = "";
    size_t left = count;

    for (size_t i = odd; i < shown; i++) {
        list = rc_format(&namer->text, "%s%s%s", list, *list ? ", " : "", name_on(namer, &group[i], common));
        left -= group[i].count;
    }
    left -= odd ? group[0].count : 0;
    if (left > 0)
        list = rc_format(&namer->text, "%s, others on %U more", list, (uint64_t)left);
    if (odd)
        list = rc_format(&namer->text, "%s, %s on the other %U", list, show_part(namer, group[0].member->text, common),
                         (uint64_t)group[0].count);
    return rc_format(&namer->text, "%s; %s", list,
                     odd ? "mend or leave out the odd one, or say same=off" : "use nodes of one kind, or say same=off");
}

static void note_beyond(struct things *things, enum rc_item item)
{
    if (things->beyonds == 0 || things->beyond[things->beyonds - 1] != item)
        things->beyond[things->beyonds++] = item;
}

/* One item of nodes that are of one part of the launch. */
static void compare_item(struct rc_checking *check, struct things *things, size_t start, size_t nodes,
                         enum rc_item item)
{
    struct rc_group shown[RC_GROUPS_SHOWN];
    size_t count = select_members(check, things->node + start, things->value + start * RC_ITEMS, nodes, item);
    size_t groups = rc_group_find(check->part, count, shown);

    if (groups < 2)
        return;
    if (things->lines == 0) {
        note_beyond(things, item);
        return;
    }
    things->lines--;
    rc_checking_add(
        check, RC622,
        rc_format(check->arena, "%s %s", rc_item_row(item)->words, name_sides(&check->namer, shown, groups, count)));
    rc_checking_blame_odd(check, check->part, count, &shown[0]);
}

/* What there are no lines for. */
static void add_beyond(struct rc_checking *check, const struct things *things)
{
    const char *names = "";

    for (unsigned i = 0; i < things->beyonds; i++)
        names = rc_format(&check->namer.text, "%s%s%s", names, i ? ", " : "", rc_item_row(things->beyond[i])->name);
    if (things->beyonds > 0)
        rc_checking_add(check, RC622,
                        rc_format(check->arena, "%s differ%s, too; rollcall check shows on which nodes", names,
                                  things->beyonds > 1 ? "" : "s"));
}

void rc_check_items(struct rc_checking *check, unsigned lines)
{
    struct things things = { .lines = lines };
    bool done = collect_nodes(check, &things);
    size_t n;

    for (unsigned item = 0; done && item < RC_ITEMS; item++)
        for (size_t start = 0; start < things.count; start += n) {
            n = rc_member_run(&things.node[start], things.count - start);
            if (rc_item_row((enum rc_item)item)->compared != RC_COMPARED_WITHIN)
                compare_item(check, &things, start, n, (enum rc_item)item);
        }
    if (done)
        add_beyond(check, &things);
    else
        check->failed = true;
    free(things.node);
    free(things.value);
}
