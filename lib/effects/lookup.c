/* SPDX-License-Identifier: BSD-3-Clause */
#include "effects/lookup.h"

#include <netdb.h>
#include <string.h>
#include <unistd.h>

#include "base/netaddr.h"
#include "effects/rank0.h"
#include "resolve/address.h"
#include "system/net.h"
#include "system/node.h"

/* Copies what fits, with a NUL. */
static void lookup_copy(char *to, size_t size, const char *from)
{
    struct rc_arena arena = { .base = to, .size = size };

    rc_copy(&arena, rc_str(from));
}

/* Makes an error of the look-up. `text` is in lookup->text already, unless it did not fit there. */
static void lookup_fail(struct rc_lookup *lookup, enum rc_message_id id, const char *text)
{
    lookup->state = RC_LOOKUP_WRONG;
    lookup->id = id;
    if (text != lookup->text)
        lookup_copy(lookup->text, RC_LOOKUP_TEXT,
                    "the address of rank 0's node was not found, and the names are too long to say more");
}

/* The error of a name that this node cannot resolve. */
static void lookup_unknown(const struct rc_master *master, const struct rc_lookup_place *place,
                           struct rc_lookup *lookup)
{
    struct rc_arena arena = { .base = lookup->text, .size = RC_LOOKUP_TEXT };

    lookup_fail(
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
        lookup_fail(
            lookup, RC416,
            rc_format(&arena,
                      "%s resolves MASTER_ADDR %s (%s) to itself, %s; %s; take that name out of %s's line in its "
                      "/etc/hosts, or choose another address with addr=",
                      place->node, master->addr, master->addr_source, text, place->outcome, text));
    else
        lookup_fail(
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

/* Whether all of these addresses are surely other nodes'. */
static bool are_elsewhere(const struct rc_addresses *addresses)
{
    for (unsigned i = 0; i < addresses->count; i++)
        if (!rc_netaddr_is_elsewhere(&addresses->list[i]))
            return false;
    return true;
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
            is_machines_node(result, place) && are_elsewhere(addresses))
            refuse_address(master, false, first, place, lookup);
    } else if (is_machines_node(result, place) && are_all_own(addresses)) {
        refuse_address(master, true, first, place, lookup);
    } else if (master->own && !is_listed(rc_str(master->own), addresses)) {
        rc_netaddr_text(first, lookup->strange);
    }
}

/* Checks that result->master.addr resolves: on RANK 0's node to one of its own addresses, on others to another node,
 * at an address that RANK 0's node has, where that has told its own. */
static void lookup_name(const struct rc_result *result, const struct rc_lookup_place *place, struct rc_lookup *lookup)
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
        lookup_copy(lookup->addr, RC_NETADDR_TEXT, "127.0.0.1");
    } else {
        lookup_unknown(master, place, lookup);
    }
}

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
        struct rc_str suffix = rc_str(rc_format(arena, "-%pS", &interface));
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

/* Looks for it by the node's name, and by the names that go with an interface. */
static void lookup_network(const struct rc_result *result, const struct rc_lookup_place *place,
                           struct rc_lookup *lookup)
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
        lookup_fail(
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
            lookup_copy(lookup->interface, RC_INTERFACE_SIZE, interface);
        else
            rc_interface_towards(chosen, lookup->interface);
        return;
    }
    for (unsigned i = 0; i < known.count; i++)
        add_address(found, &known.list[i]);
    if (known.count == 0 && rc_resolver_denies(error))
        lookup_unknown(master, place, lookup);
    else
        lookup_fail(
            lookup, RC410,
            rc_format(&arena,
                      "addr=%s fits no address of rank 0's node: %s resolves %s to %s; %s; choose another network or "
                      "interface, or a suffix of node names (addr=-ib)",
                      master->wish, place->node, tried,
                      known.count ? found : rc_format(&name_arena, "none (%s)", gai_strerror(error)), place->outcome));
}

/* A name server that does not answer costs 5 s at least, unless resolv.conf says otherwise. */
enum { SLOW_MS = 3000 };

bool rc_lookup_is_needed(const struct rc_result *result)
{
    struct rc_netaddr address;

    return result->master.addr && (result->master.wish || ((result->master.todo & RC_MASTER_LOOKUP) &&
                                                           !rc_netaddr_read(rc_str(result->master.addr), &address)));
}

static void name_node(char node[RC_HOST_MAX + 1])
{
    if (gethostname(node, RC_HOST_MAX) < 0 || !*node)
        lookup_copy(node, RC_HOST_MAX + 1, "this node");
}

void rc_lookup_master(const struct rc_result *result, const char *outcome, struct rc_lookup *lookup)
{
    struct rc_lookup_place place = { .outcome = outcome };
    int64_t start = rc_milliseconds();
    int64_t taken;

    memset(lookup, 0, sizeof(*lookup));
    if (!rc_lookup_is_needed(result))
        return;
    lookup->state = RC_LOOKUP_FOUND;
    name_node(place.node);
    if (result->master.kind == RC_ADDRESS_INTERFACE || result->master.kind == RC_ADDRESS_NETWORK)
        lookup_network(result, &place, lookup);
    else
        lookup_name(result, &place, lookup);
    taken = rc_milliseconds() - start;
    lookup->seconds = taken < SLOW_MS ? 0 : (uint32_t)(taken / 1000);
}

void rc_lookup_warn(const struct rc_master *master, const struct rc_lookup *lookup, struct rc_messages *messages)
{
    char node[RC_HOST_MAX + 1] = "";

    name_node(node);
    if (lookup->seconds)
        rc_say(messages, RC418,
               "the resolver of %s took %u s for MASTER_ADDR %s (%s); its tasks start that much later; take name "
               "servers that do not answer out of /etc/resolv.conf, or put the name into /etc/hosts",
               node, lookup->seconds, master->addr, master->addr_source);
    if (*lookup->strange)
        rc_say(messages, RC421,
               "%s resolves MASTER_ADDR %s (%s) to %s, but rank 0's node has %s; the tasks start; if those of %s "
               "wait for rank 0 in vain, correct that name in its /etc/hosts or in DNS",
               node, master->addr, master->addr_source, lookup->strange, master->own, node);
}

static bool refuse_result(struct rc_result *result, enum rc_message_id id, const char *text)
{
    rc_message_add(&result->messages, id, text);
    rc_result_refuse(result, "the address of rank 0's node was not found");
    return false;
}

/* Nodes that do not know their own name are common; those that do not know localhost are broken. */
static void note_loopback(struct rc_result *result, const char *addr)
{
    const char *name = result->master.addr;

    if (rc_str_is(rc_str(name), "localhost"))
        rc_say(&result->messages, RC419,
               "localhost does not resolve on this node, which has all tasks: MASTER_ADDR is %s; see "
               "that its /etc/hosts can be read and names localhost",
               addr);
    else
        rc_say(&result->messages, RC414, "%s does not resolve, but all tasks are on this node: MASTER_ADDR is %s", name,
               addr);
}

bool rc_lookup_apply(struct rc_result *result, const struct rc_lookup *lookup)
{
    const struct rc_master *master = &result->master;
    const char *source = master->addr_source;

    switch (lookup->state) {
    case RC_LOOKUP_SAME:
        return true;
    case RC_LOOKUP_WRONG:
        return refuse_result(result, lookup->id, rc_format(&result->arena, "%s", lookup->text));
    case RC_LOOKUP_FOUND:
        break;
    }
    if (*lookup->addr && !master->wish) {
        note_loopback(result, lookup->addr);
        source = "all tasks are on one node, whose name does not resolve";
    }
    if (*lookup->addr || *lookup->interface)
        rc_address_settle(result, *lookup->addr ? lookup->addr : master->addr, source,
                          *lookup->interface ? lookup->interface : NULL);
    if (!result->plan.full && !result->arena.full)
        return true;
    return refuse_result(result, RC502,
                         "the values to set are too long; nothing is set; unset variables of many thousand characters");
}

bool rc_lookup_settle(struct rc_result *result, const char *outcome)
{
    struct rc_lookup lookup;

    if (!rc_lookup_is_needed(result))
        return true;
    rc_lookup_master(result, outcome, &lookup);
    /* each task of the node has waited as long: one says so */
    if (result->identity.field[RC_LOCAL_RANK] == 0 || result->identity.field[RC_LOCAL_RANK] == RC_UNKNOWN)
        rc_lookup_warn(&result->master, &lookup, &result->messages);
    return rc_lookup_apply(result, &lookup);
}

bool rc_lookup_is_elsewhere(const struct rc_result *result)
{
    struct rc_addresses addresses = { .count = 0 };

    /* the resolver cannot answer now; torch will ask again */
    return rc_resolver_ask(result->master.addr, &addresses) == 0 && are_elsewhere(&addresses);
}
