/* SPDX-License-Identifier: BSD-3-Clause */
#include "effects/lookupnetwork.h"

#include <netdb.h>
#include <string.h>

#include "base/netaddr.h"
#include "system/interfaces.h"
#include "system/resolver.h"

enum { LIST_SIZE = 160, NAMES_MAX = 3 };

struct networks {
    struct rc_network list[RC_ADDRESSES_MAX];
    unsigned count;
};

static bool is_in(const struct networks *networks, const struct rc_netaddr *address)
{
    for (unsigned i = 0; i < networks->count; i++)
        if (rc_network_has(&networks->list[i], address))
            return true;
    return false;
}

static const struct rc_netaddr *lowest_in(const struct rc_addresses *addresses, const struct networks *networks)
{
    const struct rc_netaddr *lowest = NULL;

    for (unsigned i = 0; i < addresses->count; i++)
        if (is_in(networks, &addresses->list[i]) && (!lowest || rc_netaddr_compare(&addresses->list[i], lowest) < 0))
            lowest = &addresses->list[i];
    return lowest;
}

/* Adds a word to a list for a message, unless it is there already or does not fit. */
static void add_word(char list[LIST_SIZE], struct rc_str word)
{
    size_t used = strlen(list);

    for (struct rc_str rest = rc_str(list); rest.p && rest.n;) {
        struct rc_str known = rc_str_split(rest, ' ', &rest);

        if (known.n && known.p[known.n - 1] == ',')
            known.n--;
        if (rc_str_eq(known, word))
            return;
    }
    if (used + word.n + 3 > LIST_SIZE)
        return;
    if (used) {
        list[used++] = ',';
        list[used++] = ' ';
    }
    memcpy(list + used, word.p, word.n);
    list[used + word.n] = '\0';
}

static void add_address(char list[LIST_SIZE], const struct rc_netaddr *address)
{
    char text[RC_NETADDR_TEXT];

    add_word(list, rc_str(rc_netaddr_text(address, text)));
}

/* Writes this node's addresses to *own and, where `wish` names an interface, that
 * interface's networks. `names` gets the names of all interfaces. */
static void look_around(const char *wish, struct rc_addresses *own, struct networks *networks, char names[LIST_SIZE])
{
    struct rc_interface list[RC_INTERFACES_MAX];
    unsigned count = rc_interfaces(list);

    for (unsigned i = 0; i < count; i++) {
        if (strcmp(list[i].name, "lo") != 0)
            add_word(names, rc_str(list[i].name));
        if (list[i].address.size == 0)
            continue;
        rc_addresses_add(own, &list[i].address);
        if (wish && strcmp(list[i].name, wish) == 0 && networks->count < RC_ADDRESSES_MAX)
            networks->list[networks->count++] = list[i].network;
    }
}

/* The names under which RANK 0's node may have an address of the interface. */
static unsigned candidate_names(const struct rc_master *master, struct rc_arena *arena, const char *names[NAMES_MAX])
{
    struct rc_str interface = rc_str(master->wish);
    unsigned count = 1;

    names[0] = master->addr;
    if (master->kind != RC_ADDRESS_INTERFACE)
        return count;
    for (unsigned i = 1; i < NAMES_MAX && interface.n; i++) {
        struct rc_str suffix = rc_str(rc_format(arena, "-%S", &interface));
        const char *name = rc_address_with_suffix(rc_str(master->addr), suffix, arena);
        size_t before = interface.n;

        if (name)
            names[count++] = name;
        /* first "ib0", then "ib" */
        while (interface.n && interface.p[interface.n - 1] >= '0' && interface.p[interface.n - 1] <= '9')
            interface.n--;
        if (interface.n == before)
            break;
    }
    return count;
}

static bool all_loopback(const struct rc_addresses *addresses)
{
    for (unsigned i = 0; i < addresses->count; i++)
        if (!rc_netaddr_is_loopback(&addresses->list[i]))
            return false;
    return addresses->count > 0;
}

void rc_lookup_network(const struct rc_result *result, const struct rc_lookup_place *place, struct rc_lookup *lookup)
{
    const struct rc_master *master = &result->master;
    const char *interface = master->kind == RC_ADDRESS_INTERFACE ? master->wish : NULL;
    struct rc_arena arena = { .base = lookup->text, .size = RC_LOOKUP_TEXT };
    char scratch[2 * RC_HOST_MAX + 2 * RC_NETADDR_TEXT];
    char there[LIST_SIZE] = "", found[LIST_SIZE] = "", tried[LIST_SIZE] = "";
    struct rc_arena name_arena = { .base = scratch, .size = sizeof(scratch) };
    struct rc_addresses own = { .count = 0 }, known = { .count = 0 };
    struct networks networks = { .count = 0 };
    const struct rc_netaddr *chosen = NULL;
    const char *names[NAMES_MAX];
    unsigned count = candidate_names(master, &name_arena, names);
    int error = 0;

    look_around(interface, &own, &networks, there);
    if (!interface)
        networks.count = rc_network_read(rc_str(master->wish), &networks.list[0]) ? 1 : 0;
    if (networks.count == 0) {
        rc_lookup_fail(
            lookup, RC409,
            rc_format(&arena,
                      "addr=%s: %s has no interface of that name with an address, but %s; %s; name one of them, or "
                      "a network (addr=10.1.0.0/16)",
                      master->wish, place->node, *there ? there : "none", place->outcome));
        return;
    }
    for (unsigned i = 0; i < count && !chosen; i++) {
        int now = rc_resolver_ask(names[i], &known);

        if (i == 0 || !rc_resolver_denies(now))
            error = now;
        add_word(tried, rc_str(names[i]));
        chosen = lowest_in(&known, &networks);
    }
    /* Debian puts a node's own name at 127.0.1.1, in /etc/hosts */
    if (!chosen && result->identity.field[RC_NODE_RANK] == 0 && all_loopback(&known))
        chosen = lowest_in(&own, &networks);
    if (chosen) {
        rc_netaddr_text(chosen, lookup->addr);
        if (interface)
            rc_lookup_copy(lookup->interface, RC_INTERFACE_SIZE, interface);
        else
            rc_interface_towards(chosen, lookup->interface);
        return;
    }
    for (unsigned i = 0; i < known.count; i++)
        add_address(found, &known.list[i]);
    if (known.count == 0 && rc_resolver_denies(error))
        rc_lookup_unknown(master, place, lookup);
    else
        rc_lookup_fail(
            lookup, RC410,
            rc_format(&arena,
                      "addr=%s fits no address of rank 0's node: %s resolves %s to %s; %s; choose another network or "
                      "interface, or a suffix of node names (addr=-ib)",
                      master->wish, place->node, tried,
                      known.count ? found : rc_format(&name_arena, "none (%s)", gai_strerror(error)), place->outcome));
}
