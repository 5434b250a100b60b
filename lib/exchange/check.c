#include "exchange/check.h"

#include <stdlib.h>
#include <string.h>

#include "exchange/coverage.h"

enum { VARIABLES_SHOWN = 3 }; /* each in a line of its own */

#define ONE_LAUNCHER "start all tasks with one launcher, and unset what a script exports of another's variables"

/* Several runs of members: the one with the lowest node, and how many there are. */
struct runs {
    const struct rc_member *member;
    size_t length;
    size_t count;
};

struct check {
    const struct rc_roll *rolls;
    size_t all;               /* entries */
    struct rc_member *member; /* of this launch, in any order */
    struct rc_member *part;   /* those that are being looked at */
    struct rc_member *user;   /* text: NAME=VALUE */
    struct rc_member *gpu;    /* text: its id, number: rank */
    size_t count;
    struct rc_coverage ranks;
    struct rc_messages found;
    struct rc_arena *arena;
    struct rc_namer namer;
};

static void add(struct check *check, enum rc_message_id id, const char *text)
{
    rc_message_add(&check->found, id, text);
    rc_namer_reset(&check->namer);
}

/* All members that have a value must have the same; `at` is where it is in struct rc_roll. */
static void compare_texts(struct check *check, size_t at, enum rc_message_id id, const char *what, const char *cure)
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
        add(check, id, rc_format(check->arena, "%s %s; %s", what,
                                 rc_name_groups(&check->namer, shown, groups, RC_SHOW_TEXT), cure));
}

/* All must count alike, and as the caller does where it knows (not 0). Returns
 * the lowest count of all: as many there must be whoever is right. */
static uint32_t compare_numbers(struct check *check, size_t at, uint32_t known, const char *what)
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
        add(check, RC603, rc_format(check->arena, "%s %s; " ONE_LAUNCHER, what, list));
    }
    return lowest;
}

/* Another launch's entries are a finding, and left out of all others. */
static void check_scopes(struct check *check)
{
    struct rc_group shown[RC_GROUPS_SHOWN];
    size_t groups;

    for (size_t i = 0; i < check->count; i++)
        check->part[i] = (struct rc_member){ check->member[i].roll, check->member[i].roll->scope, 0 };
    groups = rc_group_find(check->part, check->count, shown);
    if (groups < 2)
        return;
    add(check, RC610, rc_format(check->arena, "the launch is %s; " ONE_LAUNCHER,
                                rc_name_groups(&check->namer, shown, groups, RC_SHOW_TEXT)));
    check->count = shown[0].count;
    memcpy(check->member, shown[0].member, check->count * sizeof(*check->member));
}

static const char *name_involved(struct check *check)
{
    struct rc_member *part = check->part;
    size_t parts = 0;
    const char *one;
    const char *other;

    for (size_t i = 0; i < check->count; i++)
        if (rc_coverage_is_twice(&check->ranks, check->member[i].roll))
            part[parts++] = (struct rc_member){ check->member[i].roll, check->member[i].roll->host, 0 };
    rc_member_sort(part, parts);
    if (parts != 2 || rc_member_run(part, parts) == 2)
        return rc_name_hosts(&check->namer, part, parts);
    one = rc_name_hosts(&check->namer, part, 1);
    other = rc_name_hosts(&check->namer, part + 1, 1);
    return rc_format(&check->namer.text, "%s and on %s", one, other);
}

static void check_ranks(struct check *check)
{
    struct rc_namer *namer = &check->namer;
    bool one = check->ranks.twices == 1 && check->ranks.twice->first == check->ranks.twice->last;
    const char *times = "more than once";

    if (check->ranks.twices == 0)
        return;
    if (check->ranks.least == check->ranks.most)
        times = check->ranks.most == 2 ? "twice" : rc_format(&namer->text, "%u times", check->ranks.most);
    add(check, RC602,
        rc_format(check->arena, "%s %s there %s: on %s; every rank must be there once; start all tasks with one "
                  "launcher, or unset RANK and SLURM_PROCID where a script exports them",
                  rc_name_ranges(namer, "rank", check->ranks.twice, check->ranks.twices), one ? "is" : "are", times,
                  name_involved(check)));
}

/* The node ranks that nobody has; of all entries, for another launch's nodes did
 * answer. Returns the number of ranges. */
static size_t find_silent(struct check *check, uint32_t nodes, struct rc_range *silent, uint64_t *ranks)
{
    uint32_t next = 0;
    size_t count = 0;

    for (size_t i = 0; i < check->all; i++)
        check->part[i] = (struct rc_member){ &check->rolls[i], RC_ABSENT, check->rolls[i].node };
    rc_member_sort(check->part, check->all);
    *ranks = 0;
    for (size_t i = 0; i <= check->all; i++) {
        uint32_t node = i < check->all && check->part[i].number < nodes ? check->part[i].number : nodes;

        if (node > next) {
            silent[count++] = (struct rc_range){ next, node - 1 };
            *ranks += node - next;
        }
        if (node >= next)
            next = node + 1;
    }
    return count;
}

/* Fewer entries than nodes. */
static void add_silent(struct check *check, uint32_t nodes, uint32_t deadline)
{
    struct rc_namer *namer = &check->namer;
    uint64_t ranks;
    size_t ranges = find_silent(check, nodes, namer->range, &ranks);
    const char *who = rc_name_ranges(namer, "node", namer->range, ranges);
    const char *tasks = "";
    const char *within = "";

    /* some that answered have the ranks of others: it is not known which ones they are */
    if (ranks != nodes - check->all)
        who = rc_format(&namer->text, "%u of %u nodes", nodes - (uint32_t)check->all, nodes);
    else if (check->ranks.gaps > 0 && check->count == check->all)
        tasks = rc_format(&namer->text, " (%s)",
                          rc_name_ranges(namer, "task", check->ranks.gap, check->ranks.gaps));
    if (deadline)
        within = rc_format(&namer->text, " within %u s", deadline);
    add(check, RC601, rc_format(check->arena, "nothing from %s%s%s; see what keeps them from starting, or from "
                                "reaching the node of rank 0, or wait longer with deadline=SECONDS", who, tasks,
                                within));
}

static void check_missing(struct check *check, uint32_t nodes, uint32_t deadline)
{
    const struct rc_coverage *ranks = &check->ranks;

    if (check->all < nodes) {
        add_silent(check, nodes, deadline);
    } else if (ranks->gaps > 0 && ranks->twices == 0 && check->count == check->all) {
        bool one = ranks->gaps == 1 && ranks->gap->first == ranks->gap->last;

        add(check, RC614, rc_format(check->arena, "%s %s on no node; every rank must be there once; " ONE_LAUNCHER,
                                    rc_name_ranges(&check->namer, "task", ranks->gap, ranks->gaps),
                                    one ? "is" : "are"));
    }
}

/* Keeps the members whose value others have, too, in the order of values. Returns
 * how many they are. */
static size_t keep_repeated(struct rc_member *member, size_t count)
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

static void check_node_ranks(struct check *check)
{
    size_t count;

    for (size_t i = 0; i < check->count; i++)
        check->part[i] = (struct rc_member){ check->member[i].roll, RC_ABSENT, check->member[i].roll->node };
    count = keep_repeated(check->part, check->count);
    /* who has another's ranks, too, has been named */
    if (count > 0 && check->ranks.twices == 0) {
        const char *nodes = rc_name_nodes(&check->namer, check->part, count);
        const char *tasks = rc_name_tasks(&check->namer, check->part, count);
        const char *hosts = rc_name_hosts(&check->namer, check->part, count);

        add(check, RC603, rc_format(check->arena, "%s of %s on %s cannot be told apart; every node needs a rank of its "
                                    "own; " ONE_LAUNCHER, nodes, tasks, hosts));
    }
}

static void add_run(struct runs *runs, const struct rc_member *member, size_t length)
{
    if (runs->count++ == 0 || member->roll->node < runs->member->roll->node) {
        runs->member = member;
        runs->length = length;
    }
}

/* What stands behind the one run that is shown. */
static const char *like_it(struct check *check, const struct runs *runs)
{
    return runs->count > 1 ? rc_format(&check->namer.text, " (and %U more like it)", (uint64_t)(runs->count - 1)) : "";
}

static void check_gpus(struct check *check)
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

        add(check, RC606, rc_format(check->arena, "GPU %s is used by %s on %s%s; give each task a GPU of its own (Slurm: "
                                    "srun --gpus-per-task=1)", gpu, tasks, hosts, like_it(check, &runs)));
    }
}

static void add_identity(struct check *check, const struct runs *runs, const char *format)
{
    const char *nodes = rc_name_nodes(&check->namer, runs->member, runs->length);
    const char *tasks = rc_name_tasks(&check->namer, runs->member, runs->length);
    const char *host = rc_name_value(&check->namer, runs->member->text);

    add(check, RC607, rc_format(check->arena, format, nodes, tasks, host, like_it(check, runs)));
}

/* The members with equal hosts: a machine that is there under several node ranks,
 * or, where boot ids differ or are not known, at least one name. */
static void check_hosts(struct check *check)
{
    struct runs machines = { .count = 0 };
    struct runs names = { .count = 0 };
    size_t count;
    size_t n;

    for (size_t i = 0; i < check->count; i++)
        check->part[i] = (struct rc_member){ check->member[i].roll, check->member[i].roll->host, 0 };
    count = keep_repeated(check->part, check->count);
    for (size_t i = 0; i < count; i += n) {
        struct rc_str boot = check->part[i].roll->boot;
        bool one = true;

        n = rc_member_run(&check->part[i], count - i);
        for (size_t k = 1; k < n; k++)
            one = one && rc_str_eq(boot, check->part[i + k].roll->boot);
        add_run(one ? &machines : &names, &check->part[i], n);
    }
    if (machines.count > 0)
        add_identity(check, &machines, "%s (%s) are one machine, %s%s; name each host once where the launcher takes "
                     "its hosts from");
    if (names.count > 0)
        add_identity(check, &names, "%s (%s) have one host name, %s%s; give each machine a name of its own, and name "
                     "it once where the launcher takes its hosts from");
}

/* A boot id is drawn at each start of a kernel. */
static void check_boots(struct check *check)
{
    struct runs runs = { .count = 0 };
    size_t count = 0;
    size_t n;

    for (size_t i = 0; i < check->count; i++)
        if (check->member[i].roll->boot.p)
            check->part[count++] = (struct rc_member){ check->member[i].roll, check->member[i].roll->boot, 0 };
    count = keep_repeated(check->part, count);
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

        add(check, RC607, rc_format(check->arena, "%s (%s) have one boot id%s: copies of one running machine, or one "
                                    "machine under several names; start copies anew, name each machine once",
                                    hosts, tasks, like_it(check, &runs)));
    }
}

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
static void add_variable(struct check *check, struct rc_str name)
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
    add(check, RC609,
        rc_format(check->arena, "%S %s %s; set it alike on all nodes, or on none", &begin, open ? "is" : "has",
                  rc_name_groups(&check->namer, shown, groups, open ? RC_SHOW_TEXT : RC_SHOW_NO_VALUE)));
}

/* What differs beyond those. */
static void add_variables(struct check *check, const struct rc_str *name, size_t count)
{
    struct rc_str first = begin_of(name[0]);
    struct rc_str second = count > 1 ? begin_of(name[1]) : RC_ABSENT;
    const char *names = rc_format(&check->namer.text, count > 1 ? "%S, %S" : "%S", &first, &second);

    if (count > 2)
        names = rc_format(&check->namer.text, "%s and %U more", names, (uint64_t)(count - 2));
    add(check, RC609, rc_format(check->arena, "%s differ%s, too; set each alike on all nodes, or on none", names,
                                count > 1 ? "" : "s"));
}

static bool has_found(const struct check *check, enum rc_message_id id)
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

static void check_variables(struct check *check)
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
        if (is_alike(&check->user[i], n, with_room) ||
            (rc_str_is(name, "MASTER_ADDR") && has_found(check, RC604)))
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

static void check_all(struct check *check, uint32_t nodes, uint32_t world, uint32_t deadline)
{
    check_scopes(check);
    world = compare_numbers(check, offsetof(struct rc_roll, world), world, "the number of tasks is");
    nodes = compare_numbers(check, offsetof(struct rc_roll, nodes), nodes, "the number of nodes is");
    rc_coverage_find(&check->ranks, check->member, check->count, world);
    check_node_ranks(check);
    check_ranks(check);
    check_missing(check, nodes, deadline);
    compare_texts(check, offsetof(struct rc_roll, addr), RC604, "MASTER_ADDR is",
                  "all tasks need the address of rank 0's node; unset it where a script exports it");
    compare_texts(check, offsetof(struct rc_roll, mode), RC605, "the mode is",
                  "give all tasks the same one, with --ddp=MODE or ROLLCALL=MODE");
    check_gpus(check);
    check_hosts(check);
    check_boots(check);
    compare_texts(check, offsetof(struct rc_roll, version), RC608, "rollcall is version",
                  "install the same version on all nodes");
    check_variables(check);
}

/* How much there is of what has no fixed number in an entry. */
struct sizes {
    size_t ranges;
    size_t users;
    size_t gpus;
};

static struct sizes measure(const struct rc_roll *rolls, size_t count)
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

static bool allocate(struct check *check, const struct sizes *sizes)
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

static void release(struct check *check)
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

bool rc_roll_check(const struct rc_roll *rolls, size_t count, uint32_t nodes, uint32_t world, uint32_t deadline,
                   struct rc_messages *findings, struct rc_arena *arena)
{
    struct check *check = calloc(1, sizeof(*check));
    const struct sizes sizes = measure(rolls, count);
    size_t start = arena->used;
    bool done = false;

    if (!check)
        return false;
    check->rolls = rolls;
    check->all = check->count = count;
    check->arena = arena;
    if (allocate(check, &sizes)) {
        for (size_t i = 0; i < count; i++)
            check->member[i].roll = &rolls[i];
        rc_namer_reset(&check->namer);
        check_all(check, nodes, world, deadline);
        done = !arena->full;
    }
    for (unsigned i = 0; done && i < check->found.count; i++)
        rc_message_add(findings, check->found.list[i].id, check->found.list[i].text);
    if (!done)
        arena->used = start;
    release(check);
    return done;
}
