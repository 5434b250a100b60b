/* SPDX-License-Identifier: BSD-3-Clause */
#include "resolve/steps.h"

#include "base/netaddr.h"

/* The arguments of torchrun, as the variables (PET_*) that it takes their defaults from. */

#define RDZV_CONF "PET_RDZV_CONF"

/* Where agents meet; it takes precedence over PET_MASTER_ADDR and PET_MASTER_PORT. */
#define ENDPOINT "PET_RDZV_ENDPOINT"

/* torchrun reads every option's default from PET_<NAME> (argparse_util.py,
 * env): left over from another launch they would start agents inside workers. */
static const struct rc_str torchrun_names[] = {
    RC_NAME("PET_NNODES"),      RC_NAME("PET_NODE_RANK"),    RC_NAME("PET_NPROC_PER_NODE"),
    RC_NAME("PET_MASTER_ADDR"), RC_NAME("PET_MASTER_PORT"),  RC_NAME("PET_RDZV_ID"),
    RC_NAME(RDZV_CONF),         RC_NAME("PET_RDZV_BACKEND"), RC_NAME(ENDPOINT),
    RC_NAME("PET_STANDALONE"),
};

void rc_agents_unset(struct rc_result *result, const char *reason)
{
    RC_PLAN_UNSET(result, torchrun_names, reason);
}

/* Whether the endpoint has the port that this process's stamp says its task was told. */
static bool met_there(const struct rc_result *result)
{
    struct rc_str text;
    uint32_t port;

    rc_str_split_last(rc_env_get(&result->env, ENDPOINT), ':', &text);
    return rc_parse_u32(text, UINT16_MAX, &port) && port == result->stamp.port;
}

/* An outer launch's endpoint goes, and says nothing of this one. */
static bool endpoint_is_left_over(const struct rc_result *result)
{
    return result->stamp_is_outer && met_there(result);
}

void rc_agents_forget(struct rc_result *result, const char *reason)
{
    /* PET_NPROC_PER_NODE may be the user's own */
    static const struct rc_str names[] = { RC_NAME("NODE_RANK"), RC_NAME("PET_NNODES"), RC_NAME("PET_NODE_RANK"),
                                           RC_NAME("PET_RDZV_ID") };

    RC_PLAN_UNSET(result, names, reason);
    if (rc_str_starts(rc_env_get(&result->env, RDZV_CONF), "is_host="))
        rc_plan_unset(result, RC_STR(RDZV_CONF), reason);
    if (met_there(result))
        rc_plan_unset(result, RC_STR(ENDPOINT), reason);
}

/* What torchrun and accelerate were given, beside what rollcall tells them.
 *
 * An argument wins over the PET_* of the environment (torch's argparse_util.py), and accelerate builds torchrun's
 * arguments from its own (utils/launch.py). So what the user names decides what rollcall may add. */
struct arguments {
    bool alone;           /* each node trains by itself: --standalone, or --nnodes=1 in a step of several */
    bool has_no_rank;     /* the backend numbers the nodes itself, and warns of a node rank (torch 2.7 and later) */
    bool meets_elsewhere; /* the endpoint or the backend is one of the user's: who hosts it is not for us to say */
    uint32_t least;       /* nodes, by --nnodes or --num_machines; RC_UNKNOWN: not given, or no number yet */
    uint32_t most;
};

/* "2" or "1:4", elastic's least and most */
static void read_nnodes(struct rc_str given, struct arguments *arguments)
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

/* An IPv6 address is in brackets. */
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
    struct rc_str name = rc_str(result->master.name);
    struct rc_str port;
    struct rc_str host = rc_str_split_last(endpoint, ':', &port);

    return is_host(endpoint, addr) || is_host(host, addr) || is_host(endpoint, name) || is_host(host, name);
}

static bool endpoint_is_elsewhere(const struct rc_result *result, struct rc_str backend, struct rc_str endpoint)
{
    bool is_torchs_own = !backend.n || is_expanded_later(backend) || rc_str_is(backend, "static") ||
                         rc_str_is(backend, "c10d");

    return !is_torchs_own || (endpoint.n && !is_expanded_later(endpoint) && !is_master(result, endpoint));
}

static struct rc_str given_endpoint(const struct rc_result *result)
{
    struct rc_str given = result->command.given.endpoint;

    return given.p || endpoint_is_left_over(result) ? given : rc_env_get(&result->env, ENDPOINT);
}

bool rc_agents_are_part(const struct rc_result *result)
{
    const struct rc_command_options *given = &result->command.given;
    uint32_t nnodes = result->identity.field[RC_NNODES];
    struct arguments arguments;

    if (!given->nnodes.p || (!given->node_rank.p && !given_endpoint(result).n && !given->master_addr.p))
        return false;
    read_nnodes(given->nnodes, &arguments);
    return arguments.most == RC_UNKNOWN ? nnodes == 1 : arguments.most > nnodes;
}

static void read_arguments(struct rc_result *result, struct arguments *arguments)
{
    const struct rc_command_options *given = &result->command.given;
    struct rc_str backend = given->backend.p ? given->backend : rc_env_get(&result->env, "PET_RDZV_BACKEND");
    bool is_one;

    read_nnodes(given->nnodes, arguments);
    /* with --num_machines=1 accelerate leaves the number to PET_NNODES */
    is_one = result->command.torchrun && arguments->most == 1 && result->identity.field[RC_NNODES] > 1;
    arguments->alone = given->standalone || is_one;
    arguments->has_no_rank = backend.n && !is_expanded_later(backend) && !rc_str_is(backend, "static");
    arguments->meets_elsewhere = endpoint_is_elsewhere(result, backend, given_endpoint(result));
}

/* torch's c10d backend guesses by name and address which node hosts the store (c10d_rendezvous_backend.py), and
 * misses a name of another network. The first node is told to; the others are left to guess: one that the endpoint
 * names hosts it all the same, and a store too many on the first node disturbs nobody. */
static void plan_host(struct rc_result *result, const struct arguments *arguments)
{
    struct rc_str now = rc_env_get(&result->env, RDZV_CONF);
    bool is_ours = result->stamp.text.p && rc_str_starts(now, "is_host=");

    if (now.n && !is_ours)
        rc_plan_keep(result, RC_STR(RDZV_CONF), "as the user set it");
    else if (result->identity.field[RC_NODE_RANK] == 0 && !arguments->meets_elsewhere)
        rc_plan_set(result, RC_STR(RDZV_CONF), "is_host=1", "this node's number in the job",
                    "saves c10d from guessing the host by name");
    else
        rc_plan_unset(result, RC_STR(RDZV_CONF), "the host is found by the endpoint");
}

/* What agents of several steps share must not differ from step to step. */
static void plan_meeting(struct rc_result *result, const struct arguments *arguments)
{
    bool is_seen = result->command.torchrun || result->identity.field[RC_NNODES] > 1;

    if (arguments->has_no_rank)
        rc_plan_unset(result, RC_STR("PET_NODE_RANK"), "the rendezvous numbers the nodes, and warns of it");
    else
        rc_plan_set_field(result, RC_STR("PET_NODE_RANK"), RC_NODE_RANK, "this node's number in the job");
    if (is_seen && !result->command.is_part)
        rc_plan_set(result, RC_STR("PET_RDZV_ID"), result->facts.run_id, "job and step",
                    "two jobs with torchrun's default id can merge");
    else if (result->stamp_is_outer)
        rc_plan_unset(result, RC_STR("PET_RDZV_ID"), "it would part this node from those of other steps");
    plan_host(result, arguments);
}

/* accelerate that counts no machines gives torchrun a port of its own, 29500 (utils/launch.py, prepare_multi_gpu_env).
 * An endpoint takes precedence over it (torch/distributed/run.py, get_rdzv_endpoint). */
static void plan_endpoint(struct rc_result *result)
{
    const struct rc_command_options *given = &result->command.given;
    bool is_wanted = result->command.accelerate && !given->nnodes.p && !given->node_rank.p && !given->master_addr.p &&
                     !given->port.p;
    bool is_stale = endpoint_is_left_over(result);

    if (is_wanted && (is_stale || !rc_env_get(&result->env, ENDPOINT).n))
        rc_plan_set(result, RC_STR(ENDPOINT),
                    rc_host_with_port(rc_str(result->master.addr), result->master.port, &result->arena),
                    result->master.port_source, "accelerate gives torchrun port 29500, whoever has it");
    else if (is_stale)
        rc_plan_unset(result, RC_STR(ENDPOINT), "left over from a launch further outside");
}

static void warn_argument(struct rc_result *result, const char *option, struct rc_str given, const char *contradiction,
                          uint32_t right)
{
    bool torchrun = result->command.torchrun;

    rc_say(&result->messages, RC304, "%s was given %s=%pQ, but %s %u; the argument wins; %s",
           torchrun ? "torchrun" : "accelerate", option, &given, contradiction, right,
           torchrun ? "leave it out"
                    : "leave --num_machines, --num_processes, --machine_rank and --main_process_ip out");
}

/* What follows from this node's own argument is said by this node; what all nodes find, by the first one. */
static void check_numbers(const struct rc_context *context, struct rc_result *result, const struct arguments *arguments)
{
    const struct rc_command *command = &result->command;
    const char *option = command->torchrun ? "--node_rank" : "--machine_rank";
    uint32_t nnodes = result->identity.field[RC_NNODES];
    uint32_t node_rank = result->identity.field[RC_NODE_RANK];
    uint32_t rank;

    if (!command->is_part && arguments->most != RC_UNKNOWN && (context->explain || node_rank == 0) &&
        (nnodes < arguments->least || arguments->most < nnodes))
        warn_argument(result, command->torchrun ? "--nnodes" : "--num_machines", command->given.nnodes,
                      "the number of nodes in this step is", nnodes);
    if (arguments->has_no_rank || !rc_parse_u32(command->given.node_rank, RC_MAX_TASKS, &rank))
        return;
    /* srun's words are the same everywhere: right on one node, wrong on the
     * others, and they would wait for each other without a word (measured) */
    if (context->slurm_certain && nnodes > 1)
        warn_argument(result, option, command->given.node_rank, "it is the same on all nodes of this step, which are",
                      nnodes);
    else if (!command->is_part && rank != node_rank)
        warn_argument(result, option, command->given.node_rank, "the node rank in this step is", node_rank);
}

/* Only --num_machines of more than 1 makes accelerate take its own numbers. */
static void check_arguments(const struct rc_context *context, struct rc_result *result,
                            const struct arguments *arguments)
{
    const struct rc_command *command = &result->command;
    bool has_machines = command->accelerate && arguments->least != RC_UNKNOWN && arguments->least > 1;
    uint32_t nnodes = result->identity.field[RC_NNODES];

    if (command->given.standalone && nnodes > 1)
        rc_say(&result->messages, RC305,
               "torchrun --standalone trains on each of the %u nodes by itself; it is left so; "
               "leave it out to train on all together",
               nnodes);
    else if (has_machines || (command->torchrun && !command->given.standalone))
        check_numbers(context, result, arguments);
}

void rc_agents_plan(const struct rc_context *context, struct rc_result *result)
{
    uint32_t nproc = context->options.nproc;
    uint32_t workers = nproc ? nproc : result->facts.gpus.value;
    struct arguments arguments;

    read_arguments(result, &arguments);
    if (arguments.alone) {
        /* --standalone overrides the endpoint but not nnodes: with PET_NNODES=2 it waits for ever (measured) */
        rc_agents_unset(result, "torchrun trains on this node alone");
    } else {
        /* it counts agents, and each task is one */
        rc_plan_set_field(result, RC_STR("PET_NNODES"), result->facts.nnodes_derived ? RC_WORLD_SIZE : RC_NNODES,
                          "nodes of the job");
        rc_plan_set(result, RC_STR("PET_MASTER_ADDR"), result->master.addr, result->master.addr_source,
                    "the host of node 0");
        rc_plan_set(result, RC_STR("PET_MASTER_PORT"), rc_format(&result->arena, "%u", (uint32_t)result->master.port),
                    result->master.port_source, "the same port on all nodes");
        plan_meeting(result, &arguments);
        plan_endpoint(result);
    }
    if (!nproc && rc_env_get(&result->env, "PET_NPROC_PER_NODE").n)
        rc_plan_keep(result, RC_STR("PET_NPROC_PER_NODE"), "as the user set it");
    else if (workers != RC_UNKNOWN && workers > 0)
        rc_plan_set_number(result, RC_STR("PET_NPROC_PER_NODE"), workers, nproc ? "nproc=" : result->facts.gpus.source,
                           "workers that torchrun starts on this node");
    check_arguments(context, result, &arguments);
}
