/* SPDX-License-Identifier: BSD-3-Clause */
#include "roll/checking.h"

#include <stdlib.h>
#include <string.h>

void rc_checking_add(struct rc_checking *check, enum rc_message_id id, const char *text)
{
    rc_message_add(&check->found, id, text);
    rc_namer_reset(&check->namer);
}

void rc_checking_blame(struct rc_checking *check, const struct rc_member *member, size_t count)
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
