/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/compact.h"

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
    rc_format(arena, " and %U more", more);
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
    rc_format(arena, "");
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
    rc_format(list->arena, "%s%S%s", list->arena->used > list->start ? "," : "", &name, whole ? "" : "...");
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
            rc_format(list->arena, "%s%S[%S", list->arena->used > list->start ? "," : "", &first.before, &first.digits);
        else
            rc_format(list->arena, ",%S", &first.digits);
        rc_join(list->arena);
        if (names > 1) {
            rc_format(list->arena, "-%S", &last.digits);
            rc_join(list->arena);
        }
        open = true;
        list->left -= names;
        list->i = next;
    }
    if (open) {
        rc_format(list->arena, "]%S", &like.behind);
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
    rc_format(arena, "");
    return arena->full ? "" : arena->base + list.start;
}
