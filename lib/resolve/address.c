/* SPDX-License-Identifier: BSD-3-Clause */
#include "resolve/address.h"

#include "base/netaddr.h"
#include "launcher/hosts.h"
#include "resolve/steps.h"

/* The kernel's rule for an interface's name (dev_valid_name): shorter than IFNAMSIZ,
 * without '/', ':' and blanks. */
enum { INTERFACE_MAX = 15 };

static const char *check_suffix(struct rc_str value)
{
    char last = value.p[value.n - 1];

    if (value.n > RC_HOST_MAX)
        return "longer than a host name";
    for (size_t i = 0; i < value.n; i++)
        if (!rc_is_in_name(value.p[i]) || (i > 0 && value.p[i] == '.' && value.p[i - 1] == '.'))
            return "not the end of a host name";
    return last == '-' || last == '.' ? "not the end of a host name" : NULL;
}

static const char *check_network(struct rc_str value)
{
    struct rc_network network;

    if (!rc_network_read(value, &network))
        return "not a network";
    return rc_netaddr_is_loopback(&network.address) ? "loopback, by which no node reaches another" : NULL;
}

static const char *check_interface(struct rc_str value)
{
    struct rc_netaddr address;

    if (rc_netaddr_read(value, &address))
        return "an address; a network has its length behind it";
    if (rc_str_is(value, "lo"))
        return "loopback, by which no node reaches another";
    for (size_t i = 0; i < value.n; i++)
        if (value.p[i] <= ' ' || value.p[i] >= 0x7f || value.p[i] == ':')
            return "not the name of an interface";
    return value.n > INTERFACE_MAX ? "longer than the name of an interface" : NULL;
}

const char *rc_address_read(struct rc_str value, enum rc_address_kind *kind)
{
    const char *wrong;
    bool network = false;

    if (value.n == 0)
        return "empty";
    if (rc_str_is(value, "given")) {
        *kind = RC_ADDRESS_GIVEN;
        return NULL;
    }
    for (size_t i = 0; i < value.n; i++)
        network = network || value.p[i] == '/';
    if (network) {
        *kind = RC_ADDRESS_NETWORK;
        wrong = check_network(value);
    } else if (value.p[0] == '-' || value.p[0] == '.') {
        *kind = RC_ADDRESS_SUFFIX;
        wrong = check_suffix(value);
    } else {
        *kind = RC_ADDRESS_INTERFACE;
        wrong = check_interface(value);
    }
    return wrong;
}

const char *rc_address_with_suffix(struct rc_str host, struct rc_str suffix, struct rc_arena *arena)
{
    struct rc_netaddr address;
    struct rc_str domain;
    struct rc_str label = rc_str_split(host, '.', &domain);
    bool with_domain = false;
    size_t length;

    for (size_t i = 0; i < suffix.n; i++)
        with_domain = with_domain || suffix.p[i] == '.';
    with_domain = with_domain || !domain.p;
    length = label.n + suffix.n + (with_domain ? 0 : 1 + domain.n);
    if (label.n == 0 || length > RC_HOST_MAX || rc_netaddr_read(host, &address))
        return NULL;
    return with_domain ? rc_format(arena, "%pS%pS", &label, &suffix)
                       : rc_format(arena, "%pS%pS.%pS", &label, &suffix, &domain);
}

/* "ib0" is a prefix for NCCL, which also takes ib0.8001 and ib01 then; "=" makes
 * it exact (nccl src/misc/socket.cc, ncclFindInterfaces). gloo wants a name or a
 * list of names, each of them one more device (torch c10d init.cpp); tensorpipe
 * a name (torch rpc tensorpipe_agent.cpp). */
static const struct {
    struct rc_name name;
    char before[2];
    char reason[72];
} interface_names[] = {
    { RC_NAME("GLOO_SOCKET_IFNAME"), "", "the interface of addr=, for gloo" },
    { RC_NAME("NCCL_SOCKET_IFNAME"), "=", "the interface of addr=, for NCCL: this one, none that begins like it" },
    { RC_NAME("TP_SOCKET_IFNAME"), "", "the interface of addr=, for torch.distributed.rpc" },
};

enum { INTERFACE_NAMES = sizeof(interface_names) / sizeof(*interface_names) };

static bool is_own(const struct rc_result *result, unsigned i, struct rc_str now)
{
    struct rc_str own = rc_env_get(&result->env, RC_OWN_INTERFACE);
    size_t before = rc_str(interface_names[i].before).n;

    return own.n && now.n == before + own.n && rc_str_starts(now, interface_names[i].before) &&
           rc_str_eq((struct rc_str){ now.p + before, now.n - before }, own);
}

bool rc_address_is_own(const struct rc_result *result, struct rc_str name, struct rc_str now)
{
    for (unsigned i = 0; i < INTERFACE_NAMES; i++)
        if (rc_str_eq(rc_name(&interface_names[i].name), name))
            return is_own(result, i, now);
    return false;
}

static void set_interface(struct rc_result *result, const char *interface, const char *source)
{
    for (unsigned i = 0; i < INTERFACE_NAMES; i++) {
        struct rc_str name = rc_name(&interface_names[i].name);
        struct rc_str now = rc_env_find(&result->env, name);

        if (now.n && !is_own(result, i, now) && !rc_own_nics_have(result, name, now))
            rc_plan_keep(result, name, "as the user set it");
        else
            rc_plan_set(result, name, rc_format(&result->arena, "%s%s", interface_names[i].before, interface), source,
                        interface_names[i].reason);
    }
    rc_plan_set(result, RC_STR(RC_OWN_INTERFACE), interface, source,
                "tells a later rollcall which of these are its own");
}

/* Returns a variable's value with the address that was found, or NULL for a variable that
 * has no address in it. */
static const char *settled_value(struct rc_result *result, struct rc_str name)
{
    if (rc_str_is(name, "MASTER_ADDR") || rc_str_is(name, "PET_MASTER_ADDR"))
        return result->master.addr;
    if (rc_str_is(name, RC_AGENTS_ENDPOINT))
        return rc_master_endpoint(result, result->master.port);
    return rc_framework_value(result, name);
}

void rc_address_settle(struct rc_result *result, const char *addr, const char *source, const char *interface)
{
    struct rc_plan *plan = &result->plan;

    result->master.addr = rc_format(&result->arena, "%s", addr);
    result->master.addr_source = source;
    for (unsigned i = 0; i < plan->count; i++) {
        struct rc_plan_entry *entry = &plan->entry[i];
        const char *value = entry->action == RC_SET ? settled_value(result, entry->name) : NULL;

        if (!value || rc_str_is(rc_str(entry->value), value))
            continue;
        entry->value = value;
        entry->source = source;
        entry->changes = !rc_str_is(rc_env_find(&result->env, entry->name), value);
    }
    if (interface)
        set_interface(result, rc_format(&result->arena, "%s", interface), source);
    else if (result->stamp_is_outer)
        rc_address_forget(result);
}

/* Keeps what has been planned since for the cards of this node (nics.c). */
static void forget_interface(struct rc_result *result, struct rc_str name)
{
    if (!rc_plan_find(&result->plan, name))
        rc_plan_unset(result, name, "set by an outer rollcall for its own addr=");
}

void rc_address_forget(struct rc_result *result)
{
    if (!rc_env_get(&result->env, RC_OWN_INTERFACE).p)
        return;
    for (unsigned i = 0; i < INTERFACE_NAMES; i++)
        if (is_own(result, i, rc_env_find_name(&result->env, &interface_names[i].name)))
            forget_interface(result, rc_name(&interface_names[i].name));
    forget_interface(result, RC_STR(RC_OWN_INTERFACE));
}
