/* SPDX-License-Identifier: BSD-3-Clause */
#include "roll/names.h"

#include <stdlib.h>
#include <string.h>

/* A host's name, cut at the number that counts hosts: rack1n[042]-ib.example. */
struct parts {
    struct rc_str before;
    struct rc_str digits; /* absent where the name has no number */
    struct rc_str behind;
    uint32_t number;
};

enum { DIGITS_MAX = 9 };

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_special(char c)
{
    return c == '[' || c == ']' || c == ',';
}

/* Returns the end of the part that has the number: of a name without its domain, or of a
 * whole address. Returns 0 where the name must not be cut. */
static size_t label_end(struct rc_str name)
{
    size_t end = 0;
    bool digits = true;

    if (name.n > RC_COMPACT_NAME_MAX)
        return 0;
    for (size_t i = 0; i < name.n; i++)
        if (is_special(name.p[i]))
            return 0;
    for (; end < name.n && name.p[end] != '.'; end++)
        digits = digits && is_digit(name.p[end]);
    return digits ? name.n : end;
}

static struct parts cut_name(struct rc_str name)
{
    struct parts parts = { .before = name, .digits = RC_ABSENT, .behind = RC_ABSENT };
    size_t end = label_end(name);
    size_t first;

    while (end > 0 && !is_digit(name.p[end - 1]))
        end--;
    for (first = end; first > 0 && is_digit(name.p[first - 1]); first--)
        continue;
    /* lists of hosts do not begin with a bracket */
    if (first == end || first == 0 || end - first > DIGITS_MAX)
        return parts;
    parts.before.n = first;
    parts.digits = (struct rc_str){ name.p + first, end - first };
    parts.behind = (struct rc_str){ name.p + end, name.n - end };
    for (size_t i = first; i < end; i++)
        parts.number = parts.number * 10 + (uint32_t)(name.p[i] - '0');
    return parts;
}

static int compare_texts(struct rc_str a, struct rc_str b)
{
    for (size_t i = 0; i < a.n && i < b.n; i++)
        if (a.p[i] != b.p[i])
            return (unsigned char)a.p[i] < (unsigned char)b.p[i] ? -1 : 1;
    return (a.n > b.n) - (a.n < b.n);
}

int rc_compact_order(struct rc_str a, struct rc_str b)
{
    struct parts left = cut_name(a);
    struct parts right = cut_name(b);
    int order = compare_texts(left.before, right.before);

    if (!order)
        order = (left.digits.p != NULL) - (right.digits.p != NULL);
    if (!order)
        order = compare_texts(left.behind, right.behind);
    if (!order)
        order = (left.number > right.number) - (left.number < right.number);
    if (!order)
        order = (left.digits.n > right.digits.n) - (left.digits.n < right.digits.n);
    return order;
}

static bool same_but_number(const struct parts *a, const struct parts *b)
{
    return a->digits.p && b->digits.p && rc_str_eq(a->before, b->before) && rc_str_eq(a->behind, b->behind);
}

/* n9, n10 and n009, n010, but not n9, n010. */
static bool follows_host(const struct parts *a, const struct parts *b)
{
    return same_but_number(a, b) && b->number == a->number + 1 &&
           (a->digits.n == b->digits.n || (a->digits.n + 1 == b->digits.n && b->digits.p[0] != '0'));
}

static size_t count_digits(uint32_t number)
{
    size_t digits = 1;

    while (number /= 10)
        digits++;
    return digits;
}

static size_t next_range(const struct rc_range *ranges, size_t count, size_t i, struct rc_range *range)
{
    *range = ranges[i];
    while (++i < count && (ranges[i].first <= range->last || ranges[i].first - 1 == range->last))
        if (ranges[i].last > range->last)
            range->last = ranges[i].last;
    return i;
}

static const char *and_more(struct rc_arena *arena, size_t start, uint64_t more)
{
    rc_format(arena, " and %llu more", (unsigned long long)more);
    return arena->full ? "" : arena->base + start;
}

const char *rc_compact_ranges(const struct rc_range *ranges, size_t count, size_t limit, struct rc_arena *arena)
{
    size_t start = arena->used;
    struct rc_range range;
    uint64_t left = 0;

    for (size_t i = 0; i < count; left += (uint64_t)range.last - range.first + 1)
        i = next_range(ranges, count, i, &range);
    for (size_t i = 0; i < count;) {
        bool begun = arena->used > start;
        size_t need;

        i = next_range(ranges, count, i, &range);
        need = begun + count_digits(range.first) + (range.first < range.last ? 1 + count_digits(range.last) : 0);
        if (begun && arena->used - start + need > limit)
            return and_more(arena, start, left);
        rc_format(arena, range.first < range.last ? "%s%u-%u" : "%s%u", begun ? "," : "", range.first, range.last);
        rc_join(arena);
        left -= (uint64_t)range.last - range.first + 1;
    }
    rc_copy(arena, RC_STR(""));
    return arena->full ? "" : arena->base + start;
}

/* Returns the place of the first host behind i that has another name. */
static size_t next_host(const struct rc_str *hosts, size_t count, size_t i)
{
    struct rc_str name = hosts[i];

    while (++i < count && rc_str_eq(hosts[i], name))
        continue;
    return i;
}

/* The list of hosts that is being written, and how far it has come. */
struct list {
    const struct rc_str *hosts;
    size_t count;
    size_t i;      /* the next host */
    uint64_t left; /* how many names are still to be written */
    size_t start;  /* where the text begins in the arena */
    size_t limit;
    struct rc_arena *arena;
};

static bool has_room(const struct list *list, size_t need)
{
    size_t used = list->arena->used - list->start;

    return used == 0 || used + need <= list->limit;
}

/* Finds the hosts from list->i on whose numbers follow each other. *first and *last get
 * the first and the last of them, *names their number. Returns where the next ones begin. */
static size_t find_row(const struct list *list, struct parts *first, struct parts *last, uint64_t *names)
{
    size_t i = next_host(list->hosts, list->count, list->i);

    *first = *last = cut_name(list->hosts[list->i]);
    *names = 1;
    for (; i < list->count; i = next_host(list->hosts, list->count, i)) {
        struct parts next = cut_name(list->hosts[i]);

        if (!follows_host(last, &next))
            break;
        *last = next;
        ++*names;
    }
    return i;
}

/* Writes the next host by itself. False where there was no room for it. */
static bool put_name(struct list *list)
{
    struct rc_str name = list->hosts[list->i];
    bool whole = name.n <= RC_COMPACT_NAME_MAX;

    if (!whole)
        name.n = RC_COMPACT_NAME_MAX - 3;
    if (!has_room(list, 1 + name.n + (whole ? 0 : 3)))
        return false;
    rc_format(list->arena, "%s%pS%s", list->arena->used > list->start ? "," : "", &name, whole ? "" : "...");
    rc_join(list->arena);
    list->i = next_host(list->hosts, list->count, list->i);
    list->left--;
    return true;
}

/* Whether the next host has neighbours that differ from it in their number alone. */
static bool has_neighbours(const struct list *list)
{
    size_t next = next_host(list->hosts, list->count, list->i);
    struct parts one = cut_name(list->hosts[list->i]);
    struct parts other;

    if (next == list->count)
        return false;
    other = cut_name(list->hosts[next]);
    return same_but_number(&one, &other);
}

/* Writes the next host with its neighbours, as prefix[...]suffix. False where there was no
 * room for all of them. */
static bool put_bracket(struct list *list)
{
    const struct parts like = cut_name(list->hosts[list->i]);
    struct parts first;
    struct parts last;
    uint64_t names;
    bool open = false;
    bool room = true;

    while (list->i < list->count) {
        size_t next = find_row(list, &first, &last, &names);
        size_t need = 1 + first.digits.n + (names > 1 ? 1 + last.digits.n : 0) + 1 + first.behind.n;

        if (!same_but_number(&like, &first))
            break;
        room = has_room(list, need + (open ? 0 : first.before.n + 1));
        if (!room)
            break;
        if (!open)
            rc_format(list->arena, "%s%pS[%pS", list->arena->used > list->start ? "," : "", &first.before,
                      &first.digits);
        else
            rc_format(list->arena, ",%pS", &first.digits);
        rc_join(list->arena);
        if (names > 1) {
            rc_format(list->arena, "-%pS", &last.digits);
            rc_join(list->arena);
        }
        open = true;
        list->left -= names;
        list->i = next;
    }
    if (open) {
        rc_format(list->arena, "]%pS", &like.behind);
        rc_join(list->arena);
    }
    return room;
}

const char *rc_compact_hosts(const struct rc_str *hosts, size_t count, size_t limit, struct rc_arena *arena)
{
    struct list list = { hosts, count, 0, 0, arena->used, limit, arena };

    for (size_t i = 0; i < count; i = next_host(hosts, count, i))
        list.left++;
    while (list.i < count)
        if (!(has_neighbours(&list) ? put_bracket(&list) : put_name(&list)))
            return and_more(arena, list.start, list.left);
    rc_copy(arena, RC_STR(""));
    return arena->full ? "" : arena->base + list.start;
}

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
    return rc_format(&namer->text, whole ? "%pQ" : "%pQ...", &value);
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
        list = rc_format(&namer->text, "%s and %llu more", list, (unsigned long long)(groups - RC_GROUPS_SHOWN));
    return list;
}
