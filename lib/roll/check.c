/* SPDX-License-Identifier: BSD-3-Clause */
#include "roll/check.h"

#include <string.h>

#include "roll/checking.h"

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
        rc_checking_add(check, id,
                        rc_format(check->arena, "%s %s; %s", what,
                                  rc_name_groups(&check->namer, shown, groups, RC_SHOW_TEXT), cure));
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
        rc_checking_add(check, RC603, rc_format(check->arena, "%s %s; " RC_ONE_LAUNCHER, what, list));
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
    rc_checking_add(check, RC610,
                    rc_format(check->arena, "the launch is %s; " RC_ONE_LAUNCHER,
                              rc_name_groups(&check->namer, shown, groups, RC_SHOW_TEXT)));
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
