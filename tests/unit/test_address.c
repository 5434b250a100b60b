/* SPDX-License-Identifier: BSD-3-Clause */
/* addr=: the three kinds, the names that a suffix makes, and what becomes of the plan. */
#include "resolve/options.h"
#include "resolve/resolve.h"
#include "resolve/steps.h"
#include "unit.h"

static const struct {
    struct rc_str input;
    enum rc_address_kind kind;
    const char *why;
} kinds[] = {
    { TEXT("eth0.100"), RC_ADDRESS_INTERFACE, "a VLAN: a dot, but not in front" },
    { TEXT("br-lan"), RC_ADDRESS_INTERFACE, "a dash, but not in front" },
    { TEXT("0123456789abcde"), RC_ADDRESS_INTERFACE, "as long as the kernel allows" },
    { TEXT("given"), RC_ADDRESS_GIVEN, "MASTER_ADDR as the launch was given it" },
    { TEXT("10.1.0.0/16"), RC_ADDRESS_NETWORK, "IPv4" },
    { TEXT("fd00:1::/64"), RC_ADDRESS_NETWORK, "IPv6" },
    { TEXT("-ib"), RC_ADDRESS_SUFFIX, "a dash in front" },
    { TEXT(".hsn"), RC_ADDRESS_SUFFIX, "a dot in front" },
    { TEXT("--x_1"), RC_ADDRESS_SUFFIX, "what a host name may hold" },
};

UNIT_ROWS(knows_kind, "addr= takes", kinds)
{
    enum rc_address_kind kind = RC_ADDRESS_DEFAULT;

    assert_null(rc_address_read(unit_guard(row->input), &kind));
    assert_int_equal(kind, row->kind);
}

static const struct {
    struct rc_str input;
    const char *says;
    const char *why;
} wrong[] = {
    { TEXT(""), "empty", "empty" },
    { TEXT("-"), "not the end of a host name", "only a dash" },
    { TEXT("-ib."), "not the end of a host name", "a trailing dot" },
    { TEXT("-ib..org"), "not the end of a host name", "an empty label" },
    { TEXT("-i b"), "not the end of a host name", "a blank" },
    { TEXT(".\xc3\xa9"), "not the end of a host name", "no ASCII" },
    { TEXT("10.1.0.0/33"), "not a network", "longer than an address" },
    { TEXT("-ib/16"), "not a network", "a suffix with a slash" },
    { TEXT("10.1.0/24"), "not a network", "half an address" },
    { TEXT("127.0.0.0/8"), "loopback", "loopback" },
    { TEXT("::1/128"), "loopback", "loopback of IPv6" },
    { TEXT("lo"), "loopback", "the loopback interface" },
    { TEXT("10.1.0.1"), "an address; a network has its length behind it", "an address" },
    { TEXT("ib 0"), "not the name of an interface", "a blank" },
    { TEXT("ib0:1"), "not the name of an interface", "a label" },
    { TEXT("\xc3\xa9th0"), "not the name of an interface", "no ASCII" },
    { TEXT("0123456789abcdef"), "longer than the name of an interface", "one more than the kernel allows" },
    { TEXT("n1.cluster.example.org"), "longer than the name of an interface", "a host name" },
};

UNIT_ROWS(knows_wrong, "addr= refuses", wrong)
{
    enum rc_address_kind kind;
    const char *says = rc_address_read(unit_guard(row->input), &kind);

    assert_non_null(says);
    assert_int_equal(strncmp(says, row->says, strlen(row->says)), 0);
}

struct suffix_row {
    struct rc_str input; /* the node's name */
    const char *suffix;
    const char *is; /* NULL: cannot be */
    const char *why;
};

#define LABEL_60 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

static const struct suffix_row suffixes[] = {
    { TEXT("n1"), "-ib", "n1-ib", "after a short name" },
    { TEXT("n1.example.org"), "-ib", "n1-ib.example.org", "in front of the domain" },
    { TEXT("n1"), ".hsn", "n1.hsn", "a domain for a short name" },
    { TEXT("n1.example.org"), ".hsn", "n1.hsn", "in place of the domain" },
    { TEXT("n1.example.org"), "-ib.fabric", "n1-ib.fabric", "both in place of the domain" },
    { TEXT("10.77.0.2"), "-ib", NULL, "an address has no suffix" },
    { TEXT(".example.org"), "-ib", NULL, "no label" },
    { TEXT(LABEL_60 "." LABEL_60 "." LABEL_60 "." LABEL_60 ".aaaaaaaa"), "-ib",
      LABEL_60 "-ib." LABEL_60 "." LABEL_60 "." LABEL_60 ".aaaaaaaa", "as long as a name may be" },
    { TEXT(LABEL_60 "." LABEL_60 "." LABEL_60 "." LABEL_60 ".aaaaaaaaa"), "-ib", NULL, "longer than a name may be" },
};

UNIT_ROWS(puts_suffix, "a suffix for", suffixes)
{
    UNIT_ARENA(arena, 512);
    const char *is = rc_address_with_suffix(unit_guard(row->input), rc_str(row->suffix), &arena);

    if (row->is)
        assert_string_equal(is, row->is);
    else
        assert_null(is);
}

/* A task of a step on two nodes, whatever else is in its environment. */
static struct rc_context context;

static void resolve(const char *addr, const char *more, struct rc_result *result)
{
    static const char step[] = "SLURM_JOB_ID=42 SLURM_STEP_ID=0 SLURM_PROCID=3 SLURM_LOCALID=1 SLURM_NODEID=1 "
                               "SLURM_STEP_NUM_TASKS=4 SLURM_STEP_NUM_NODES=2 SLURM_STEP_TASKS_PER_NODE=2(x2) "
                               "SLURM_STEP_NODELIST=n[1-2].example.org SLURM_GTIDS=2,3 SLURM_DISTRIBUTION=block ";
    static const char *env[32];
    static char texts[128]; /* what the options point to, also when the task is resolved again */
    struct rc_arena arena = { .base = texts, .size = sizeof(texts) };
    struct rc_messages messages = { .arena = &arena };
    struct rc_options options;
    char words[1024];

    context = (struct rc_context){ .env = env, .slurm_certain = true };
    snprintf(words, sizeof(words), "%s%s", step, more);
    unit_words(words, env, UNIT_COUNT(env));
    assert_true(rc_options_parse(rc_str(addr), "--ddp", &options, &messages));
    context.options = rc_options_combine(&options, NULL, NULL);
    assert_int_equal(rc_resolve(&context, result), RC_RESOLVED);
}

static const struct rc_plan_entry *entry_of(struct rc_result *result, const char *name)
{
    return rc_plan_find(&result->plan, rc_str(name));
}

static void expect(struct rc_result *result, const char *name, enum rc_action action, const char *value)
{
    const struct rc_plan_entry *entry = entry_of(result, name);

    if (!entry || entry->action != action || (value && strcmp(entry->value, value) != 0))
        fail_msg("%s is %s", name, entry ? entry->value ? entry->value : "without a value" : "not in the plan");
}

static struct rc_result result;

/* What a look-up has found. */
static void tell(const char *addr, const char *interface)
{
    context.told.addr = addr;
    context.told.interface = interface;
    assert_int_equal(rc_resolve_again(&context, &result), RC_RESOLVED);
}

UNIT_TEST(suffix_in_plan, "a suffix is in the plan as it is")
{
    resolve("addr=-ib", "", &result);
    expect(&result, "MASTER_ADDR", RC_SET, "n1-ib.example.org");
    assert_string_equal(result.master.wish, "-ib");
    assert_true(result.master.todo & RC_MASTER_LOOKUP);
    assert_null(entry_of(&result, "GLOO_SOCKET_IFNAME"));
}

UNIT_TEST(interface_in_plan, "what was found takes the name's place, each library's syntax")
{
    resolve("addr=ib0", "", &result);
    expect(&result, "MASTER_ADDR", RC_SET, "n1.example.org");
    tell("10.78.0.2", "ib0");
    expect(&result, "MASTER_ADDR", RC_SET, "10.78.0.2");
    expect(&result, "GLOO_SOCKET_IFNAME", RC_SET, "ib0");
    expect(&result, "NCCL_SOCKET_IFNAME", RC_SET, "=ib0");
    expect(&result, "TP_SOCKET_IFNAME", RC_SET, "ib0");
    assert_string_equal(result.master.addr, "10.78.0.2");
    /* and where a framework's own variable has it */
    assert_int_equal(strncmp(entry_of(&result, "JAX_COORDINATOR_ADDRESS")->value, "10.78.0.2:", 10), 0);
    tell("fd00:77::2", NULL);
    assert_int_equal(strncmp(entry_of(&result, "JAX_COORDINATOR_ADDRESS")->value, "[fd00:77::2]:", 13), 0);
}

UNIT_TEST(user_interface_stays, "the user's own interface stays, an empty one does not")
{
    resolve("addr=ib0", "GLOO_SOCKET_IFNAME=eth1 NCCL_SOCKET_IFNAME=", &result);
    tell("10.78.0.2", "ib0");
    expect(&result, "GLOO_SOCKET_IFNAME", RC_KEEP, "eth1");
    expect(&result, "NCCL_SOCKET_IFNAME", RC_SET, "=ib0");
}

/* What a rollcall further outside set is no wish of the user's. */
UNIT_TEST(own_interface_is_replaced, "an outer rollcall's interface is replaced, or taken away")
{
    static const char outer[] = "ROLLCALL_SCOPE=slurm:41.0/0/worker/29500 "
                                "'ROLLCALL_OWN=GLOO_SOCKET_IFNAME=734582182 NCCL_SOCKET_IFNAME=2127261481' "
                                "GLOO_SOCKET_IFNAME=ib0 NCCL_SOCKET_IFNAME==ib0 TP_SOCKET_IFNAME=mine";

    resolve("addr=eth0", outer, &result);
    tell("10.77.0.2", "eth0");
    expect(&result, "GLOO_SOCKET_IFNAME", RC_SET, "eth0");
    expect(&result, "NCCL_SOCKET_IFNAME", RC_SET, "=eth0");
    expect(&result, "TP_SOCKET_IFNAME", RC_KEEP, "mine");
    resolve("worker", outer, &result);
    expect(&result, "GLOO_SOCKET_IFNAME", RC_UNSET, NULL);
    expect(&result, "NCCL_SOCKET_IFNAME", RC_UNSET, NULL);
    assert_null(entry_of(&result, "TP_SOCKET_IFNAME"));
}

static bool has_message(enum rc_message_id id)
{
    for (unsigned i = 0; i < result.messages.count; i++)
        if (result.messages.list[i].id == id)
            return true;
    return false;
}

UNIT_TEST(users_address_and_addr, "the user's MASTER_ADDR and the user's addr=")
{
    resolve("addr=-ib", "MASTER_ADDR=store.example.org", &result);
    expect(&result, "MASTER_ADDR", RC_SET, "n1-ib.example.org");
    assert_true(has_message(RC412));
    /* the node's name is what scripts set without a thought */
    resolve("addr=-ib", "MASTER_ADDR=n1.example.org", &result);
    expect(&result, "MASTER_ADDR", RC_SET, "n1-ib.example.org");
    assert_false(has_message(RC412));
    resolve("worker", "MASTER_ADDR=store.example.org", &result);
    expect(&result, "MASTER_ADDR", RC_KEEP, "store.example.org");
    assert_true(result.master.todo & RC_MASTER_LOOKUP);
}
