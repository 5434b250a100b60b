/* SPDX-License-Identifier: BSD-3-Clause */
#include "roll/checking.h"

#include <stdlib.h>
#include <string.h>

#include "launcher/hosts.h"
#include "roll/items.h"
#include "roll/netorder.h"

void rc_checking_add(struct rc_checking *check, enum rc_message_id id, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    rc_message_add(&check->found, id, rc_format_list(check->arena, format, args));
    va_end(args);
    rc_namer_reset(&check->namer);
}

/* The finding that was added last blames the nodes of these members. */
static void rc_checking_blame(struct rc_checking *check, const struct rc_member *member, size_t count)
{
    for (size_t i = 0; check->blame && i < count; i++)
        if (!rc_blame_add(check->blame, check->found.count - 1, member[i].roll))
            check->failed = true;
}

void rc_checking_blame_odd(struct rc_checking *check, const struct rc_member *member, size_t count,
                           const struct rc_group *most)
{
    size_t before = (size_t)(most->member - member);
    size_t behind = before + most->count;

    if (!rc_group_is_most(most, count))
        return;
    rc_checking_blame(check, member, before);
    rc_checking_blame(check, member + behind, count - behind);
}

size_t rc_checking_keep_repeated(struct rc_member *member, size_t count)
{
    size_t kept = 0;
    size_t n;

    rc_member_sort(member, count);
    for (size_t i = 0; i < count; i += n) {
        n = rc_member_run(&member[i], count - i);
        if (n < 2)
            continue;
        memmove(&member[kept], &member[i], n * sizeof(*member));
        kept += n;
    }
    return kept;
}

/* How much there is of what has no fixed number in an entry. */
struct sizes {
    size_t ranges;
    size_t users;
    size_t gpus;
};

static struct sizes measure_entries(const struct rc_roll *rolls, size_t count)
{
    struct sizes sizes = { .ranges = count };

    for (size_t i = 0; i < count; i++) {
        struct rc_str rest = rolls[i].tasks;
        uint32_t first;
        uint32_t last;

        while (rc_roll_next_range(&rest, &first, &last))
            sizes.ranges++;
        sizes.users += rolls[i].user_count;
        sizes.gpus += rolls[i].gpu_count;
    }
    return sizes;
}

static bool allocate_members(struct rc_checking *check, const struct sizes *sizes)
{
    size_t count = check->all + 1;
    size_t most = count > sizes->gpus ? count : sizes->gpus;

    check->member = calloc(count, sizeof(*check->member));
    check->part = calloc(count, sizeof(*check->part));
    check->user = calloc(sizes->users + 1, sizeof(*check->user));
    check->gpu = calloc(sizes->gpus + 1, sizeof(*check->gpu));
    check->ranks.edge = calloc(2 * sizes->ranges + 1, sizeof(*check->ranks.edge));
    check->ranks.gap = calloc(2 * sizes->ranges + 1, sizeof(*check->ranks.gap));
    check->ranks.twice = calloc(2 * sizes->ranges + 1, sizeof(*check->ranks.twice));
    check->namer.range = calloc(sizes->ranges + most, sizeof(*check->namer.range));
    check->namer.host = calloc(most, sizeof(*check->namer.host));
    return check->member && check->part && check->user && check->gpu && check->ranks.edge && check->ranks.gap &&
           check->ranks.twice && check->namer.range && check->namer.host;
}

void rc_checking_destroy(struct rc_checking *check)
{
    free(check->member);
    free(check->part);
    free(check->user);
    free(check->gpu);
    free(check->ranks.edge);
    free(check->ranks.gap);
    free(check->ranks.twice);
    free(check->namer.range);
    free(check->namer.host);
    free(check);
}

struct rc_checking *rc_checking_create(const struct rc_roll *rolls, size_t count, struct rc_blame *blame,
                                       struct rc_arena *arena)
{
    const struct sizes sizes = measure_entries(rolls, count);
    struct rc_checking *check = calloc(1, sizeof(*check));

    if (!check)
        return NULL;
    check->rolls = rolls;
    check->all = check->count = count;
    check->blame = blame;
    check->arena = arena;
    if (!allocate_members(check, &sizes)) {
        rc_checking_destroy(check);
        return NULL;
    }
    for (size_t i = 0; i < count; i++)
        check->member[i].roll = &rolls[i];
    rc_namer_reset(&check->namer);
    return check;
}

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
