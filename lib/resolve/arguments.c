/* SPDX-License-Identifier: BSD-3-Clause */
#include "resolve/arguments.h"

#include "base/netaddr.h"
#include "launcher/hostlist.h"

/* "2" or "1:4", elastic's least and most */
static void read_nnodes(struct rc_str given, struct rc_arguments *arguments)
{
    struct rc_str rest;
    uint32_t least;
    uint32_t most;

    arguments->least = arguments->most = RC_UNKNOWN;
    if (!rc_parse_u32(rc_str_split(given, ':', &rest), RC_MAX_TASKS, &least))
        return;
    most = least;
    if (rest.p && !rc_parse_u32(rest, RC_MAX_TASKS, &most))
        return;
    arguments->least = least;
    arguments->most = most;
}

/* Nothing is known of a word that a shell has yet to expand. */
static bool is_expanded_later(struct rc_str word)
{
    for (size_t i = 0; i < word.n; i++)
        if (word.p[i] == '$' || word.p[i] == '`')
            return true;
    return false;
}

/* An IPv6 address stands in brackets. */
static bool is_host(struct rc_str host, struct rc_str addr)
{
    if (host.n > 1 && host.p[0] == '[' && host.p[host.n - 1] == ']')
        host = (struct rc_str){ host.p + 1, host.n - 2 };
    return rc_str_eq(host, addr);
}

/* Whether this is the host that rollcall names, with or without a port, as torch reads it
 * (rendezvous/utils.py, parse_rendezvous_endpoint). */
static bool is_master(const struct rc_result *result, struct rc_str endpoint)
{
    struct rc_str addr = rc_str(result->master.addr);
    struct rc_str port;

    return addr.n && (is_host(endpoint, addr) || is_host(rc_str_split_last(endpoint, ':', &port), addr));
}

static bool endpoint_is_elsewhere(const struct rc_result *result, struct rc_str backend, struct rc_str endpoint)
{
    bool is_torchs_own = !backend.n || is_expanded_later(backend) || rc_str_is(backend, "static") ||
                         rc_str_is(backend, "c10d");

    return !is_torchs_own || (endpoint.n && !is_expanded_later(endpoint) && !is_master(result, endpoint));
}

/* Each step of such a launch names where all of them meet, or its own place among them. */
static bool is_part_of_more(const struct rc_result *result, struct rc_str endpoint, uint32_t most)
{
    const struct rc_command_options *given = &result->command.given;
    uint32_t nnodes = result->identity.field[RC_NNODES];

    if (!given->nnodes.p || (!given->node_rank.p && !endpoint.n && !given->master_addr.p))
        return false;
    return most == RC_UNKNOWN ? nnodes == 1 : most > nnodes;
}

void rc_arguments_read(struct rc_result *result, struct rc_arguments *arguments)
{
    const struct rc_command_options *given = &result->command.given;
    struct rc_str backend = given->backend.p ? given->backend : rc_env_get(&result->env, "PET_RDZV_BACKEND");
    struct rc_str endpoint = given->endpoint.p ? given->endpoint : rc_env_get(&result->env, "PET_RDZV_ENDPOINT");
    bool is_one;

    read_nnodes(given->nnodes, arguments);
    /* with --num_machines=1 accelerate leaves the number to PET_NNODES */
    is_one = result->command.torchrun && arguments->most == 1 && result->identity.field[RC_NNODES] > 1;
    arguments->alone = given->standalone || is_one;
    arguments->has_no_rank = backend.n && !is_expanded_later(backend) && !rc_str_is(backend, "static");
    arguments->meets_elsewhere = endpoint_is_elsewhere(result, backend, endpoint);
    arguments->is_part = is_part_of_more(result, endpoint, arguments->most);
}

static void warn_argument(struct rc_result *result, const char *option, struct rc_str given, const char *contradiction,
                          const char *right, const char *cure)
{
    rc_message_add(&result->messages, RC304,
                   rc_format(&result->arena, "%s was given %s=%q, but %s%s; the argument wins; %s",
                             result->command.torchrun ? "torchrun" : "accelerate", option, &given, contradiction, right,
                             cure));
}

static const char *number(struct rc_result *result, uint32_t value)
{
    return rc_format_number(&result->arena, value);
}

static void check_node_rank(struct rc_result *result, const struct rc_arguments *arguments, const char *option,
                            const char *cure)
{
    const struct rc_command_options *given = &result->command.given;
    uint32_t nnodes = result->identity.field[RC_NNODES];
    uint32_t node_rank = result->identity.field[RC_NODE_RANK];
    uint32_t rank;

    if (arguments->has_no_rank || !rc_parse_u32(given->node_rank, RC_MAX_TASKS, &rank))
        return;
    /* srun's words are the same everywhere: right on one node, wrong on the
     * others, and they would wait for each other without a word (measured) */
    if (result->command.same_on_all_nodes && nnodes > 1)
        warn_argument(result, option, given->node_rank, "it is the same on all nodes of this step, which are ",
                      number(result, nnodes), cure);
    else if (!arguments->is_part && rank != node_rank)
        warn_argument(result, option, given->node_rank, "the node rank in this step is ", number(result, node_rank),
                      cure);
}

static void check_torchrun(struct rc_result *result, const struct rc_arguments *arguments)
{
    const struct rc_command_options *given = &result->command.given;
    uint32_t nnodes = result->identity.field[RC_NNODES];

    if (!arguments->is_part && arguments->most != RC_UNKNOWN && (nnodes < arguments->least || arguments->most < nnodes))
        warn_argument(result, "--nnodes", given->nnodes, "the number of nodes in this step is ", number(result, nnodes),
                      "leave it out");
    check_node_rank(result, arguments, "--node_rank", "leave it out");
}

/* Whether a host is this node alone, or a node of the step that is not RANK 0's. */
static bool is_wrong_host(const struct rc_result *result, struct rc_str host)
{
    const struct rc_facts *facts = &result->facts;
    uint32_t index = facts->hosts.p ? rc_hostlist_find(facts->hosts, host) : RC_UNKNOWN;

    return rc_host_is_loopback(host) || (facts->master_certain && index != RC_UNKNOWN && index != facts->master_node);
}

/* Only --num_machines of more than 1 makes accelerate take its own numbers; then it
 * ends without a machine rank, and counts the processes of all machines. */
static void check_accelerate(struct rc_result *result, const struct rc_arguments *arguments)
{
    static const char cure[] = "leave --num_machines, --num_processes, --machine_rank and --main_process_ip out";
    const struct rc_command_options *given = &result->command.given;
    uint32_t nnodes = result->identity.field[RC_NNODES];
    uint32_t machines = arguments->least;
    uint32_t processes;

    if (machines == RC_UNKNOWN || machines < 2)
        return;
    if (machines != nnodes && !arguments->is_part) {
        warn_argument(result, "--num_machines", given->nnodes, "the number of nodes in this step is ",
                      number(result, nnodes), "give that number");
        return;
    }
    if (!given->node_rank.p)
        warn_argument(result, "--num_machines", given->nnodes, "no --machine_rank, without which it does not start", "",
                      cure);
    check_node_rank(result, arguments, "--machine_rank", cure);
    if (!arguments->is_part && is_wrong_host(result, given->master_addr))
        warn_argument(result, "--main_process_ip", given->master_addr, "machine 0 is ", result->master.addr, cure);
    if (rc_parse_u32(given->processes, RC_MAX_TASKS, &processes) && processes % machines != 0)
        warn_argument(result, "--num_processes", given->processes, "it counts those of all machines, which are ",
                      number(result, machines), "give a multiple");
}

void rc_arguments_check(struct rc_result *result, const struct rc_arguments *arguments)
{
    uint32_t nnodes = result->identity.field[RC_NNODES];

    if (result->command.given.standalone && nnodes > 1)
        rc_message_add(&result->messages, RC305,
                       rc_format(&result->arena,
                                 "torchrun --standalone trains on each of the %u nodes by itself; it is left so; "
                                 "leave it out to train on all together",
                                 nnodes));
    else if (result->command.torchrun && !result->command.given.standalone)
        check_torchrun(result, arguments);
    else if (result->command.accelerate)
        check_accelerate(result, arguments);
}
