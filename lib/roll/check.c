/* SPDX-License-Identifier: BSD-3-Clause */
#include "roll/check.h"

#include <string.h>

#include "roll/checking.h"

/* Several runs of members: the one with the lowest node, and how many there are. */
struct runs {
    const struct rc_member *member;
    size_t length;
    size_t count;
};

static void add_run(struct runs *runs, const struct rc_member *member, size_t length)
{
    if (runs->count++ == 0 || member->roll->node < runs->member->roll->node) {
        runs->member = member;
        runs->length = length;
    }
}

/* What stands behind the one run that is shown. */
static const char *like_it(struct rc_checking *check, const struct runs *runs)
{
    if (runs->count < 2)
        return "";
    return rc_format(&check->namer.text, " (and %llu more like it)", (unsigned long long)(runs->count - 1));
}

/* check.c: RC606, RC607. */
static void rc_check_gpus(struct rc_checking *check)
{
    struct runs runs = { .count = 0 };
    size_t count = 0;
    size_t n;

    for (size_t i = 0; i < check->count; i++) {
        const struct rc_roll *roll = check->member[i].roll;

        for (unsigned k = 0; k < roll->gpu_count; k++)
            check->gpu[count++] = (struct rc_member){ roll, roll->gpu[k].id, roll->gpu[k].rank };
    }
    rc_member_sort(check->gpu, count);
    for (size_t i = 0; i < count; i += n) {
        for (n = 1; i + n < count && rc_str_eq(check->gpu[i].text, check->gpu[i + n].text); n++)
            continue;
        if (check->gpu[i].number != check->gpu[i + n - 1].number)
            add_run(&runs, &check->gpu[i], n);
    }
    if (runs.count > 0) {
        const char *gpu = rc_name_value(&check->namer, runs.member->text);
        const char *tasks = rc_name_numbers(&check->namer, "task", runs.member, runs.length);
        const char *hosts = rc_name_hosts(&check->namer, runs.member, runs.length);

        rc_checking_add(check, RC606,
                        "GPU %s is used by %s on %s%s; give each task a GPU of its own (Slurm: N tasks a "
                        "node, srun --gpus-per-node=N)",
                        gpu, tasks, hosts, like_it(check, &runs));
    }
}

static void add_identity(struct rc_checking *check, const struct runs *runs, const char *what, const char *cure)
{
    const char *nodes = rc_name_nodes(&check->namer, runs->member, runs->length);
    const char *tasks = rc_name_tasks(&check->namer, runs->member, runs->length);
    const char *host = rc_name_value(&check->namer, runs->member->text);

    rc_checking_add(check, RC607, "%s (%s) %s, %s%s; %s", nodes, tasks, what, host, like_it(check, runs), cure);
}

/* One node that is there twice is named by its ranks (RC602), or by its own (RC603). */
static bool are_several_nodes(const struct rc_member *member, size_t count)
{
    for (size_t i = 1; i < count; i++)
        if (member[i].roll->node != member[0].roll->node)
            return true;
    return false;
}

/* The members with equal hosts: a machine that is there under several node ranks,
 * or, where boot ids differ or are not known, at least one name. */
static void rc_check_hosts(struct rc_checking *check)
{
    struct runs machines = { .count = 0 };
    struct runs names = { .count = 0 };
    size_t count;
    size_t n;

    for (size_t i = 0; i < check->count; i++)
        check->part[i] = (struct rc_member){ check->member[i].roll, check->member[i].roll->host, 0 };
    count = rc_checking_keep_repeated(check->part, check->count);
    for (size_t i = 0; i < count; i += n) {
        struct rc_str boot = check->part[i].roll->boot;
        bool one = true;

        n = rc_member_run(&check->part[i], count - i);
        for (size_t k = 1; k < n; k++)
            one = one && rc_str_eq(boot, check->part[i + k].roll->boot);
        if (are_several_nodes(&check->part[i], n))
            add_run(one ? &machines : &names, &check->part[i], n);
    }
    if (machines.count > 0)
        add_identity(check, &machines, "are one machine",
                     "list each host once where the launcher takes its hosts from");
    if (names.count > 0)
        add_identity(check, &names, "have the same host name",
                     "give each machine a name of its own, and list it once where the launcher takes its hosts from");
}

/* A boot id is drawn at each start of a kernel. */
static void rc_check_boots(struct rc_checking *check)
{
    struct runs runs = { .count = 0 };
    size_t count = 0;
    size_t n;

    for (size_t i = 0; i < check->count; i++)
        if (check->member[i].roll->boot.p)
            check->part[count++] = (struct rc_member){ check->member[i].roll, check->member[i].roll->boot, 0 };
    count = rc_checking_keep_repeated(check->part, count);
    for (size_t i = 0; i < count; i += n) {
        bool one = true;

        n = rc_member_run(&check->part[i], count - i);
        for (size_t k = 1; k < n; k++)
            one = one && rc_str_eq(check->part[i].roll->host, check->part[i + k].roll->host);
        if (!one)
            add_run(&runs, &check->part[i], n);
    }
    if (runs.count > 0) {
        const char *hosts = rc_name_hosts(&check->namer, runs.member, runs.length);
        const char *tasks = rc_name_tasks(&check->namer, runs.member, runs.length);

        rc_checking_add(check, RC607,
                        "%s (%s) have the same boot id%s: they are one machine with several names, or copies of "
                        "one virtual machine; list each machine once, or reboot the copies",
                        hosts, tasks, like_it(check, &runs));
    }
}

enum { VARIABLES_SHOWN = 3 }; /* each in a line of its own */

static struct rc_str begin_of(struct rc_str name)
{
    return (struct rc_str){ name.p, name.n < RC_COMPACT_NAME_MAX ? name.n : RC_COMPACT_NAME_MAX };
}

static struct rc_str name_of(struct rc_str variable)
{
    struct rc_str value;
    struct rc_str name = rc_str_split(variable, '=', &value);

    return value.p ? name : RC_ABSENT;
}

/* What the entry says of the variable; absent where it says nothing. */
static struct rc_str find_variable(const struct rc_roll *roll, struct rc_str name)
{
    struct rc_str value;

    for (unsigned i = 0; i < roll->user_count; i++)
        if (rc_str_eq(rc_str_split(roll->user[i], '=', &value), name))
            return value;
    return RC_ABSENT;
}

/* A full entry may have had no room for a variable. */
static bool is_full(const struct rc_member *member)
{
    return member->roll->user_count >= RC_ROLL_USER_MAX;
}

/* One variable that differs, in a line of its own. */
static void add_variable(struct rc_checking *check, struct rc_str name)
{
    struct rc_group shown[RC_GROUPS_SHOWN];
    bool open = rc_str_starts(name, "NCCL_") || rc_str_starts(name, "GLOO_") || rc_str_starts(name, "MASTER_");
    struct rc_str begin = begin_of(name);
    size_t count = 0;
    size_t groups;

    for (size_t i = 0; i < check->count; i++) {
        const struct rc_roll *roll = check->member[i].roll;
        struct rc_str value = find_variable(roll, name);

        if (value.p || !is_full(&check->member[i]))
            check->part[count++] = (struct rc_member){ roll, value, 0 };
    }
    groups = rc_group_find(check->part, count, shown);
    rc_checking_add(check, RC609, "%pS %s %s; set it alike on all nodes, or on none", &begin, open ? "is" : "has",
                    rc_name_groups(&check->namer, shown, groups, open ? RC_SHOW_TEXT : RC_SHOW_NO_VALUE));
    rc_checking_blame_odd(check, check->part, count, &shown[0]);
}

/* What differs beyond those. */
static void add_variables(struct rc_checking *check, const struct rc_str *name, size_t count)
{
    struct rc_str first = begin_of(name[0]);
    struct rc_str second = count > 1 ? begin_of(name[1]) : RC_ABSENT;
    const char *names = rc_format(&check->namer.text, count > 1 ? "%pS, %pS" : "%pS", &first, &second);

    if (count > 2)
        names = rc_format(&check->namer.text, "%s and %llu more", names, (unsigned long long)(count - 2));
    rc_checking_add(check, RC609, "%s differ%s, too; set each alike on all nodes, or on none", names,
                    count > 1 ? "" : "s");
}

static bool has_found(const struct rc_checking *check, enum rc_message_id id)
{
    for (unsigned i = 0; i < check->found.count; i++)
        if (check->found.list[i].id == id)
            return true;
    return false;
}

/* The members that speak of one variable say the same, and all others have room
 * to say it, too. */
static bool is_alike(const struct rc_member *member, size_t count, size_t with_room)
{
    size_t said = 0;

    for (size_t i = 0; i < count; i++)
        said += !is_full(&member[i]);
    return said == with_room && rc_member_run(member, count) == count;
}

/* check.c: RC609. */
static void rc_check_variables(struct rc_checking *check)
{
    struct rc_str differs[VARIABLES_SHOWN + 2];
    size_t different = 0;
    size_t with_room = 0;
    size_t count = 0;
    size_t n;

    for (size_t i = 0; i < check->count; i++) {
        const struct rc_roll *roll = check->member[i].roll;

        for (unsigned k = 0; k < roll->user_count; k++)
            if (name_of(roll->user[k]).p)
                check->user[count++] = (struct rc_member){ roll, roll->user[k], 0 };
        with_room += !is_full(&check->member[i]);
    }
    rc_member_sort(check->user, count);
    for (size_t i = 0; i < count; i += n) {
        struct rc_str name = name_of(check->user[i].text);

        for (n = 1; i + n < count && rc_str_eq(name, name_of(check->user[i + n].text)); n++)
            continue;
        if (is_alike(&check->user[i], n, with_room) || (rc_str_is(name, "MASTER_ADDR") && has_found(check, RC604)))
            continue;
        if (different < VARIABLES_SHOWN + 2)
            differs[different] = name;
        different++;
    }
    for (size_t i = 0; i < different && i < VARIABLES_SHOWN; i++)
        add_variable(check, differs[i]);
    if (different > VARIABLES_SHOWN)
        add_variables(check, &differs[VARIABLES_SHOWN], different - VARIABLES_SHOWN);
}

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
    return rc_format(&namer->text, "%s%pQ", from ? "..." : "", &part);
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
        list = rc_format(&namer->text, "%s, others on %llu more", list, (unsigned long long)left);
    if (odd)
        list = rc_format(&namer->text, "%s, %s on the other %llu", list,
                         show_part(namer, group[0].member->text, common), (unsigned long long)group[0].count);
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
    rc_checking_add(check, RC622, "%s %s", rc_item_row(item)->words, name_sides(&check->namer, shown, groups, count));
    rc_checking_blame_odd(check, check->part, count, &shown[0]);
}

/* What there are no lines for. */
static void add_beyond(struct rc_checking *check, const struct lines *lines)
{
    const char *names = "";

    for (unsigned i = 0; i < lines->beyonds; i++)
        names = rc_format(&check->namer.text, "%s%s%s", names, i ? ", " : "", rc_item_row(lines->beyond[i])->name);
    if (lines->beyonds > 0)
        rc_checking_add(check, RC622, "%s differ%s, too; rollcall check shows on which nodes", names,
                        lines->beyonds > 1 ? "" : "s");
}

/* check.c: RC622, in so many lines at most, and one for what is beyond them. */
static void rc_check_items(struct rc_checking *check, unsigned lines)
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

/* Adds a finding unless all members that have a value have the same; `at` is its offset in struct rc_roll. */
static void compare_texts(struct rc_checking *check, size_t at, enum rc_message_id id, const char *what,
                          const char *cure)
{
    struct rc_group shown[RC_GROUPS_SHOWN];
    size_t count = 0;
    size_t groups;

    for (size_t i = 0; i < check->count; i++) {
        const struct rc_roll *roll = check->member[i].roll;
        struct rc_str text = *(const struct rc_str *)(const void *)((const char *)roll + at);

        if (text.p)
            check->part[count++] = (struct rc_member){ roll, text, 0 };
    }
    groups = rc_group_find(check->part, count, shown);
    if (groups > 1)
        rc_checking_add(check, id, "%s %s; %s", what, rc_name_groups(&check->namer, shown, groups, RC_SHOW_TEXT), cure);
    if (groups > 1)
        rc_checking_blame_odd(check, check->part, count, &shown[0]);
}

/* Adds a finding unless all members count alike, and as the caller does where it knows (not 0).
 * Returns the lowest count: so many there are, whichever count is right. */
static uint32_t compare_numbers(struct rc_checking *check, size_t at, uint32_t known, const char *what)
{
    struct rc_group shown[RC_GROUPS_SHOWN];
    uint32_t lowest = known;
    size_t groups;

    for (size_t i = 0; i < check->count; i++) {
        const struct rc_roll *roll = check->member[i].roll;
        uint32_t number = *(const uint32_t *)(const void *)((const char *)roll + at);

        check->part[i] = (struct rc_member){ roll, RC_ABSENT, number };
        if (!lowest || number < lowest)
            lowest = number;
    }
    groups = rc_group_find(check->part, check->count, shown);
    if (groups > 1 || (groups == 1 && known && shown[0].member->number != known)) {
        const char *list = rc_name_groups(&check->namer, shown, groups, RC_SHOW_NUMBER);

        if (known)
            list = rc_format(&check->namer.text, "%s, and %u for the launch", list, known);
        rc_checking_add(check, RC603, "%s %s; " RC_ONE_LAUNCHER, what, list);
    }
    return lowest;
}

/* Entries of another launch are a finding; the other checks leave them out. */
static void check_scopes(struct rc_checking *check)
{
    struct rc_group shown[RC_GROUPS_SHOWN];
    size_t groups;

    for (size_t i = 0; i < check->count; i++)
        check->part[i] = (struct rc_member){ check->member[i].roll, check->member[i].roll->scope, 0 };
    groups = rc_group_find(check->part, check->count, shown);
    if (groups < 2)
        return;
    rc_checking_add(check, RC610, "the launch is %s; " RC_ONE_LAUNCHER,
                    rc_name_groups(&check->namer, shown, groups, RC_SHOW_TEXT));
    check->count = shown[0].count;
    memcpy(check->member, shown[0].member, check->count * sizeof(*check->member));
}

/* Such a node says itself, where its own lines go, why nothing starts on it. */
static void blame_dead(struct rc_checking *check)
{
    for (size_t i = 0; check->blame && i < check->count; i++)
        if (check->member[i].roll->dead.p && !rc_blame_add(check->blame, RC_BLAMED_BY_ITSELF, check->member[i].roll))
            check->failed = true;
}

static void check_all(struct rc_checking *check, const struct rc_roll_known *known)
{
    uint32_t world;
    uint32_t nodes;

    check_scopes(check);
    world = compare_numbers(check, offsetof(struct rc_roll, world), known->world, "the number of tasks is");
    nodes = compare_numbers(check, offsetof(struct rc_roll, nodes), known->nodes, "the number of nodes is");
    rc_coverage_find(&check->ranks, check->member, check->count, world);
    rc_check_node_ranks(check);
    rc_check_ranks(check);
    rc_check_missing(check, nodes, known->deadline);
    compare_texts(check, offsetof(struct rc_roll, addr), RC604, "MASTER_ADDR is",
                  "all tasks need the address of rank 0's node; unset it where a script exports it");
    compare_texts(check, offsetof(struct rc_roll, mode), RC605, "the mode is",
                  "give all tasks the same one, with --ddp=MODE or ROLLCALL=MODE");
    rc_check_gpus(check);
    rc_check_hosts(check);
    rc_check_boots(check);
    compare_texts(check, offsetof(struct rc_roll, version), RC608, "rollcall is version",
                  "install the same version on all nodes");
    rc_check_variables(check);
    rc_check_items(check, known->item_lines);
    blame_dead(check);
}

bool rc_roll_check(const struct rc_roll *rolls, size_t count, const struct rc_roll_known *known,
                   struct rc_messages *findings, struct rc_blame *blame, struct rc_arena *arena)
{
    struct rc_checking *check = rc_checking_create(rolls, count, blame, arena);
    size_t start = arena->used;
    bool done;

    if (!check)
        return false;
    check_all(check, known);
    done = !arena->full && !check->failed;
    for (unsigned i = 0; done && i < check->found.count; i++)
        rc_message_add(findings, check->found.list[i].id, check->found.list[i].text);
    if (!done)
        arena->used = start;
    rc_checking_destroy(check);
    return done;
}
