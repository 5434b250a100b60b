/* SPDX-License-Identifier: BSD-3-Clause */
#include "system/ifnames.h"

#include <string.h>

#include "system/net.h"
#include "system/node.h"

/* gloo takes whole names, each with an address (torch ProcessGroupGloo, split; gloo tcp device.cc, lookupAddrForIface).
 * NCCL takes the filter below, since 2.28 only running interfaces (src/os/linux.cc, ncclOsFindInterfaces). Both ignore
 * values of one character. tensorpipe takes one whole name, default 127.0.0.1 (tensorpipe_agent.cpp, guessAddress). */
enum { GLOO, NCCL, TENSORPIPE };

const struct rc_str rc_ifnames_variable[RC_IFNAMES] = {
    [GLOO] = RC_NAME("GLOO_SOCKET_IFNAME"),
    [NCCL] = RC_NAME("NCCL_SOCKET_IFNAME"),
    [TENSORPIPE] = RC_NAME("TP_SOCKET_IFNAME"),
};

static bool element_is(struct rc_str element, struct rc_str name, bool exact)
{
    struct rc_str own = rc_str_split(element, ':', &(struct rc_str){ NULL, 0 });

    if (own.n == 0 || own.n > name.n)
        return false;
    return rc_str_eq(own, (struct rc_str){ name.p, exact ? name.n : own.n });
}

bool rc_ifnames_filter(struct rc_str filter, struct rc_str name)
{
    bool exclude = rc_str_starts(filter, "^");
    bool exact;
    bool listed = false;

    if (exclude)
        filter = (struct rc_str){ filter.p + 1, filter.n - 1 };
    exact = rc_str_starts(filter, "=");
    if (exact)
        filter = (struct rc_str){ filter.p + 1, filter.n - 1 };
    if (filter.n == 0)
        return true;
    for (struct rc_str rest = filter; rest.p && !listed;)
        listed = element_is(rc_str_split(rest, ',', &rest), name, exact);
    return listed != exclude;
}

struct node {
    const struct rc_interface *list;
    unsigned count;
};

static bool has_name(const struct node *node, struct rc_str name, bool must_run)
{
    for (unsigned i = 0; i < node->count; i++)
        if (rc_str_is(name, node->list[i].name) && (node->list[i].is_up || !must_run))
            return true;
    return false;
}

static bool has_list(const struct node *node, struct rc_str list, bool must_run)
{
    while (list.p) {
        struct rc_str name = rc_str_split(list, ',', &list);

        /* gloo uses the host's address for an empty name */
        if (name.n && !has_name(node, name, must_run))
            return false;
    }
    return true;
}

static bool has_passing(const struct node *node, struct rc_str filter, struct rc_str family)
{
    for (unsigned i = 0; i < node->count; i++) {
        const struct rc_interface *interface = &node->list[i];
        bool is_six = interface->address.size == RC_IPV6_BYTES;

        if (!interface->is_up || (is_six && rc_netaddr_is_loopback(&interface->address)) ||
            rc_str_is(family, is_six ? "AF_INET" : "AF_INET6"))
            continue;
        if (rc_ifnames_filter(filter, rc_str(interface->name)))
            return true;
    }
    return false;
}

static bool is_found(const struct rc_ifnames *names, int variable, const struct node *node)
{
    struct rc_str value = names->value[variable];

    if (variable == TENSORPIPE)
        return !value.n || !names->has_peers || has_name(node, value, true);
    if (value.n < 2)
        return true;
    /* on a single node, gloo works without a carrier */
    return variable == GLOO ? has_list(node, value, names->has_peers) : has_passing(node, value, names->family);
}

/* Names that the user may mean: "eth0, ib0". */
static const char *list_others(const struct node *node, struct rc_arena *arena)
{
    enum { SHOWN = 6 };
    const char *text = rc_format(arena, "%s", "");
    unsigned shown = 0;

    for (unsigned i = 0; i < node->count && shown < SHOWN; i++) {
        struct rc_str name = rc_str(node->list[i].name);
        const struct node before = { .list = node->list, .count = i };

        if (!node->list[i].is_up || has_name(&before, name, true) ||
            !rc_ifnames_filter(RC_STR("^lo,docker,veth,virbr,br-"), name))
            continue;
        rc_join(arena);
        rc_format(arena, "%s%pS", shown++ ? ", " : "", &name);
    }
    return text;
}

const char *rc_ifnames_check(const struct rc_ifnames *names, struct rc_arena *arena)
{
    struct rc_interface list[RC_INTERFACES_MAX];
    struct node node = { .list = list };
    char host[RC_NODE_NAME_SIZE];
    char text[1024];
    struct rc_arena room = { .base = text, .size = sizeof(text) };
    const char *wrong = rc_format(arena, "%s", "");
    const char *unset = rc_format(&room, "%s", "");
    const char *others;

    if (!names->value[GLOO].n && !names->value[NCCL].n && !names->value[TENSORPIPE].n)
        return NULL;
    node.count = rc_interfaces_all(list);
    for (int i = 0; i < RC_IFNAMES && node.count < RC_INTERFACES_MAX; i++) {
        if (is_found(names, i, &node))
            continue;
        rc_join(arena);
        rc_format(arena, "%s%pS=%pQ", *wrong ? ", " : "", &rc_ifnames_variable[i], &names->value[i]);
        rc_join(&room);
        rc_format(&room, " %pS", &rc_ifnames_variable[i]);
    }
    if (!*wrong)
        return NULL;
    others = list_others(&node, &room);
    return rc_format(arena,
                     "%s: %s has no such interface that is up and has an address%s%s; rollcall did not change it; type "
                     "unset%s, or name an interface that each node has",
                     wrong, rc_node_name(host), *others ? ", but " : "", others, unset);
}
