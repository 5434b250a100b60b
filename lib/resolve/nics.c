/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/pairs.h"
#include "resolve/pins.h"
#include "resolve/resolve.h"
#include "resolve/steps.h"

/* RC_NICS_OWN: which network variables nic=auto has set, and to what, as "NAME=VALUE NAME=VALUE ...". */

static bool is_of_cards(const struct rc_result *result, struct rc_str name, struct rc_str now)
{
    struct rc_str own = rc_env_get(&result->env, RC_NICS_OWN);
    struct rc_str key;
    struct rc_str value;

    while (rc_pair_next(&own, ' ', &key, &value)) {
        if (rc_str_eq(key, name))
            return value.p && rc_str_eq(value, now);
    }
    return false;
}

/* Returns the list `own` ("" for an empty one) with one more variable. The text is in the arena. */
static const char *own_nics_add(const char *own, struct rc_str name, const char *value, struct rc_arena *arena)
{
    return rc_format(arena, "%s%s%pS=%s", own, *own ? " " : "", &name, value);
}

/* The node's network cards as NCCL, UCX, gloo and tensorpipe want to be told of them.
 *
 *   NCCL_IB_HCA         =mlx5_0,mlx5_1   all of the job's cards: NCCL takes the one next to each GPU
 *                                        by itself, and ranks of a node that see different ones disagree
 *   UCX_NET_DEVICES     mlx5_0:1         the task's own, with its port; for a launcher's workers, all
 *   NCCL_SOCKET_IFNAME  =ib0,ib1         the interfaces of these cards, for NCCL's bootstrap and sockets
 *   GLOO_SOCKET_IFNAME, TP_SOCKET_IFNAME   the first of them, the same in all tasks of the node
 *
 * Set with nic=auto alone, and only where the user has set nothing. The socket
 * names are addr='s, where that is an interface or a network. */

enum nic_variable { NCCL_CARDS, UCX_CARDS, NCCL_SOCKETS, GLOO_SOCKET, TENSORPIPE_SOCKET };

/* "=" makes names exact for NCCL: mlx5_1 alone means mlx5_10 as well (user guide, "Environment
 * Variables"; nccl src/transport/net_ib.cc, ncclIbInit, and src/misc/socket.cc, ncclFindInterfaces).
 * UCX has "mlx5_0:1" for a port and "eth0" for sockets (openucx.readthedocs.io, FAQ, "Which network
 * devices does UCX use?"). The last two: below. */
static const struct {
    struct rc_name name;
    char reason[72];
} variables[RC_NIC_VARIABLES] = {
    [NCCL_CARDS] = { RC_NAME("NCCL_IB_HCA"), "the job's cards, by exact name; NCCL takes the one next to each GPU" },
    [UCX_CARDS] = { RC_NAME("UCX_NET_DEVICES"), "the network card next to this task" },
    [NCCL_SOCKETS] = { RC_NAME("NCCL_SOCKET_IFNAME"), "the interfaces of the job's cards, by exact name" },
    [GLOO_SOCKET] = { RC_NAME("GLOO_SOCKET_IFNAME"), "the interface of the job's first card, for gloo" },
    [TENSORPIPE_SOCKET] = { RC_NAME("TP_SOCKET_IFNAME"),
                            "the interface of the job's first card, for torch.distributed.rpc" },
};

struct rc_str rc_nicnames_variable(unsigned i)
{
    return rc_name(&variables[i].name);
}

/* Cards that NCCL and UCX drive through verbs. The others have libraries of
 * their own, which find them by themselves: Slingshot (cxi), EFA (efa_0, or
 * rdmap0s6 as rdma-core renames it) and Omni-Path (hfi1_0, opap1s0). */
static bool has_verbs(struct rc_str card)
{
    return card.n > 0 && !rc_str_starts(card, "cxi") && !rc_str_starts(card, "efa_") && !rc_str_starts(card, "rdmap") &&
           !rc_str_starts(card, "hfi1_") && !rc_str_starts(card, "opap");
}

static bool has_port(struct rc_str card)
{
    struct rc_str port;

    rc_str_split(card, ':', &port);
    return port.p != NULL;
}

static const char *list_cards(struct rc_str cards, const char *before, const char *port, struct rc_arena *arena)
{
    const char *text = NULL;

    while (cards.p) {
        struct rc_str card = rc_str_split(cards, ',', &cards);

        if (!has_verbs(card))
            continue;
        if (text)
            rc_join(arena);
        if (text)
            rc_format(arena, ",%pS%s", &card, has_port(card) ? "" : port);
        else
            text = rc_format(arena, "%s%pS%s", before, &card, has_port(card) ? "" : port);
    }
    return text;
}

static const char *ucx_devices(const struct rc_pins *pins, const struct rc_pin *pin, struct rc_arena *arena)
{
    struct rc_str cards = pin ? pin->fabric : pins->fabric;
    struct rc_str interfaces = pin ? pin->network : pins->network;

    if (cards.n)
        return list_cards(cards, "", ":1", arena);
    return interfaces.n && !pins->fabric.n ? rc_copy(arena, interfaces) : NULL;
}

const char *rc_nicnames_value(unsigned i, const struct rc_pins *pins, const struct rc_pin *pin, struct rc_arena *arena)
{
    struct rc_str others;
    struct rc_str first = rc_str_split(pins->network, ',', &others);

    switch ((enum nic_variable)i) {
    case NCCL_CARDS:
        return pins->fabric.n ? list_cards(pins->fabric, "=", "", arena) : NULL;
    case UCX_CARDS:
        return ucx_devices(pins, pin, arena);
    case NCCL_SOCKETS:
        return first.n ? rc_format(arena, "=%pS", &pins->network) : NULL;
    case GLOO_SOCKET:
    case TENSORPIPE_SOCKET:
        return first.n ? rc_copy(arena, first) : NULL;
    }
    return NULL;
}

/* addr=: gloo, NCCL and tensorpipe are told to use the interface towards the address that was found.
 *
 * "ib0" is a prefix for NCCL, which also takes ib0.8001 and ib01 then; "=" makes
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

/* Whether a variable's value is one that a rollcall further outside has set for its interface. */
static bool is_of_interface(const struct rc_result *result, struct rc_str name, struct rc_str now)
{
    struct rc_str own = rc_env_get(&result->env, RC_OWN_INTERFACE);

    for (unsigned i = 0; i < INTERFACE_NAMES; i++) {
        size_t before = rc_str(interface_names[i].before).n;

        if (rc_str_eq(rc_name(&interface_names[i].name), name))
            return own.n && now.n == before + own.n && rc_str_starts(now, interface_names[i].before) &&
                   rc_str_eq((struct rc_str){ now.p + before, now.n - before }, own);
    }
    return false;
}

static void set_interface(struct rc_result *result, const char *interface)
{
    const char *source = result->master.addr_source;

    for (unsigned i = 0; i < INTERFACE_NAMES; i++) {
        struct rc_str name = rc_name(&interface_names[i].name);
        struct rc_str now = rc_env_find(&result->env, name);

        if (now.n && !is_of_interface(result, name, now) && !is_of_cards(result, name, now))
            rc_plan_keep(result, name, "as the user set it");
        else
            rc_plan_set(result, name, rc_format(&result->arena, "%s%s", interface_names[i].before, interface), source,
                        interface_names[i].reason);
    }
    rc_plan_set(result, RC_STR(RC_OWN_INTERFACE), interface, source,
                "tells a later rollcall which of these are its own");
}

void rc_interface_forget(struct rc_result *result)
{
    static const char outer[] = "set by an outer rollcall for its own addr=";

    if (!rc_env_get(&result->env, RC_OWN_INTERFACE).p)
        return;
    for (unsigned i = 0; i < INTERFACE_NAMES; i++) {
        struct rc_str name = rc_name(&interface_names[i].name);

        if (is_of_interface(result, name, rc_env_find(&result->env, name)))
            rc_plan_unset(result, name, outer);
    }
    rc_plan_unset(result, RC_STR(RC_OWN_INTERFACE), outer);
}

void rc_interface_plan(const struct rc_context *context, struct rc_result *result)
{
    const struct rc_told *told = &context->told;

    if (*told->interface)
        set_interface(result, rc_format(&result->arena, "%s", told->interface));
    else if (result->stamp_is_outer && (*told->addr || result->master.kind == RC_ADDRESS_DEFAULT))
        rc_interface_forget(result);
}

static const char cards[] = "the node's network cards (nic=auto)"; /* the source that explain names */

/* Keeps a value that the user has set. One that an outer rollcall set is taken away. */
static void leave_variable(struct rc_result *result, unsigned i, struct rc_str now)
{
    struct rc_str name = rc_name(&variables[i].name);
    /* addr= has set it */
    const struct rc_plan_entry *planned = rc_plan_find(&result->plan, name);

    if (!is_of_cards(result, name, now) || (planned && planned->action == RC_SET))
        return;
    /* show and explain know of no cards in the very task that the variable was set for */
    if (!result->stamp_is_outer)
        rc_plan_set(result, name, rc_copy(&result->arena, now), cards, variables[i].reason);
    else
        rc_plan_unset(result, name, "left over from a launch further outside");
}

static void say_cards(const struct rc_context *context, struct rc_result *result)
{
    if (!context->told.pins && context->explain)
        rc_say(
            &result->messages, RC931,
            "nic=auto chooses network cards on each node, when its tasks start; rollcall map, run there, shows which");
    else if (context->told.pins && !context->told.pins->fabric.n && !context->told.pins->network.n)
        rc_say(&result->messages, RC932,
               "nic=auto was asked for, but this node shows no network card that could be named; nothing is set "
               "for it; leave it out, or see rollcall map");
}

static void plan_variable(const struct rc_context *context, struct rc_result *result, const struct rc_pin *pin,
                          unsigned i, const char **own)
{
    struct rc_str name = rc_name(&variables[i].name);
    struct rc_str now = rc_env_find(&result->env, name);
    const char *value = rc_nicnames_value(i, context->told.pins, pin, &result->arena);

    if (!value)
        return leave_variable(result, i, now);
    if (now.n && !is_of_cards(result, name, now) && !is_of_interface(result, name, now)) {
        rc_plan_keep(result, name, "as the user set it");
        return;
    }
    rc_plan_set(result, name, value, cards, variables[i].reason);
    *own = own_nics_add(*own, name, value, &result->arena);
}

/* Checks the room first: a plan that is full sets nothing at all, and a card is no reason
 * for that. */
static bool has_room(const struct rc_result *result, const struct rc_pins *pins)
{
    /* each value, and once more in the list of our own ones, of which each longer copy
     * needs room */
    size_t bytes = 16 * (pins->fabric.n + pins->network.n) + 2048;

    return result->plan.count + RC_NIC_VARIABLES + 4 <= RC_PLAN_MAX && result->arena.used + bytes <= result->arena.size;
}

void rc_nicnames_plan(const struct rc_context *context, struct rc_result *result)
{
    const struct rc_pins *pins = context->options.nic == RC_NICS_AUTO ? context->told.pins : NULL;
    bool with_address = context->options.addr_kind == RC_ADDRESS_INTERFACE ||
                        context->options.addr_kind == RC_ADDRESS_NETWORK;
    struct rc_str before = rc_env_get(&result->env, RC_NICS_OWN);
    const char *own = "";
    struct rc_pin pin;
    bool worker;

    if (context->options.nic == RC_NICS_AUTO)
        say_cards(context, result);
    if (!pins && !before.p)
        return;
    worker = pins && result->mode == RC_MODE_WORKER;
    if (pins && (!has_room(result, pins) || (worker && !rc_pins_at(pins, context->told.pin, &pin))))
        pins = NULL;
    for (unsigned i = 0; i < RC_NIC_VARIABLES; i++) {
        if (pins && (i < NCCL_SOCKETS || !with_address))
            plan_variable(context, result, worker ? &pin : NULL, i, &own);
        else
            leave_variable(result, i, rc_env_find(&result->env, rc_name(&variables[i].name)));
    }
    if (*own)
        rc_plan_set(result, RC_STR(RC_NICS_OWN), own, cards, "tells a later rollcall which of these are its own");
    else if (before.p && result->stamp_is_outer)
        rc_plan_unset(result, RC_STR(RC_NICS_OWN), "left over from a launch further outside");
}
