/* SPDX-License-Identifier: BSD-3-Clause */
#include "effects/lookupname.h"

#include <string.h>

#include "base/netaddr.h"
#include "effects/rank0.h"
#include "system/interfaces.h"
#include "system/resolver.h"

void rc_lookup_copy(char *to, size_t size, const char *from)
{
    struct rc_arena arena = { .base = to, .size = size };

    rc_copy(&arena, rc_str(from));
}

void rc_lookup_fail(struct rc_lookup *lookup, enum rc_message_id id, const char *text)
{
    lookup->state = RC_LOOKUP_WRONG;
    lookup->id = id;
    if (text != lookup->text)
        rc_lookup_copy(lookup->text, RC_LOOKUP_TEXT,
                       "the address of rank 0's node was not found, and the names are too long to say more");
}

void rc_lookup_unknown(const struct rc_master *master, const struct rc_lookup_place *place, struct rc_lookup *lookup)
{
    struct rc_arena arena = { .base = lookup->text, .size = RC_LOOKUP_TEXT };

    rc_lookup_fail(
        lookup, RC408,
        rc_format(&arena, "%s cannot resolve MASTER_ADDR %s (%s); %s; have that name put into DNS or /etc/hosts, or %s",
                  place->node, master->addr, master->addr_source, place->outcome,
                  master->wish                               ? "choose another addr="
                  : master->addr_given == RC_GIVEN_BY_LAUNCH ? "choose an address that all nodes know with addr="
                                                             : "unset it"));
}

static struct rc_str first_label(struct rc_str name)
{
    struct rc_str rest;

    return rc_str_split(name, '.', &rest);
}

static bool has_address(const struct rc_addresses *addresses, const struct rc_netaddr *address)
{
    for (unsigned i = 0; i < addresses->count; i++)
        if (rc_netaddr_compare(&addresses->list[i], address) == 0)
            return true;
    return false;
}

static bool has_interface(const struct rc_interface *list, unsigned count, const struct rc_netaddr *address)
{
    for (unsigned i = 0; i < count; i++)
        if (rc_netaddr_compare(&list[i].address, address) == 0)
            return true;
    return false;
}

/* Whether this node surely has all of the addresses, by the list of its interfaces. */
static bool are_all_own(const struct rc_addresses *addresses)
{
    struct rc_interface list[RC_INTERFACES_MAX];
    unsigned count = rc_interfaces(list);

    for (unsigned i = 0; i < addresses->count; i++)
        if (!rc_netaddr_is_loopback(&addresses->list[i]) && !has_interface(list, count, &addresses->list[i]))
            return false;
    return addresses->count > 0;
}

/* Slurm may run several nodes on one machine: SLURMD_NODENAME then differs from the machine's name, and a name of
 * another node rightly leads to this machine. */
static bool is_machines_node(const struct rc_result *result, const struct rc_lookup_place *place)
{
    struct rc_str node = rc_env_get(&result->env, "SLURMD_NODENAME");

    return result->identity.field[RC_NNODES] != 1 && rc_str_eq(first_label(node), first_label(rc_str(place->node)));
}

/* The name leads to this node, which is not RANK 0's; or from RANK 0's node to another one. */
static void refuse_address(const struct rc_master *master, bool to_itself, const struct rc_netaddr *address,
                           const struct rc_lookup_place *place, struct rc_lookup *lookup)
{
    struct rc_arena arena = { .base = lookup->text, .size = RC_LOOKUP_TEXT };
    char text[RC_NETADDR_TEXT];

    rc_netaddr_text(address, text);
    if (to_itself)
        rc_lookup_fail(
            lookup, RC416,
            rc_format(&arena,
                      "%s resolves MASTER_ADDR %s (%s) to itself, %s; %s; take that name out of %s's line in its "
                      "/etc/hosts, or choose another address with addr=",
                      place->node, master->addr, master->addr_source, text, place->outcome, text));
    else
        rc_lookup_fail(
            lookup, RC420,
            rc_format(&arena,
                      "rank 0's node %s resolves MASTER_ADDR %s (%s) to %s, which it does not have; %s; correct its "
                      "/etc/hosts or DNS, or choose another address with addr=",
                      place->node, master->addr, master->addr_source, text, place->outcome));
}

/* "10.0.0.1,10.1.0.1": whether one of the addresses is among them. */
static bool is_listed(struct rc_str list, const struct rc_addresses *addresses)
{
    struct rc_netaddr address;

    while (list.p)
        if (rc_netaddr_read(rc_str_split(list, ',', &list), &address) && has_address(addresses, &address))
            return true;
    return false;
}

/* What the name leads to, seen from here. */
static void check_addresses(const struct rc_result *result, const struct rc_addresses *addresses,
                            const struct rc_lookup_place *place, struct rc_lookup *lookup)
{
    const struct rc_master *master = &result->master;
    const struct rc_netaddr *first = &addresses->list[0];

    if (result->identity.field[RC_NODE_RANK] == 0) {
        /* what may be another node's is compared by rc_rank0_verify */
        if (result->facts.master_certain && master->addr_given == RC_GIVEN_BY_LAUNCH && !master->wish &&
            is_machines_node(result, place) && rc_lookup_are_elsewhere(addresses))
            refuse_address(master, false, first, place, lookup);
    } else if (is_machines_node(result, place) && are_all_own(addresses)) {
        refuse_address(master, true, first, place, lookup);
    } else if (master->own && !is_listed(rc_str(master->own), addresses)) {
        rc_netaddr_text(first, lookup->strange);
    }
}

void rc_lookup_name(const struct rc_result *result, const struct rc_lookup_place *place, struct rc_lookup *lookup)
{
    const struct rc_master *master = &result->master;
    struct rc_addresses addresses = { .count = 0 };
    int error = rc_resolver_ask(master->addr, &addresses);

    if (error == 0) {
        check_addresses(result, &addresses, place, lookup);
        if (master->wish && lookup->state == RC_LOOKUP_FOUND)
            rc_interface_towards(&addresses.list[0], lookup->interface);
    } else if (!rc_resolver_denies(error)) {
        return;
    } else if (result->identity.field[RC_NNODES] == 1) {
        rc_lookup_copy(lookup->addr, RC_NETADDR_TEXT, "127.0.0.1");
    } else {
        rc_lookup_unknown(master, place, lookup);
    }
}
