/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "roll/check.h"

#include <stdlib.h>
#include <string.h>

#include "roll/checking.h"

/* Value at an offset in struct rc_roll. */
#define VALUE(roll, type, at) (*(const type *)(const void *)((const char *)(roll) + (at)))

/* Collect the entries that have the text in check->part. Return their number. */
static size_t take_texts(struct rc_checking *check, size_t at)
{
    size_t count = 0;

    for (size_t i = 0; i < check->count; i++) {
        const struct rc_roll *roll = check->member[i].roll;
        struct rc_str text = VALUE(roll, struct rc_str, at);

        if (text.p)
            check->part[count++] = (struct rc_member){ roll, text, 0 };
    }
    return count;
}

/* Runs of members with one text: how many, and the one with the lowest node. */
struct runs {
    const struct rc_member *member;
    size_t length;
    size_t count;
};

/* Find the runs that are wrong. Sorts the members. */
static struct runs find_runs(struct rc_member *member, size_t count,
                             bool (*is_wrong)(const struct rc_member *run, size_t length))
{
    struct runs runs = { .count = 0 };
    size_t n;

    rc_member_sort(member, count);
    for (size_t i = 0; i < count; i += n) {
        for (n = 1; i + n < count && rc_str_eq(member[i].text, member[i + n].text); n++)
            continue;
        if (is_wrong(&member[i], n) && (runs.count++ == 0 || member[i].roll->node < runs.member->roll->node)) {
            runs.member = &member[i];
            runs.length = n;
        }
    }
    return runs;
}

static const char *like_it(struct rc_checking *check, const struct runs *runs)
{
    if (runs->count < 2)
        return "";
    return rc_format(&check->namer.text, " (and %llu more like it)", (unsigned long long)(runs->count - 1));
}

static bool are_several_tasks(const struct rc_member *gpu, size_t count)
{
    return gpu[0].number != gpu[count - 1].number;
}

static void check_gpus(struct rc_checking *check)
{
    struct runs runs;
    size_t count = 0;

    for (size_t i = 0; i < check->count; i++) {
        const struct rc_roll *roll = check->member[i].roll;

        for (unsigned k = 0; k < roll->gpu_count; k++)
            check->many[count++] = (struct rc_member){ roll, roll->gpu[k].id, roll->gpu[k].rank };
    }
    runs = find_runs(check->many, count, are_several_tasks);
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

/* A node that answers twice is reported by its ranks (RC602) or its node rank (RC603). */
static bool are_several_nodes(const struct rc_member *member, size_t count)
{
    return member[0].roll->node != member[count - 1].roll->node;
}

static bool have_several_names(const struct rc_member *member, size_t count)
{
    for (size_t i = 1; i < count; i++)
        if (!rc_str_eq(member[0].roll->host, member[i].roll->host))
            return true;
    return false;
}

/* Find nodes that share a value that each machine must have for itself. */
static void check_machines(struct rc_checking *check, size_t at,
                           bool (*is_wrong)(const struct rc_member *run, size_t length), const char *what,
                           const char *cure)
{
    size_t count = take_texts(check, at);
    struct runs runs;

    for (size_t i = 0; i < count; i++)
        check->part[i].number = check->part[i].roll->node;
    runs = find_runs(check->part, count, is_wrong);
    if (runs.count > 0) {
        const char *nodes = rc_name_numbers(&check->namer, "node", runs.member, runs.length);
        const char *tasks = rc_name_tasks(&check->namer, runs.member, runs.length);
        const char *hosts = rc_name_hosts(&check->namer, runs.member, runs.length);

        rc_checking_add(check, RC607, "%s (%s on %s) have the same %s%s; %s", nodes, tasks, hosts, what,
                        like_it(check, &runs), cure);
    }
}

/* Add a finding if the members in check->part differ, by their texts or their numbers. */
static bool differ(struct rc_checking *check, size_t count, bool by_number, enum rc_message_id id, const char *what,
                   const char *cure, struct rc_group shown[RC_GROUPS_SHOWN])
{
    size_t groups = rc_group_find(check->part, count, shown);

    if (groups < 2)
        return false;
    rc_checking_add(check, id, "%s %s; %s", what, rc_name_groups(&check->namer, shown, groups, by_number), cure);
    return true;
}

enum { VARIABLES_SHOWN = 3 }; /* one line each */

static struct rc_str name_of(struct rc_str variable)
{
    struct rc_str value;

    return rc_str_split(variable, '=', &value);
}

static void add_variable(struct rc_checking *check, struct rc_str name)
{
    struct rc_group shown[RC_GROUPS_SHOWN];

    for (size_t i = 0; i < check->count; i++) {
        const struct rc_roll *roll = check->member[i].roll;

        check->part[i] = (struct rc_member){ roll, rc_roll_variable(roll, name), 0 };
    }
    if (differ(check, check->count, false, RC609, rc_format(&check->namer.text, "%pS is", &name),
               "set it alike on all nodes, or on none", shown))
        rc_checking_blame_odd(check, check->part, check->count, &shown[0]);
}

bool rc_roll_found(const struct rc_messages *findings, enum rc_message_id id)
{
    for (unsigned i = 0; i < findings->count; i++)
        if (findings->list[i].id == id)
            return true;
    return false;
}

static void check_variables(struct rc_checking *check)
{
    struct rc_str next = RC_ABSENT; /* the first that is not shown */
    size_t different = 0;
    size_t count = 0;
    size_t n;

    for (size_t i = 0; i < check->count; i++) {
        const struct rc_roll *roll = check->member[i].roll;

        for (unsigned k = 0; k < roll->user_count; k++)
            check->many[count++] = (struct rc_member){ roll, roll->user[k], 0 };
    }
    rc_member_sort(check->many, count);
    for (size_t i = 0; i < count; i += n) {
        struct rc_str name = name_of(check->many[i].text);

        for (n = 1; i + n < count && rc_str_eq(name, name_of(check->many[i + n].text)); n++)
            continue;
        if ((n == check->count && rc_member_run(&check->many[i], n) == n) ||
            (rc_str_is(name, "MASTER_ADDR") && rc_roll_found(&check->found, RC604)))
            continue;
        if (++different <= VARIABLES_SHOWN)
            add_variable(check, name);
        else if (!next.p)
            next = name;
    }
    if (next.p) {
        size_t more = different - VARIABLES_SHOWN - 1;

        rc_checking_add(check, RC609, "%pS%s, too; set each alike on all nodes, or on none", &next,
                        more ? rc_format(&check->namer.text, " and %llu more differ", (unsigned long long)more)
                             : " differs");
    }
}

/* Add a finding if the entries that have the text differ. */
static void compare_texts(struct rc_checking *check, size_t at, enum rc_message_id id, const char *what,
                          const char *cure)
{
    struct rc_group shown[RC_GROUPS_SHOWN];
    size_t count = take_texts(check, at);

    if (differ(check, count, false, id, what, cure, shown))
        rc_checking_blame_odd(check, check->part, count, &shown[0]);
}

/* Add a finding if the entries differ. Return the lowest number. */
static uint32_t compare_numbers(struct rc_checking *check, size_t at, const char *what)
{
    struct rc_group shown[RC_GROUPS_SHOWN];
    uint32_t lowest = 0;

    for (size_t i = 0; i < check->count; i++) {
        const struct rc_roll *roll = check->member[i].roll;
        uint32_t number = VALUE(roll, uint32_t, at);

        check->part[i] = (struct rc_member){ roll, RC_ABSENT, number };
        if (!lowest || number < lowest)
            lowest = number;
    }
    differ(check, check->count, true, RC603, what, RC_ONE_LAUNCHER, shown);
    return lowest;
}

/* Report entries of another launch and exclude them from the other checks. */
static void check_scopes(struct rc_checking *check)
{
    struct rc_group shown[RC_GROUPS_SHOWN];
    size_t count = take_texts(check, offsetof(struct rc_roll, scope));

    if (!differ(check, count, false, RC610, "the launch is", RC_ONE_LAUNCHER, shown))
        return;
    check->count = shown[0].count;
    memcpy(check->member, shown[0].member, check->count * sizeof(*check->member));
}

static void check_releases(struct rc_checking *check)
{
    struct rc_group shown[RC_GROUPS_SHOWN];
    size_t count = take_texts(check, offsetof(struct rc_roll, version));
    size_t groups = rc_group_find(check->part, count, shown);

    if (groups < 2)
        return;
    rc_checking_add(check, RC608, "rollcall is version %s; install the same version on all nodes",
                    rc_name_groups(&check->namer, shown, groups, false));
    rc_checking_blame_odd(check, check->part, count, &shown[0]);
}

static void check_all(struct rc_checking *check, const struct rc_roll_known *known)
{
    uint32_t world;
    uint32_t nodes;

    if (!known->addresses_alone)
        check_releases(check);
    if (known->addr.p)
        rc_check_address(check, &known->addr);
    if (known->addresses_alone)
        return;
    check_scopes(check);
    world = compare_numbers(check, offsetof(struct rc_roll, world), "the number of tasks is");
    nodes = compare_numbers(check, offsetof(struct rc_roll, nodes), "the number of nodes is");
    rc_check_ranks(check, world, nodes, known);
    compare_texts(check, offsetof(struct rc_roll, addr), RC604, "MASTER_ADDR is",
                  "all tasks need the address of rank 0's node; unset it where a script exports it");
    compare_texts(check, offsetof(struct rc_roll, mode), RC605, "the mode is",
                  "give all tasks the same one, with --ddp=MODE or ROLLCALL=MODE");
    check_gpus(check);
    check_machines(check, offsetof(struct rc_roll, host), are_several_nodes, "host name",
                   "give each machine a name of its own, and list it once where the launcher takes its hosts from");
    /* random at each boot */
    check_machines(check, offsetof(struct rc_roll, boot), have_several_names, "boot id",
                   "they are one machine with several names, or copies of one virtual machine: list each machine once, "
                   "or reboot the copies");
    check_variables(check);
    rc_check_items(check, known->item_lines);
    for (size_t i = 0; i < check->count; i++)
        if (check->member[i].roll->dead.p)
            rc_checking_blame_dead(check, check->member[i].roll);
}

static void destroy(struct rc_checking *check)
{
    for (unsigned i = 0; i < check->arrays; i++)
        free(check->array[i]);
    free(check);
}

/* Create the members, with room for all checks. Return NULL if memory is exhausted. */
static struct rc_checking *create(const struct rc_roll *rolls, size_t count, struct rc_blame *blame,
                                  struct rc_arena *arena)
{
    struct rc_checking *check = calloc(1, sizeof(*check));
    size_t users = 0;
    size_t gpus = 0;
    size_t many;

    if (!check)
        return NULL;
    *check = (struct rc_checking){ .rolls = rolls, .all = count, .count = count, .blame = blame };
    check->found.arena = arena;
    for (size_t i = 0; i < count; i++) {
        check->ranges += rc_str_pieces(rolls[i].tasks, ',');
        users += rolls[i].user_count;
        gpus += rolls[i].gpu_count;
    }
    many = count + users + gpus;
    check->member = rc_checking_allocate(check, count, sizeof(*check->member));
    check->part = rc_checking_allocate(check, count, sizeof(*check->part));
    check->many = rc_checking_allocate(check, many, sizeof(*check->many));
    check->namer.range = rc_checking_allocate(check, check->ranges + many, sizeof(*check->namer.range));
    check->namer.host = rc_checking_allocate(check, many, sizeof(*check->namer.host));
    if (check->failed) {
        destroy(check);
        return NULL;
    }
    for (size_t i = 0; i < count; i++)
        check->member[i].roll = &rolls[i];
    rc_namer_reset(&check->namer);
    return check;
}

bool rc_roll_check(const struct rc_roll *rolls, size_t count, const struct rc_roll_known *known,
                   struct rc_messages *findings, struct rc_blame *blame, struct rc_arena *arena)
{
    struct rc_checking *check = create(rolls, count, blame, arena);
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
    destroy(check);
    return done;
}

void rc_blame_free(struct rc_blame *blame)
{
    for (size_t i = 0; i < blame->count; i++)
        free(blame->list[i].name);
    free(blame->list);
    *blame = (struct rc_blame){ .count = 0 };
}
