/* SPDX-License-Identifier: BSD-3-Clause */
#include "effects/lookup.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "base/netaddr.h"
#include "resolve/options.h"
#include "system/ifnames.h"
#include "system/net.h"
#include "system/node.h"
#include "system/port.h"

/* `wrong` gets at most one error. */
struct search {
    const struct rc_lookup_question *asked;
    struct rc_lookup *found;
    struct rc_arena *arena;
    struct rc_messages wrong;
    struct rc_addresses at; /* RANK 0's; one must be reachable */
    char node[RC_NODE_NAME_SIZE];
};

static struct rc_str address_text(struct search *s, const struct rc_netaddr *address)
{
    char text[RC_NETADDR_TEXT];

    return rc_str(rc_copy(s->arena, rc_str(rc_netaddr_text(address, text))));
}

static struct rc_str interface_towards(struct search *s, const struct rc_netaddr *address)
{
    char name[RC_INTERFACE_SIZE];

    return rc_interface_towards(address, name) ? rc_str(rc_copy(s->arena, rc_str(name))) : RC_ABSENT;
}

static void refuse_unknown(struct search *s, int error)
{
    const struct rc_lookup_question *asked = s->asked;
    bool is_denied = rc_resolver_denies(error);

    rc_say(&s->wrong, is_denied ? RC408 : RC424,
           is_denied
               ? "%s cannot resolve MASTER_ADDR %pS (%pS); %pS; have that name put into DNS or /etc/hosts, or %s"
               : "%s cannot resolve MASTER_ADDR %pS (%pS), because no name server answers; %pS; repair DNS there, "
                 "put that name into /etc/hosts, set MASTER_ADDR to an address of rank 0's node, or %s",
           s->node, &asked->addr, &asked->source, &asked->outcome,
           asked->wish.p                        ? "choose another addr="
           : asked->given == RC_GIVEN_BY_LAUNCH ? "choose an address that all nodes resolve with addr="
                                                : "unset it");
}

static struct rc_str first_label(struct rc_str name)
{
    struct rc_str rest;

    return rc_str_split(name, '.', &rest);
}

static bool are_all(const struct rc_addresses *addresses, bool (*are)(const struct rc_netaddr *))
{
    for (unsigned i = 0; i < addresses->count; i++)
        if (!are(&addresses->list[i]))
            return false;
    return addresses->count > 0;
}

/* Return true if this node has the address. */
static bool is_own(const struct rc_netaddr *address)
{
    struct rc_interface list[RC_INTERFACES_MAX];
    unsigned count = rc_interfaces(list);
    bool found = rc_netaddr_is_loopback(address);

    for (unsigned i = 0; i < count && !found; i++)
        found = rc_netaddr_compare(&list[i].address, address) == 0;
    return found;
}

/* Return true if a list "10.0.0.1,10.1.0.1" has one of these. */
static bool is_listed(struct rc_str list, const struct rc_addresses *addresses)
{
    for (unsigned i = 0; i < addresses->count; i++)
        if (rc_netaddr_is_listed(list, &addresses->list[i]))
            return true;
    return false;
}

/* On RANK 0's node the name must lead to it, on others elsewhere, at an address that it reported. */
static void check_addresses(struct search *s, const struct rc_addresses *addresses)
{
    const struct rc_lookup_question *asked = s->asked;
    struct rc_str first = address_text(s, &addresses->list[0]);
    /* If several slurmds share a machine, node and host names differ, and other nodes' names lead here. */
    bool is_machine = asked->nodes != 1 && rc_str_eq(first_label(asked->node), first_label(rc_str(s->node)));

    if (asked->node_rank == 0) {
        /* rc_rank0_verify() compares those that may be another node's */
        if (asked->certain && asked->given == RC_GIVEN_BY_LAUNCH && !asked->wish.p && is_machine && s->found->elsewhere)
            rc_say(&s->wrong, RC420,
                   "rank 0's node %s resolves MASTER_ADDR %pS (%pS) to %pS, which it does not have; %pS; correct its "
                   "/etc/hosts or DNS, or choose another address with addr=",
                   s->node, &asked->addr, &asked->source, &first, &asked->outcome);
    } else if (is_machine && !s->found->elsewhere && are_all(addresses, is_own)) {
        rc_say(&s->wrong, RC416,
               "%s resolves MASTER_ADDR %pS (%pS) to itself, %pS; %pS; take that name out of %pS's line in its "
               "/etc/hosts, or choose another address with addr=",
               s->node, &asked->addr, &asked->source, &first, &asked->outcome, &first);
    } else if (asked->own.p && !is_listed(asked->own, addresses)) {
        s->found->strange = first;
    }
}

/* A restarting name server is back within seconds; torch retries, too. */
enum { PATIENCE_MS = 3000, PAUSE_MS = 500 };

static int ask_resolver(struct search *s, const char *name)
{
    int64_t deadline = rc_milliseconds() + PATIENCE_MS;
    int error;

    while ((error = rc_resolver_ask(name, &s->at)) != 0 && !rc_resolver_denies(error) && !s->asked->once &&
           s->asked->nodes != 1 && rc_milliseconds() + PAUSE_MS < deadline)
        poll(NULL, 0, PAUSE_MS);
    return error;
}

/* Write a name's addresses, for the other nodes. */
static struct rc_str write_leads(struct search *s, int error)
{
    const char *text = rc_resolver_denies(error) ? RC_LEADS_UNKNOWN : RC_LEADS_UNANSWERED;

    for (unsigned i = 0; !error && i < s->at.count; i++) {
        struct rc_str address = address_text(s, &s->at.list[i]);
        const char *longer = i ? rc_format(s->arena, "%s,%pS", text, &address) : address.p;

        if (strlen(longer) > RC_LEADS_MAX)
            break;
        text = longer;
    }
    return rc_str(text);
}

/* Check a MASTER_ADDR that stays a name. */
static void check_name(struct search *s)
{
    struct rc_netaddr address;

    if (rc_netaddr_read(s->asked->addr, &address))
        return;
    s->found->elsewhere = are_all(&s->at, rc_netaddr_is_elsewhere);
    check_addresses(s, &s->at);
    if (s->asked->wish.p)
        s->found->interface = interface_towards(s, &s->at.list[0]);
}

static void find_name(struct search *s)
{
    int error = ask_resolver(s, rc_copy(s->arena, s->asked->addr));

    s->found->leads = write_leads(s, error);
    if (error == 0) {
        check_name(s);
    } else if (s->asked->nodes == 1) {
        s->found->addr = RC_STR("127.0.0.1");
    } else {
        refuse_unknown(s, error);
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

static void add_word(char list[LIST_SIZE], const char *word)
{
    size_t used = strlen(list);
    size_t n = strlen(word);

    for (const char *at = strstr(list, word); at; at = strstr(at + 1, word))
        if ((at == list || at[-1] == ' ') && (at[n] == ',' || at[n] == '\0'))
            return;
    if (used + n + 3 <= LIST_SIZE)
        snprintf(list + used, LIST_SIZE - used, "%s%s", used ? ", " : "", word);
}

/* Add the networks of the interface `wish`. List this node's addresses in *networks, and all interfaces with one. */
static void look_around(struct rc_str wish, struct rc_addresses *own, struct networks *networks, char names[LIST_SIZE])
{
    struct rc_interface list[RC_INTERFACES_MAX];
    unsigned count = rc_interfaces(list);

    for (unsigned i = 0; i < count; i++) {
        if (strcmp(list[i].name, "lo") != 0)
            add_word(names, list[i].name);
        if (rc_str_is(wish, list[i].name) && networks->count < RC_ADDRESSES_MAX)
            networks->list[networks->count++] = list[i].network;
    }
    /* keep room for those that may be chosen */
    for (unsigned i = 0; i < count; i++)
        if (is_in(networks, &list[i].address))
            rc_addresses_add(own, &list[i].address);
}

/* List names for RANK 0's address on the interface. */
static unsigned list_names(struct search *s, struct rc_str interface, const char *names[NAMES_MAX])
{
    unsigned count = 1;

    names[0] = rc_copy(s->arena, s->asked->addr);
    while (count < NAMES_MAX && interface.n) {
        struct rc_str suffix = rc_str(rc_format(s->arena, "-%pS", &interface));
        const char *name = rc_address_with_suffix(s->asked->addr, suffix, s->arena);
        size_t before = interface.n;

        if (!name)
            break;
        names[count++] = name;
        /* first "ib0", then "ib" */
        while (interface.n && rc_is_digit(interface.p[interface.n - 1]))
            interface.n--;
        if (interface.n == before)
            break;
    }
    return count;
}

static void find_in_network(struct search *s)
{
    const struct rc_lookup_question *asked = s->asked;
    struct rc_str interface = asked->kind == RC_ADDRESS_INTERFACE ? asked->wish : RC_ABSENT;
    char there[LIST_SIZE] = "", found[LIST_SIZE] = "", tried[LIST_SIZE] = "";
    struct rc_addresses own = { .count = 0 }, known = { .count = 0 };
    struct networks networks = { .count = 0 };
    const struct rc_netaddr *chosen = NULL;
    const char *names[NAMES_MAX];
    unsigned count = list_names(s, interface, names);
    int error = 0;

    if (!interface.p)
        networks.count = rc_network_read(asked->wish, &networks.list[0]) ? 1 : 0;
    look_around(interface, &own, &networks, there);
    if (networks.count == 0) {
        rc_say(&s->wrong, RC409,
               "addr=%pS: %s has no interface of that name with an address, but %s; %pS; name one of them, or a "
               "network (addr=10.1.0.0/16)",
               &asked->wish, s->node, *there ? there : "none", &asked->outcome);
        return;
    }
    for (unsigned i = 0; i < count && !chosen; i++) {
        int now = rc_resolver_ask(names[i], &known);

        if (i == 0 || !rc_resolver_denies(now))
            error = now;
        add_word(tried, names[i]);
        chosen = lowest_in(&known, &networks);
    }
    /* Debian's /etc/hosts puts the host name at 127.0.1.1 */
    if (!chosen && asked->node_rank == 0 && are_all(&known, rc_netaddr_is_loopback))
        chosen = lowest_in(&own, &networks);
    if (chosen) {
        rc_addresses_add(&s->at, chosen);
        s->found->addr = address_text(s, chosen);
        s->found->interface = interface.p ? interface : interface_towards(s, chosen);
        return;
    }
    for (unsigned i = 0; i < known.count; i++)
        add_word(found, address_text(s, &known.list[i]).p);
    if (known.count == 0)
        refuse_unknown(s, error);
    else
        rc_say(&s->wrong, RC410,
               "addr=%pS fits no address of rank 0's node: %s resolves %s to %s; %pS; choose another network or "
               "interface, or a suffix of node names (addr=-ib)",
               &asked->wish, s->node, tried, found, &asked->outcome);
}

/* A silent name server costs at least 5 s by default. */
enum { SLOW_MS = 3000 };

/* If packets are dropped; a port without a listener refuses at once. */
enum { REACH_MS = 1000 };

static void find_way(struct search *s)
{
    int error = s->asked->port ? rc_port_reach(&s->at, (uint16_t)s->asked->port, REACH_MS) : 0;

    if (error) {
        struct rc_str first = address_text(s, &s->at.list[0]);

        s->found->unreached = rc_str(rc_format(s->arena, "%pS: %s", &first, rc_port_reach_words(error)));
    }
}

static void begin(struct search *s)
{
    *s->found = (struct rc_lookup){ .state = RC_LOOKUP_FOUND };
    s->wrong.arena = s->arena;
    rc_node_name(s->node);
}

static void end(struct search *s)
{
    struct rc_lookup *lookup = s->found;

    if (!s->wrong.has_error) {
        find_way(s);
        return;
    }
    lookup->state = RC_LOOKUP_WRONG;
    lookup->id = s->wrong.count ? s->wrong.list[0].id : RC410;
    lookup->text = s->wrong.count ? rc_str(s->wrong.list[0].text)
                                  : RC_STR("the address of rank 0's node was not found, and the names are too long "
                                           "to say more");
}

void rc_lookup_find(const struct rc_lookup_question *asked, struct rc_lookup *lookup, struct rc_arena *arena)
{
    struct search s = { .asked = asked, .found = lookup, .arena = arena };
    int64_t start = rc_milliseconds();
    int64_t taken;

    begin(&s);
    if (rc_lookup_needs_address(asked))
        find_in_network(&s);
    else
        find_name(&s);
    taken = rc_milliseconds() - start;
    lookup->seconds = taken < SLOW_MS ? 0 : (uint32_t)(taken / 1000);
    end(&s);
}

/* Read "192.0.2.7,fd00::7". */
static bool read_addresses(struct rc_str list, struct rc_addresses *addresses)
{
    struct rc_netaddr address;

    while (list.p) {
        if (!rc_netaddr_read(rc_str_split(list, ',', &list), &address))
            return false;
        rc_addresses_add(addresses, &address);
    }
    return addresses->count > 0;
}

bool rc_lookup_find_known(const struct rc_lookup_question *asked, char answer[RC_LOOKUP_SIZE])
{
    char text[RC_LOOKUP_SIZE];
    struct rc_arena arena = { .base = text, .size = sizeof(text) };
    struct rc_arena written = { .base = answer, .size = RC_LOOKUP_SIZE };
    struct rc_lookup lookup;
    struct search s = { .asked = asked, .found = &lookup, .arena = &arena };

    if (rc_lookup_needs_address(asked) || (!read_addresses(asked->addr, &s.at) && !read_addresses(asked->leads, &s.at)))
        return false;
    begin(&s);
    check_name(&s);
    end(&s);
    return rc_pairs_write(&rc_lookup_form, &lookup, &written) != NULL;
}

const char *rc_lookup_interfaces(const struct rc_result *result, struct rc_arena *arena)
{
    uint32_t nodes = result->facts.field[RC_NNODES].value;
    struct rc_ifnames names = {
        .family = rc_env_get(&result->env, "NCCL_SOCKET_FAMILY"),
        .has_peers = nodes != RC_UNKNOWN && nodes > 1,
    };

    for (unsigned i = 0; i < RC_IFNAMES; i++)
        names.value[i] = rc_env_find(&result->env, rc_ifnames_variable[i]);
    for (const struct rc_plan_entry *entry = result->plan.entry; entry < result->plan.entry + result->plan.count;
         entry++)
        for (unsigned i = 0; i < RC_IFNAMES && entry->action != RC_KEEP; i++)
            if (rc_str_eq(entry->name, rc_ifnames_variable[i]))
                names.value[i] = RC_ABSENT;
    return result->stamped ? NULL : rc_ifnames_check(&names, arena);
}

bool rc_lookup_is_elsewhere(const struct rc_result *result)
{
    struct rc_addresses addresses = { .count = 0 };

    /* if the resolver cannot answer now, torch retries */
    return rc_resolver_ask(result->master.addr, &addresses) == 0 && are_all(&addresses, rc_netaddr_is_elsewhere);
}
