/* SPDX-License-Identifier: BSD-3-Clause */
#include "resolve/options.h"
#include "resolve/pins.h"
#include "resolve/resolve.h"
#include "resolve/steps.h"

/* The node's network cards, for NCCL, UCX, gloo and tensorpipe:
 *
 *   NCCL_IB_HCA         =mlx5_0,mlx5_1   all of the job's: NCCL chooses, and ranks of a node must see the same
 *   UCX_NET_DEVICES     mlx5_0:1         the task's, with its port; all for a launcher's workers
 *   NCCL_SOCKET_IFNAME  =ib0,ib1         their interfaces, for bootstrap and sockets
 *   GLOO_SOCKET_IFNAME, TP_SOCKET_IFNAME   the first of them
 *
 * From nic=auto; the last three from addr= if it names an interface or network. The user's values stay. */

enum nic_variable { NCCL_CARDS, UCX_CARDS, NCCL_SOCKETS, GLOO_SOCKET, TENSORPIPE_SOCKET };

/* "=" makes names exact for NCCL: mlx5_1 would match mlx5_10 (user guide, "Environment Variables"; nccl
 * src/transport/net_ib.cc, ncclIbInit, and src/misc/socket.cc, ncclFindInterfaces). UCX has "mlx5_0:1" for a port and
 * "eth0" for sockets (openucx.readthedocs.io, FAQ, "Which network devices does UCX use?"). gloo takes a list, one
 * device a name (torch c10d init.cpp), tensorpipe one name (torch rpc tensorpipe_agent.cpp). */
static const struct {
    struct rc_str name;
    const char *reason;
} variables[RC_NIC_VARIABLES] = {
    [NCCL_CARDS] = { RC_NAME("NCCL_IB_HCA"), "the job's cards, by exact name; NCCL takes the one next to each GPU" },
    [UCX_CARDS] = { RC_NAME("UCX_NET_DEVICES"), "the network card next to this task" },
    [NCCL_SOCKETS] = { RC_NAME("NCCL_SOCKET_IFNAME"), "for NCCL, by exact name: none that begins like it" },
    [GLOO_SOCKET] = { RC_NAME("GLOO_SOCKET_IFNAME"), "for gloo" },
    [TENSORPIPE_SOCKET] = { RC_NAME("TP_SOCKET_IFNAME"), "for torch.distributed.rpc" },
};

struct rc_str rc_nicnames_variable(unsigned i)
{
    return variables[i].name;
}

/* NCCL and UCX drive these through verbs, others by libraries that find them: Slingshot (cxi), EFA (efa_0, or rdmap0s6
 * by rdma-core) and Omni-Path (hfi1_0, opap1s0). */
static bool has_verbs(struct rc_str card)
{
    return card.n > 0 && !rc_str_starts(card, "cxi") && !rc_str_starts(card, "efa_") && !rc_str_starts(card, "rdmap") &&
           !rc_str_starts(card, "hfi1_") && !rc_str_starts(card, "opap");
}

static const char *list_cards(struct rc_str cards, const char *before, const char *port, struct rc_arena *arena)
{
    const char *text = rc_format(arena, "%s", before);
    bool is_first = true;

    while (cards.p) {
        struct rc_str card = rc_str_split(cards, ',', &cards);
        struct rc_str own_port;

        if (!has_verbs(card))
            continue;
        rc_str_split(card, ':', &own_port);
        rc_join(arena);
        rc_format(arena, is_first ? "%pS%s" : ",%pS%s", &card, own_port.p ? "" : port);
        is_first = false;
    }
    return is_first ? NULL : text;
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

static void plan_variable(struct rc_result *result, unsigned i, const char *value, const char *source)
{
    struct rc_str name = rc_nicnames_variable(i);
    struct rc_str now = rc_env_find(&result->env, name);
    bool ours = rc_plan_owns(&result->env, name);

    /* show and explain have no pins */
    if (!value && ours && !result->stamp_is_outer) {
        value = rc_copy(&result->arena, now);
        source = RC_OWN;
    }
    if (value && now.n && !ours) {
        rc_plan_keep(result, name, "as the user set it");
    } else if (value) {
        rc_plan_set(result, name, value, source, variables[i].reason);
    } else if (ours) {
        rc_plan_unset(result, name, "left over from a launch further outside");
    }
}

void rc_nicnames_plan(const struct rc_context *context, struct rc_result *result)
{
    const char *interface = context->told.interface;
    const struct rc_pins *pins = context->options.nic == RC_NICS_AUTO ? context->told.pins : NULL;
    bool with_address = context->options.addr_kind == RC_ADDRESS_INTERFACE ||
                        context->options.addr_kind == RC_ADDRESS_NETWORK;
    bool is_worker = result->mode == RC_MODE_WORKER;
    struct rc_pin pin;

    if (pins && !pins->fabric.n && !pins->network.n)
        rc_say(&result->messages, RC932,
               "nic=auto was asked for, but this node shows no network card that could be named; nothing is set "
               "for it; leave it out, or see rollcall map%s",
               rc_options_origin(&context->options, RC_KEY_nic));
    if (!pins && !interface && !rc_env_get(&result->env, RC_OWN).p)
        return;
    if (pins && (!rc_plan_has_room(result, 8 * (pins->fabric.n + pins->network.n)) ||
                 (is_worker && !rc_pins_at(pins, context->told.pin, &pin))))
        pins = NULL;
    for (unsigned i = 0; i < RC_NIC_VARIABLES; i++) {
        const char *source = "the node's network cards (nic=auto)";
        const char *value = NULL;

        if (pins && (i < NCCL_SOCKETS || !with_address))
            value = rc_nicnames_value(i, pins, is_worker ? &pin : NULL, &result->arena);
        if (!value && i >= NCCL_SOCKETS && interface) {
            value = rc_format(&result->arena, "%s%s", i == NCCL_SOCKETS ? "=" : "", interface);
            source = result->master.addr_source;
        }
        plan_variable(result, i, value, source);
    }
}
