/* SPDX-License-Identifier: BSD-3-Clause */
/* What nic=auto tells NCCL, UCX, gloo and tensorpipe of a node's network cards. */
#include "resolve/options.h"
#include "resolve/pins.h"
#include "resolve/resolve.h"
#include "resolve/steps.h"
#include "unit.h"

/* The values of all five, "-" where there is nothing to say. */
static void show(const struct rc_pins *pins, const struct rc_pin *pin, char *text, size_t size)
{
    char room[512];
    size_t at = 0;

    for (unsigned i = 0; i < RC_NIC_VARIABLES; i++) {
        struct rc_arena arena = { .base = room, .size = sizeof(room) };
        const char *value = rc_nicnames_value(i, pins, pin, &arena);

        at += (size_t)snprintf(text + at, size - at, "%s%s", i ? " " : "", value ? value : "-");
    }
}

static const struct {
    struct rc_str input;
    const char *task; /* of local rank 0 */
    const char *launcher;
    const char *why;
} values[] = {
    { TEXT("node fabric=mlx5_0,mlx5_1 network=ib0,ib1\npin cpus=0 cores=1 fabric=mlx5_1 network=ib1\n"),
      "=mlx5_0,mlx5_1 mlx5_1:1 =ib0,ib1 ib0 ib0", "=mlx5_0,mlx5_1 mlx5_0:1,mlx5_1:1 =ib0,ib1 ib0 ib0",
      "two rails: NCCL has both, UCX its own, sockets the same on the node" },
    { TEXT("node fabric=mlx5_0,mlx5_1\npin cpus=0 cores=1 fabric=mlx5_0\n"), "=mlx5_0,mlx5_1 mlx5_0:1 - - -",
      "=mlx5_0,mlx5_1 mlx5_0:1,mlx5_1:1 - - -", "no interface with an address" },
    { TEXT("node fabric=mlx4_0:2\npin cpus=0 cores=1 fabric=mlx4_0:2\n"), "=mlx4_0:2 mlx4_0:2 - - -",
      "=mlx4_0:2 mlx4_0:2 - - -", "a card that is told with its port" },
    { TEXT("node fabric=mlx5_bond_0 network=bond0\npin cpus=0 cores=1 fabric=mlx5_bond_0 network=bond0\n"),
      "=mlx5_bond_0 mlx5_bond_0:1 =bond0 bond0 bond0", "=mlx5_bond_0 mlx5_bond_0:1 =bond0 bond0 bond0", "RoCE" },
    { TEXT("node network=eth0,eth1\npin cpus=0 cores=1 network=eth1\n"), "- eth1 =eth0,eth1 eth0 eth0",
      "- eth0,eth1 =eth0,eth1 eth0 eth0", "Ethernet: UCX and NCCL have sockets alone" },
    { TEXT("node fabric=cxi0,cxi1 network=hsn0,hsn1\npin cpus=0 cores=1 fabric=cxi1 network=hsn1\n"),
      "- - =hsn0,hsn1 hsn0 hsn0", "- - =hsn0,hsn1 hsn0 hsn0", "Slingshot: its own library finds the cards" },
    { TEXT("node fabric=rdmap0s6,efa_1\npin cpus=0 cores=1 fabric=rdmap0s6\n"), "- - - - -", "- - - - -", "EFA" },
    { TEXT("node\npin cpus=0 cores=1\n"), "- - - - -", "- - - - -", "no card at all" },
    { TEXT("node fabric=mlx5_0 network=ib0\npin cpus=0 cores=1\n"), "=mlx5_0 - =ib0 ib0 ib0",
      "=mlx5_0 mlx5_0:1 =ib0 ib0 ib0", "a task without a card of its own" },
};

UNIT_ROWS(gives, "cards give", values)
{
    struct rc_pins pins;
    struct rc_pin pin;
    char text[512];

    assert_true(rc_pins_read(unit_guard(row->input), &pins));
    assert_true(rc_pins_at(&pins, 0, &pin));
    show(&pins, &pin, text, sizeof(text));
    assert_string_equal(text, row->task);
    show(&pins, NULL, text, sizeof(text));
    assert_string_equal(text, row->launcher);
}

#define NODE                                           \
    "node fabric=mlx5_0,mlx5_1 network=ib0\n"          \
    "pin cpus=0-7 cores=8 fabric=mlx5_0 network=ib0\n" \
    "pin cpus=8-11 cores=4 fabric=mlx5_1 network=ib0\n"
#define STALE "ROLLCALL_SCOPE=slurm:1.0/7/worker/29500"
#define OUTER_CARDS                                                          \
    STALE " 'ROLLCALL_OWN=UCX_NET_DEVICES=730006832 NCCL_IB_HCA=893640368' " \
          "UCX_NET_DEVICES=mlx5_7:1 NCCL_IB_HCA==mlx5_8"

struct plan_row {
    struct rc_str input;
    uint32_t pin;
    const char *env;  /* more variables */
    const char *plan; /* what it does with the five, in its order */
    const char *why;
};

#define ALL                                                                                       \
    "set NCCL_IB_HCA==mlx5_0,mlx5_1; set UCX_NET_DEVICES=mlx5_1:1; set NCCL_SOCKET_IFNAME==ib0; " \
    "set GLOO_SOCKET_IFNAME=ib0; set TP_SOCKET_IFNAME=ib0; "

static const struct plan_row plans[] = {
    { TEXT("worker"), 1, "", "", "nothing without nic=auto" },
    { TEXT("worker,nic=off"), 1, "", "", "nor with nic=off" },
    { TEXT("worker,nic=auto"), 1, "", ALL, "a worker" },
    { TEXT("worker,nic=auto"), RC_UNKNOWN, "", "", "a worker of whom nothing is known" },
    { TEXT("launcher,nic=auto"), RC_UNKNOWN, "",
      "set NCCL_IB_HCA==mlx5_0,mlx5_1; set UCX_NET_DEVICES=mlx5_0:1,mlx5_1:1; set NCCL_SOCKET_IFNAME==ib0; "
      "set GLOO_SOCKET_IFNAME=ib0; set TP_SOCKET_IFNAME=ib0; ",
      "torchrun's workers: all cards" },
    { TEXT("worker,nic=auto"), 1, "NCCL_IB_HCA=mlx5 GLOO_SOCKET_IFNAME=eth0",
      "keep NCCL_IB_HCA=mlx5; set UCX_NET_DEVICES=mlx5_1:1; set NCCL_SOCKET_IFNAME==ib0; keep GLOO_SOCKET_IFNAME=eth0; "
      "set TP_SOCKET_IFNAME=ib0; ",
      "the user's own" },
    { TEXT("worker,nic=auto"), 1, "NCCL_IB_HCA=", ALL, "what is empty is not set" },
    { TEXT("worker,nic=auto,addr=eth3"), 1, "", "set NCCL_IB_HCA==mlx5_0,mlx5_1; set UCX_NET_DEVICES=mlx5_1:1; ",
      "addr= has the socket names" },
    { TEXT("worker,nic=auto,addr=-ib"), 1, "", ALL, "a suffix names no interface" },
    { TEXT("worker,nic=auto"), 1, OUTER_CARDS,
      "keep NCCL_IB_HCA==mlx5_8; set UCX_NET_DEVICES=mlx5_1:1; "
      "set NCCL_SOCKET_IFNAME==ib0; set GLOO_SOCKET_IFNAME=ib0; "
      "set TP_SOCKET_IFNAME=ib0; ",
      "an outer launch's is replaced, what the user made of it stays" },
    { TEXT("worker"), 1, OUTER_CARDS, "unset UCX_NET_DEVICES; ", "or taken away" },
    { TEXT("worker,nic=auto"), 1,
      STALE " 'ROLLCALL_OWN=GLOO_SOCKET_IFNAME=734583487 NCCL_SOCKET_IFNAME=2127261916' GLOO_SOCKET_IFNAME=ib7 "
            "NCCL_SOCKET_IFNAME==ib7",
      ALL, "in the place of an outer launch's addr=" },
};

static bool is_of_cards(struct rc_str name)
{
    for (unsigned i = 0; i < RC_NIC_VARIABLES; i++)
        if (rc_str_eq(name, rc_nicnames_variable(i)))
            return true;
    return false;
}

static void describe(const struct rc_result *result, char *text, size_t size)
{
    static const char *const verbs[] = { [RC_SET] = "set", [RC_UNSET] = "unset", [RC_KEEP] = "keep" };
    size_t at = 0;

    *text = '\0';
    for (unsigned i = 0; i < result->plan.count; i++) {
        const struct rc_plan_entry *entry = &result->plan.entry[i];

        if (is_of_cards(entry->name))
            at += (size_t)snprintf(text + at, size - at, "%s %s%s%s; ", verbs[entry->action], entry->name.p,
                                   entry->value ? "=" : "", entry->value ? entry->value : "");
    }
}

static struct rc_result result;

static struct rc_context context;

static void resolve(struct rc_str options, const char *more, const struct rc_pins *pins, uint32_t pin)
{
    static const char *env[32];
    static char text[64];
    struct rc_context made = { .env = env,
                               .slurm_certain = true,
                               .told = { .pins = pins, .pin = pin, .cards_only = true } };
    struct rc_arena arena = { .base = text, .size = sizeof(text) };
    struct rc_messages messages = { .arena = &arena };
    /* a step of two nodes with one task on each */
    static const char task[] = "SLURM_JOB_ID=42 SLURM_STEP_ID=0 SLURM_PROCID=1 SLURM_LOCALID=0 SLURM_NODEID=1 "
                               "SLURM_STEP_NUM_TASKS=2 SLURM_STEP_NUM_NODES=2 SLURM_STEP_TASKS_PER_NODE=1(x2) "
                               "SLURM_STEP_NODELIST=n[1-2].example.org SLURM_GTIDS=1 SLURM_DISTRIBUTION=block ";
    char words[1024];

    snprintf(words, sizeof(words), "%s%s", task, more);
    unit_words(words, env, UNIT_COUNT(env));
    context = made;
    assert_true(rc_options_parse(options, "--ddp", &context.options, &messages));
    assert_int_equal(rc_resolve(&context, &result), RC_RESOLVED);
}

UNIT_ROWS(plans_variables, "cards plan", plans)
{
    struct rc_pins pins;
    char text[1024];

    assert_true(rc_pins_read(RC_STR(NODE), &pins));
    resolve(row->input, row->env, &pins, row->pin);
    describe(&result, text, sizeof(text));
    assert_string_equal(text, row->plan);
}

static void tell_address(const char *interface)
{
    context.told.addr = "10.0.0.1";
    context.told.interface = interface;
    rc_resolve_again(&context, &result);
}

/* addr= finds its address after the plan is made, and then the cards are asked for. */
UNIT_TEST(is_told, "addr= and nic=auto: each socket name once")
{
    static const char outer[] = STALE " 'ROLLCALL_OWN=GLOO_SOCKET_IFNAME=734583487 NCCL_SOCKET_IFNAME=2127261916' "
                                      "GLOO_SOCKET_IFNAME=ib7 NCCL_SOCKET_IFNAME==ib7";
    struct rc_pins pins;
    char text[1024];

    assert_true(rc_pins_read(RC_STR(NODE), &pins));
    resolve(RC_STR("worker,nic=auto,addr=eth3"), outer, NULL, RC_UNKNOWN);
    tell_address("eth3");
    context.told.pins = &pins;
    context.told.pin = 1;
    rc_resolve_again(&context, &result);
    describe(&result, text, sizeof(text));
    assert_string_equal(text, "set NCCL_IB_HCA==mlx5_0,mlx5_1; set UCX_NET_DEVICES=mlx5_1:1; "
                              "set NCCL_SOCKET_IFNAME==eth3; set GLOO_SOCKET_IFNAME=eth3; "
                              "set TP_SOCKET_IFNAME=eth3; ");
    /* a name that resolves to an address of which nobody knows the interface */
    resolve(RC_STR("worker,nic=auto"), outer, &pins, 1);
    tell_address(NULL);
    describe(&result, text, sizeof(text));
    assert_string_equal(text, ALL);
}

/* A node of so many cards that the list does not fit is one without cards, not one without an identity. */
UNIT_TEST(leaves_room, "more cards than there is room for")
{
    static char text[65536];
    struct rc_pins pins;
    char plan[1024];
    size_t at = (size_t)snprintf(text, sizeof(text), "node fabric=mlx5_0");

    while (at < 60000)
        at += (size_t)snprintf(text + at, sizeof(text) - at, ",mlx5_%u", (unsigned)at);
    snprintf(text + at, sizeof(text) - at, "\npin cpus=0 cores=1 fabric=mlx5_0\n");
    assert_true(rc_pins_read(rc_str(text), &pins));
    resolve(RC_STR("worker,nic=auto"), "", &pins, 0);
    describe(&result, plan, sizeof(plan));
    assert_string_equal(plan, "");
}

UNIT_TEST(is_said, "a node without cards is named, where somebody asked for them")
{
    struct rc_pins pins;

    resolve(RC_STR("worker,nic=auto"), "", NULL, 0);
    assert_int_equal(result.messages.count, 0);
    assert_true(rc_pins_read(RC_STR("node\npin cpus=0 cores=1\n"), &pins));
    resolve(RC_STR("worker,nic=auto"), "", &pins, 0);
    assert_int_equal(result.messages.count, 1);
    assert_int_equal(result.messages.list[0].id, RC932);
    resolve(RC_STR("worker"), "", &pins, 0);
    assert_int_equal(result.messages.count, 0);
}
