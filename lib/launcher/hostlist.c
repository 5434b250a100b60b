/* SPDX-License-Identifier: BSD-3-Clause */
#include "launcher/hosts.h"

/* An item: literal[0] [bracket[0]] literal[1] ... literal[n] */
struct item {
    struct rc_str literal[RC_HOST_BRACKETS_MAX + 1];
    struct rc_str bracket[RC_HOST_BRACKETS_MAX]; /* its ranges */
    uint32_t width[RC_HOST_BRACKETS_MAX];        /* digits of all its numbers; 0: as in each range */
    uint32_t size[RC_HOST_BRACKETS_MAX];         /* hosts that the bracket names */
    unsigned brackets;
    uint32_t hosts;
};

enum { DIGITS_MAX = 18 };

struct range {
    uint64_t low;
    uint64_t high;
    size_t width; /* of the padded number: 3 in [001-010] */
};

static bool read_digits(struct rc_str digits, uint64_t *value)
{
    *value = 0;
    for (size_t i = 0; i < digits.n; i++) {
        if (!rc_is_digit(digits.p[i]))
            return false;
        *value = *value * 10 + (uint64_t)(digits.p[i] - '0');
    }
    return digits.n > 0 && digits.n <= DIGITS_MAX;
}

static bool next_range(struct rc_str *bracket, uint32_t width, struct range *range)
{
    struct rc_str high;
    struct rc_str low = rc_str_split(rc_str_split(*bracket, ',', bracket), '-', &high);

    if (!read_digits(low, &range->low) || !read_digits(high.p ? high : low, &range->high) || range->low > range->high)
        return false;
    range->width = low.n > width ? low.n : width;
    return true;
}

/* Names are used in MASTER_ADDR and messages: printable, without separators. ':' is for IPv6. */
static bool name_character(char c)
{
    return rc_is_in_name(c) || c == ':' || c == '%' || c == '+' || c == '~';
}

/* Read a bracket, "1,3-5" or Open MPI's "3:1,3-5", and the length of its longest number. */
static bool read_bracket(struct item *item, struct rc_str text, size_t *longest)
{
    struct rc_str ranges;
    struct rc_str width = rc_str_split(text, ':', &ranges);
    struct range range;
    uint64_t sum = 0;
    unsigned i = item->brackets;

    *longest = item->width[i] = 0;
    if (ranges.p && !rc_parse_u32(width, DIGITS_MAX, &item->width[i]))
        return false;
    item->bracket[i] = ranges.p ? ranges : text;
    for (struct rc_str rest = item->bracket[i]; rest.p;) {
        size_t digits = 1;

        if (!next_range(&rest, item->width[i], &range))
            return false;
        for (uint64_t number = range.high; number > 9; number /= 10)
            digits++;
        if (digits < range.width)
            digits = range.width;
        if (digits > *longest)
            *longest = digits;
        sum += range.high - range.low + 1;
        if (sum > RC_MAX_TASKS)
            return false;
    }
    item->size[i] = (uint32_t)sum;
    return true;
}

static bool next_item(struct rc_str *rest, struct item *item)
{
    const char *p = rest->p;
    const char *end = rest->p + rest->n;
    const char *start = p;
    uint64_t hosts = 1;
    size_t longest = 0;
    size_t digits;

    item->brackets = 0;
    for (; p < end && *p != ','; p++) {
        if (name_character(*p)) {
            longest++;
            continue;
        }
        if (*p != '[' || item->brackets == RC_HOST_BRACKETS_MAX)
            return false;
        item->literal[item->brackets] = (struct rc_str){ start, (size_t)(p - start) };
        start = p + 1;
        while (p < end && *p != ']')
            p++;
        if (p == end || !read_bracket(item, (struct rc_str){ start, (size_t)(p - start) }, &digits))
            return false;
        hosts *= item->size[item->brackets++];
        if (hosts > RC_MAX_TASKS)
            return false;
        longest += digits;
        start = p + 1;
    }
    item->literal[item->brackets] = (struct rc_str){ start, (size_t)(p - start) };
    item->hosts = (uint32_t)hosts;
    *rest = p == end ? RC_ABSENT : (struct rc_str){ p + 1, (size_t)(end - p - 1) };
    /* a name needs a character, in Slurm's lists before its first bracket */
    return longest > 0 && longest <= RC_HOST_MAX &&
           (item->brackets == 0 || item->literal[0].n > 0 || item->width[0] > 0);
}

bool rc_hostlist_count(struct rc_str list, uint32_t *count)
{
    uint64_t sum = 0;
    struct item item;

    if (!list.p)
        return false;
    while (list.p) {
        if (!next_item(&list, &item))
            return false;
        sum += item.hosts;
        if (sum > RC_MAX_TASKS)
            return false;
    }
    *count = (uint32_t)sum;
    return true;
}

/* next_item() has checked that the longest name fits. */
struct name {
    char *text;
    size_t n;
};

static void append_text(struct name *name, struct rc_str text)
{
    for (size_t i = 0; i < text.n; i++)
        name->text[name->n++] = text.p[i];
}

static void append_number(struct name *name, uint64_t value, size_t width)
{
    char digits[DIGITS_MAX];
    size_t n = sizeof(digits);

    do {
        digits[--n] = (char)('0' + value % 10);
        value /= 10;
    } while (value || sizeof(digits) - n < width);
    append_text(name, (struct rc_str){ digits + n, sizeof(digits) - n });
}

static void append_from_bracket(struct name *name, const struct item *item, unsigned bracket, uint32_t index)
{
    struct rc_str rest = item->bracket[bracket];
    struct range range;

    while (rest.p && next_range(&rest, item->width[bracket], &range)) {
        uint64_t size = range.high - range.low + 1;

        if (index < size) {
            append_number(name, range.low + index, range.width);
            return;
        }
        index -= (uint32_t)size;
    }
}

/* Return the bracket of an odometer position, slowest first. Slurm expands the last bracket but one first and then
 * those left of it (_push_range_list; seen with scontrol of 22.05 and 24.11): x[1-2]y[1-2]z[1-2] begins x1y1z1 x1y1z2
 * x2y1z1 x2y1z2 x1y2z1. */
static unsigned bracket_index(const struct item *item, unsigned place)
{
    return place + 1 == item->brackets ? place : item->brackets - 2 - place;
}

bool rc_hostlist_nth(struct rc_str list, uint32_t index, char name[RC_HOST_MAX + 1])
{
    struct name built = { .text = name };
    uint32_t at[RC_HOST_BRACKETS_MAX];
    struct item item;

    for (;;) {
        if (!list.p || !next_item(&list, &item))
            return false;
        if (index < item.hosts)
            break;
        index -= item.hosts;
    }
    for (unsigned turn = item.brackets; turn > 0; turn--) {
        unsigned i = bracket_index(&item, turn - 1);

        at[i] = index % item.size[i];
        index /= item.size[i];
    }
    for (unsigned i = 0; i < item.brackets; i++) {
        append_text(&built, item.literal[i]);
        append_from_bracket(&built, &item, i, at[i]);
    }
    append_text(&built, item.literal[item.brackets]);
    name[built.n] = '\0';
    return true;
}

/* Return the index of a number in a bracket, or RC_UNKNOWN. Padding counts: n01 is not n1. */
static uint32_t position(const struct item *item, unsigned bracket, struct rc_str digits)
{
    struct rc_str rest = item->bracket[bracket];
    uint32_t before = 0;
    struct range range;
    uint64_t value;

    if (!read_digits(digits, &value))
        return RC_UNKNOWN;
    while (rest.p && next_range(&rest, item->width[bracket], &range)) {
        bool padded_alike = digits.n == range.width || (digits.n > range.width && digits.p[0] != '0');

        if (value >= range.low && value <= range.high && padded_alike)
            return before + (uint32_t)(value - range.low);
        before += (uint32_t)(range.high - range.low + 1);
    }
    return RC_UNKNOWN;
}

/* Return the name's index in the item, or RC_UNKNOWN. */
static uint32_t match(const struct item *item, struct rc_str name)
{
    uint32_t at[RC_HOST_BRACKETS_MAX];
    uint32_t index = 0;

    for (unsigned i = 0;; i++) {
        struct rc_str literal = item->literal[i];
        size_t digits = 0;

        if (name.n < literal.n || !rc_str_eq(literal, (struct rc_str){ name.p, literal.n }))
            return RC_UNKNOWN;
        name = (struct rc_str){ name.p + literal.n, name.n - literal.n };
        if (i == item->brackets)
            break;
        while (digits < name.n && rc_is_digit(name.p[digits]))
            digits++;
        at[i] = position(item, i, (struct rc_str){ name.p, digits });
        if (at[i] == RC_UNKNOWN)
            return RC_UNKNOWN;
        name = (struct rc_str){ name.p + digits, name.n - digits };
    }
    for (unsigned place = 0; place < item->brackets; place++) {
        unsigned i = bracket_index(item, place);

        index = index * item->size[i] + at[i];
    }
    return name.n == 0 ? index : RC_UNKNOWN;
}

uint32_t rc_hostlist_find(struct rc_str list, struct rc_str name)
{
    uint32_t before = 0;
    struct item item;

    while (list.p && next_item(&list, &item)) {
        uint32_t index = match(&item, name);

        if (index != RC_UNKNOWN && before + index < RC_MAX_TASKS)
            return before + index;
        before += item.hosts;
        if (before > RC_MAX_TASKS)
            break;
    }
    return RC_UNKNOWN;
}

uint32_t rc_hostlist_find_node(struct rc_str list, struct rc_str name)
{
    uint32_t index = rc_hostlist_find(list, name);
    struct rc_str domain;

    return index != RC_UNKNOWN ? index : rc_hostlist_find(list, rc_str_split(name, '.', &domain));
}
