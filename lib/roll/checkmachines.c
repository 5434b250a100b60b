/* SPDX-License-Identifier: BSD-3-Clause */
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
    return rc_format(&check->namer.text, " (and %U more like it)", (uint64_t)(runs->count - 1));
}

void rc_check_gpus(struct rc_checking *check)
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
                        rc_format(check->arena,
                                  "GPU %s is used by %s on %s%s; give each task a GPU of its own (Slurm: N tasks a "
                                  "node, srun --gpus-per-node=N)",
                                  gpu, tasks, hosts, like_it(check, &runs)));
    }
}

static void add_identity(struct rc_checking *check, const struct runs *runs, const char *format)
{
    const char *nodes = rc_name_nodes(&check->namer, runs->member, runs->length);
    const char *tasks = rc_name_tasks(&check->namer, runs->member, runs->length);
    const char *host = rc_name_value(&check->namer, runs->member->text);

    rc_checking_add(check, RC607, rc_format(check->arena, format, nodes, tasks, host, like_it(check, runs)));
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
void rc_check_hosts(struct rc_checking *check)
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
        add_identity(check, &machines,
                     "%s (%s) are one machine, %s%s; list each host once where the launcher takes its "
                     "hosts from");
    if (names.count > 0)
        add_identity(check, &names,
                     "%s (%s) have the same host name, %s%s; give each machine a name of its own, and list "
                     "it once where the launcher takes its hosts from");
}

/* A boot id is drawn at each start of a kernel. */
void rc_check_boots(struct rc_checking *check)
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

        rc_checking_add(
            check, RC607,
            rc_format(check->arena,
                      "%s (%s) have the same boot id%s: they are one machine with several names, or copies of "
                      "one virtual machine; list each machine once, or reboot the copies",
                      hosts, tasks, like_it(check, &runs)));
    }
}
