/* SPDX-License-Identifier: BSD-3-Clause */
#include "effects/lookup.h"

#include <string.h>
#include <unistd.h>

#include "effects/lookupnetwork.h"
#include "effects/rank0.h"
#include "system/clock.h"
#include "system/interfaces.h"
#include "system/resolver.h"

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
        rc_lookup_copy(node, RC_HOST_MAX + 1, "this node");
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
        rc_lookup_network(result, &place, lookup);
    else
        rc_lookup_name(result, &place, lookup);
    taken = rc_milliseconds() - start;
    lookup->seconds = taken < SLOW_MS ? 0 : (uint32_t)(taken / 1000);
}

void rc_lookup_warn(const struct rc_master *master, const struct rc_lookup *lookup, struct rc_messages *messages,
                    struct rc_arena *arena)
{
    char node[RC_HOST_MAX + 1] = "";

    name_node(node);
    if (lookup->seconds)
        rc_message_add(
            messages, RC418,
            rc_format(
                arena,
                "the resolver of %s took %u s for MASTER_ADDR %s (%s); its tasks start that much later; take name "
                "servers that do not answer out of /etc/resolv.conf, or put the name into /etc/hosts",
                node, lookup->seconds, master->addr, master->addr_source));
    if (*lookup->strange)
        rc_message_add(
            messages, RC421,
            rc_format(
                arena,
                "%s resolves MASTER_ADDR %s (%s) to %s, but rank 0's node has %s; the tasks start; if those of %s "
                "wait for rank 0 in vain, correct that name in its /etc/hosts or in DNS",
                node, master->addr, master->addr_source, lookup->strange, master->own, node));
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
        rc_message_add(&result->messages, RC419,
                       rc_format(&result->arena,
                                 "localhost does not resolve on this node, which has all tasks: MASTER_ADDR is %s; see "
                                 "that its /etc/hosts can be read and names localhost",
                                 addr));
    else
        rc_message_add(&result->messages, RC414,
                       rc_format(&result->arena,
                                 "%s does not resolve, but all tasks are on this node: MASTER_ADDR is %s", name, addr));
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
        rc_lookup_warn(&result->master, &lookup, &result->messages, &result->arena);
    return rc_lookup_apply(result, &lookup);
}

bool rc_lookup_are_elsewhere(const struct rc_addresses *addresses)
{
    for (unsigned i = 0; i < addresses->count; i++)
        if (!rc_netaddr_is_elsewhere(&addresses->list[i]))
            return false;
    return true;
}

bool rc_lookup_is_elsewhere(const struct rc_result *result)
{
    struct rc_addresses addresses = { .count = 0 };

    /* the resolver cannot answer now; torch will ask again */
    return rc_resolver_ask(result->master.addr, &addresses) == 0 && rc_lookup_are_elsewhere(&addresses);
}
