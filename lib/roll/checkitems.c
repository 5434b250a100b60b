/* SPDX-License-Identifier: BSD-3-Clause */
#include "roll/checking.h"
#include "roll/comparison.h"

/* Bytes of a value that a line shows (rc_format); of longer ones it has so many before the first difference. */
enum { VALUE_LIMIT = 64, BEFORE_DIFFERENCE = 16 };

/* The lines of one launch. */
struct lines {
    unsigned left;
    enum rc_item beyond[RC_ITEMS]; /* items that differ, too, when no line is left */
    unsigned beyonds;
};

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

/* "'7 NVIDIA H100'"; of long values the part that differs, "...'B HBM3, 1 Tesla T4'". */
static const char *show_part(struct rc_namer *namer, struct rc_str value, size_t common)
{
    size_t from = value.n > VALUE_LIMIT && common > BEFORE_DIFFERENCE ? common - BEFORE_DIFFERENCE : 0;
    struct rc_str part;

    if (!value.p)
        return "none";
    part = (struct rc_str){ value.p + from, value.n - from };
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
    bool odd = rc_group_is_most(group, count);
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

static void note_beyond(struct lines *lines, enum rc_item item)
{
    if (lines->beyonds == 0 || lines->beyond[lines->beyonds - 1] != item)
        lines->beyond[lines->beyonds++] = item;
}

/* `count` members in check->part */
static void check_item(struct rc_checking *check, struct lines *lines, enum rc_item item, size_t count)
{
    struct rc_group shown[RC_GROUPS_SHOWN];
    size_t groups = rc_group_find(check->part, count, shown);

    if (groups < 2)
        return;
    if (lines->left == 0) {
        note_beyond(lines, item);
        return;
    }
    lines->left--;
    rc_checking_add(
        check, RC622,
        rc_format(check->arena, "%s %s", rc_item_row(item)->words, name_sides(&check->namer, shown, groups, count)));
    rc_checking_blame_odd(check, check->part, count, &shown[0]);
}

/* What there are no lines for. */
static void add_beyond(struct rc_checking *check, const struct lines *lines)
{
    const char *names = "";

    for (unsigned i = 0; i < lines->beyonds; i++)
        names = rc_format(&check->namer.text, "%s%s%s", names, i ? ", " : "", rc_item_row(lines->beyond[i])->name);
    if (lines->beyonds > 0)
        rc_checking_add(check, RC622,
                        rc_format(check->arena, "%s differ%s, too; rollcall check shows on which nodes", names,
                                  lines->beyonds > 1 ? "" : "s"));
}

void rc_check_items(struct rc_checking *check, unsigned lines)
{
    struct lines written = { .left = lines };
    struct rc_comparison comparison;
    bool done = rc_comparison_read(&comparison, check->member, check->count);

    for (unsigned item = 0; done && item < RC_ITEMS; item++)
        for (size_t first = 0; first < comparison.count; first += rc_comparison_part(&comparison, first))
            check_item(check, &written, (enum rc_item)item,
                       rc_comparison_select(&comparison, first, (enum rc_item)item, check->part));
    if (done)
        add_beyond(check, &written);
    else
        check->failed = true;
    rc_comparison_free(&comparison);
}
