/* SPDX-License-Identifier: BSD-3-Clause */
/* checkaddr.c - RC423: MASTER_ADDR does not lead to RANK 0's node from some node, so all use one of its addresses. */
#include "roll/check.h"

#include "base/netaddr.h"
#include "roll/checking.h"

/* Return RANK 0's node if it listed its addresses. */
static const struct rc_roll *find_root(const struct rc_roll *rolls, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (rolls[i].node == 0)
            return rolls[i].own.p && !rolls[i].place.p ? &rolls[i] : NULL;
    return NULL;
}

/* Loopback leads there only on the same machine. A node that did not look counts as right. */
static bool leads_there(const struct rc_roll *root, const struct rc_roll *roll)
{
    bool is_same = rc_str_eq(root->host, roll->host);
    struct rc_str rest = roll->leads;
    struct rc_netaddr address;

    if (!roll->leads.p)
        return true;
    while (rest.p)
        if (rc_netaddr_read(rc_str_split(rest, ',', &rest), &address) &&
            (rc_netaddr_is_loopback(&address) ? is_same : rc_netaddr_is_listed(root->own, &address)))
            return true;
    return false;
}

/* Prefer the address that most nodes find by name, then the one to srun: slurmds connect to each other on that
 * network. */
static struct rc_str choose_address(const struct rc_roll *root, const struct rc_roll *rolls, size_t count)
{
    struct rc_str rest = root->own;
    struct rc_str best = RC_ABSENT;
    size_t most = 0;

    while (rest.p) {
        struct rc_str text = rc_str_split(rest, ',', &rest);
        struct rc_netaddr address;
        size_t votes = 0;

        if (!rc_netaddr_read(text, &address))
            continue;
        for (size_t i = 0; i < count; i++)
            votes += rc_netaddr_is_listed(rolls[i].leads, &address);
        votes = 2 * votes + rc_str_eq(text, root->via);
        if (!best.p || votes > most) {
            best = text;
            most = votes;
        }
    }
    return best;
}

struct rc_str rc_roll_address(const struct rc_roll *rolls, size_t count)
{
    const struct rc_roll *root = find_root(rolls, count);

    for (size_t i = 0; root && i < count; i++)
        if (!leads_there(root, &rolls[i]))
            return choose_address(root, rolls, count);
    return RC_ABSENT;
}

void rc_check_address(struct rc_checking *check, const struct rc_str *address)
{
    const struct rc_roll *root = find_root(check->rolls, check->all);
    struct rc_group shown[RC_GROUPS_SHOWN];
    struct rc_namer *namer = &check->namer;
    size_t groups;
    size_t count = 0;

    for (size_t i = 0; i < check->all; i++)
        if (!leads_there(root, &check->rolls[i]))
            check->part[count++] = (struct rc_member){ &check->rolls[i], check->rolls[i].leads, 0 };
    groups = rc_group_find(check->part, count, shown);
    rc_checking_add(
        check, RC423,
        "MASTER_ADDR %pS does not lead to rank 0's node, but to %s; all tasks use %pS, an address of that "
        "node; correct DNS or /etc/hosts, unset MASTER_ADDR where a script exports it, or choose with addr=",
        &root->addr, rc_name_groups(namer, shown, groups, false), address);
}
