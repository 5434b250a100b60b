/* SPDX-License-Identifier: BSD-3-Clause */
#include "roll/names.h"

#include <stdlib.h>
#include <string.h>

#include "launcher/hosts.h"

/* A host's name, split at the number that counts hosts: rack1n[042]-ib.example. */
struct parts {
    struct rc_str before; /* the whole name if it has no number */
    struct rc_str digits; /* RC_ABSENT then */
    struct rc_str after;
    uint32_t number;
};

enum { DIGITS_MAX = 9 };

static bool is_special(char c)
{
    return c == '[' || c == ']' || c == ',';
}

/* Return the end of the part with the number: a name without its domain, or a whole address; 0 if it must not be
 * split. */
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
        digits = digits && rc_is_digit(name.p[end]);
    return digits ? name.n : end;
}

static struct parts cut_name(struct rc_str name)
{
    struct parts parts = { .before = name, .digits = RC_ABSENT, .after = RC_ABSENT };
    size_t end = label_end(name);
    size_t first;

    while (end > 0 && !rc_is_digit(name.p[end - 1]))
        end--;
    for (first = end; first > 0 && rc_is_digit(name.p[first - 1]); first--)
        continue;
    /* host lists do not begin with a bracket */
    if (first == end || first == 0 || end - first > DIGITS_MAX)
        return parts;
    parts.before.n = first;
    parts.digits = (struct rc_str){ name.p + first, end - first };
    parts.after = (struct rc_str){ name.p + end, name.n - end };
    for (size_t i = first; i < end; i++)
        parts.number = parts.number * 10 + (uint32_t)(name.p[i] - '0');
    return parts;
}

int rc_text_order(struct rc_str a, struct rc_str b)
{
    size_t n = a.n < b.n ? a.n : b.n;
    int order = n ? memcmp(a.p, b.p, n) : 0;

    if (!order)
        order = (a.n > b.n) - (a.n < b.n);
    return order ? order : (a.p != NULL) - (b.p != NULL);
}

int rc_compact_order(struct rc_str a, struct rc_str b)
{
    struct parts left = cut_name(a);
    struct parts right = cut_name(b);
    int order = rc_text_order(left.before, right.before);

    if (!order)
        order = (left.digits.p != NULL) - (right.digits.p != NULL);
    if (!order)
        order = rc_text_order(left.after, right.after);
    if (!order)
        order = (left.number > right.number) - (left.number < right.number);
    if (!order)
        order = (left.digits.n > right.digits.n) - (left.digits.n < right.digits.n);
    return order;
}

static bool same_but_number(const struct parts *a, const struct parts *b)
{
    return a->digits.p && b->digits.p && rc_str_eq(a->before, b->before) && rc_str_eq(a->after, b->after);
}

/* n9, n10 and n009, n010, but not n9, n010. */
static bool follows_host(const struct parts *a, const struct parts *b)
{
    return same_but_number(a, b) && b->number == a->number + 1 &&
           (a->digits.n == b->digits.n || (a->digits.n + 1 == b->digits.n && b->digits.p[0] != '0'));
}

struct list {
    struct rc_arena *arena;
    size_t start; /* of its text */
    size_t limit;
};

static bool put(const struct list *list, size_t after, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Write one piece, after a comma. Return false if it and `after` more bytes do not fit. */
static bool put(const struct list *list, size_t after, const char *format, ...)
{
    char text[RC_COMPACT_NAME_MAX + sizeof("4294967295-4294967295")];
    struct rc_arena piece = { .base = text, .size = sizeof(text) };
    size_t used = list->arena->used - list->start;
    va_list args;

    va_start(args, format);
    rc_format_list(&piece, format, args);
    va_end(args);
    if (used > 0 && used + piece.used + after > list->limit)
        return false;
    rc_format(list->arena, used > 0 ? ",%s" : "%s", text);
    rc_join(list->arena);
    return true;
}

static const char *finish(const struct list *list, uint64_t more)
{
    if (more > 0)
        rc_format(list->arena, " and %llu more", (unsigned long long)more);
    else
        rc_copy(list->arena, RC_STR(""));
    return list->arena->full ? "" : list->arena->base + list->start;
}

static int order_number(uint32_t a, uint32_t b)
{
    return (a > b) - (a < b);
}

static int by_first(const void *left, const void *right)
{
    return order_number(((const struct rc_range *)left)->first, ((const struct rc_range *)right)->first);
}

/* Join the ranges from `i` that touch or overlap. Return the index of the next one. */
static size_t next_range(const struct rc_range *ranges, size_t count, size_t i, struct rc_range *range)
{
    *range = ranges[i];
    while (++i < count && (ranges[i].first <= range->last || ranges[i].first - 1 == range->last))
        if (ranges[i].last > range->last)
            range->last = ranges[i].last;
    return i;
}

const char *rc_compact_ranges(struct rc_range *ranges, size_t count, size_t limit, struct rc_arena *arena)
{
    const struct list list = { arena, arena->used, limit };
    struct rc_range range;
    uint64_t left = 0;

    if (count > 0)
        qsort(ranges, count, sizeof(*ranges), by_first);
    for (size_t i = 0; i < count;) {
        i = next_range(ranges, count, i, &range);
        if (left > 0 || !put(&list, 0, range.first < range.last ? "%u-%u" : "%u", range.first, range.last))
            left += (uint64_t)range.last - range.first + 1;
    }
    return finish(&list, left);
}

static size_t next_host(const struct rc_str *hosts, size_t count, size_t i)
{
    struct rc_str name = hosts[i];

    while (++i < count && rc_str_eq(hosts[i], name))
        continue;
    return i;
}

static void close_bracket(const struct list *list, struct parts *open)
{
    if (!open->digits.p)
        return;
    rc_format(list->arena, "]%pS", &open->after);
    rc_join(list->arena);
    open->digits = RC_ABSENT;
}

/* Write "login", "n[1-3" or, in an open bracket, "1-3". `alone`: no other host shares the bracket. */
static bool put_hosts(const struct list *list, const struct parts *first, const struct parts *last, bool alone,
                      struct parts *open)
{
    struct rc_str before = first->before;

    if (!open->digits.p && alone) {
        if (first->digits.p || before.n <= RC_COMPACT_NAME_MAX)
            return put(list, 0, "%pS%pS%pS", &before, &first->digits, &first->after);
        before.n = RC_COMPACT_NAME_MAX - 3;
        return put(list, 0, "%pS...", &before);
    }
    if (open->digits.p)
        before.n = 0;
    if (!put(list, 1 + first->after.n, first->number < last->number ? "%pS%s%pS-%pS" : "%pS%s%pS", &before,
             open->digits.p ? "" : "[", &first->digits, &last->digits))
        return false;
    *open = *first;
    return true;
}

const char *rc_compact_hosts(const struct rc_str *hosts, size_t count, size_t limit, struct rc_arena *arena)
{
    const struct list list = { arena, arena->used, limit };
    struct parts open = { .digits = RC_ABSENT };
    uint64_t left = 0;

    for (size_t i = 0; i < count;) {
        struct parts first = cut_name(hosts[i]);
        struct parts last = first;
        bool alone = true;
        uint64_t names = 1;

        for (; (i = next_host(hosts, count, i)) < count; names++) {
            struct parts next = cut_name(hosts[i]);

            alone = alone && !same_but_number(&last, &next);
            if (!follows_host(&last, &next))
                break;
            last = next;
        }
        if (!same_but_number(&open, &first))
            close_bracket(&list, &open);
        if (left > 0 || !put_hosts(&list, &first, &last, alone, &open))
            left += names;
    }
    close_bracket(&list, &open);
    return finish(&list, left);
}

/* Bytes: three groups with lists and values of this length make a readable line. */
enum { TASKS_LIMIT = 32, HOSTS_LIMIT = 64, VALUE_LIMIT = 40 };

void rc_namer_reset(struct rc_namer *namer)
{
    namer->text = (struct rc_arena){ .base = namer->space, .size = sizeof(namer->space) };
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

int rc_host_order(const void *left, const void *right)
{
    return rc_compact_order(*(const struct rc_str *)left, *(const struct rc_str *)right);
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

const char *rc_name_ranges(struct rc_namer *namer, const char *what, struct rc_range *range, size_t count)
{
    bool one = true;
    const char *list = rc_compact_ranges(range, count, TASKS_LIMIT, &namer->text);

    for (size_t i = 0; i < count; i++)
        one = one && range[i].last == range[0].first;
    return rc_format(&namer->text, one ? "%s %s" : "%ss %s", what, list);
}

const char *rc_name_tasks(struct rc_namer *namer, const struct rc_member *member, size_t count)
{
    size_t ranges = 0;

    for (size_t i = 0; i < count; i++) {
        struct rc_str rest = member[i].roll->tasks;

        while (rc_roll_next_range(&rest, &namer->range[ranges].first, &namer->range[ranges].last))
            ranges++;
    }
    return rc_name_ranges(namer, "task", namer->range, ranges);
}

const char *rc_name_numbers(struct rc_namer *namer, const char *what, const struct rc_member *member, size_t count)
{
    for (size_t i = 0; i < count; i++)
        namer->range[i] = (struct rc_range){ member[i].number, member[i].number };
    return rc_name_ranges(namer, what, namer->range, count);
}

const char *rc_name_hosts(struct rc_namer *namer, const struct rc_member *member, size_t count)
{
    for (size_t i = 0; i < count; i++)
        namer->host[i] = member[i].roll->host;
    qsort(namer->host, count, sizeof(*namer->host), rc_host_order);
    return rc_compact_hosts(namer->host, count, HOSTS_LIMIT, &namer->text);
}

const char *rc_name_absent_hosts(struct rc_namer *namer, struct rc_str hosts, const bool *is_there, uint32_t nodes)
{
    enum { HOSTS_SHOWN = 16 };
    char name[HOSTS_SHOWN][RC_HOST_MAX + 1];
    struct rc_str host[HOSTS_SHOWN] = { RC_ABSENT };
    const char *text;
    uint32_t absent = 0;
    size_t count = 0;

    for (uint32_t i = 0; i < nodes; i++) {
        absent += !is_there[i];
        if (!is_there[i] && count < HOSTS_SHOWN && rc_hostlist_nth(hosts, i, name[count])) {
            host[count] = rc_str(name[count]);
            count++;
        }
    }
    text = rc_compact_hosts(host, count, sizeof(name), &namer->text);
    return absent > count ? rc_format(&namer->text, "%s and %u more", text, absent - (uint32_t)count) : text;
}

const char *rc_name_value(struct rc_namer *namer, struct rc_str value)
{
    bool whole = value.n <= VALUE_LIMIT;

    if (!whole)
        value.n = VALUE_LIMIT;
    return rc_format(&namer->text, whole ? "%pQ" : "%pQ...", &value);
}

const char *rc_name_groups(struct rc_namer *namer, const struct rc_group *group, size_t groups, bool by_number)
{
    const char *list = "";

    for (size_t i = 0; i < groups && i < RC_GROUPS_SHOWN; i++) {
        struct rc_str text = group[i].member->text;
        const char *value = by_number ? rc_format(&namer->text, "%u", group[i].member->number)
                            : text.p  ? rc_name_value(namer, text)
                                      : "unset";
        const char *tasks = rc_name_tasks(namer, group[i].member, group[i].count);
        const char *hosts = rc_name_hosts(namer, group[i].member, group[i].count);

        list = rc_format(&namer->text, "%s%s%s for %s on %s", list, i ? ", " : "", value, tasks, hosts);
    }
    if (groups > RC_GROUPS_SHOWN)
        list = rc_format(&namer->text, "%s and %llu more", list, (unsigned long long)(groups - RC_GROUPS_SHOWN));
    return list;
}
