/* SPDX-License-Identifier: BSD-3-Clause */
#include "resolve/command.h"
#include "resolve/steps.h"

#include "base/netaddr.h"
#include "launcher/hosts.h"

#define RDZV_CONF "PET_RDZV_CONF"
#define HOSTS     "is_host=1"

/* Meeting point of agents; overrides PET_MASTER_ADDR and PET_MASTER_PORT. */
#define ENDPOINT "PET_RDZV_ENDPOINT"

/* torchrun reads defaults from PET_<NAME> (argparse_util.py, env); another launch's would start agents inside
 * workers. */
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

static bool is_our_conf(struct rc_str conf)
{
    return rc_str_starts(conf, "is_host=");
}

/* Return true if the endpoint has the stamp's port. */
static bool met_there(const struct rc_result *result)
{
    struct rc_str text;
    uint32_t port;

    rc_str_split_last(rc_env_get(&result->env, ENDPOINT), ':', &text);
    return rc_parse_u32(text, UINT16_MAX, &port) && port == result->stamp.port;
}

static bool endpoint_is_left_over(const struct rc_result *result)
{
    return result->stamp_is_outer && met_there(result);
}

/* Arguments override PET_* (torch's argparse_util.py), and accelerate builds torchrun's from its arguments
 * (utils/launch.py). */
struct arguments {
    bool alone;           /* nodes train separately: --standalone, or --nnodes=1 in a step of several */
    bool has_no_rank;     /* the backend numbers nodes, and warns of a node rank (torch 2.7 and later) */
    bool meets_elsewhere; /* the user's, so the host is unknown */
    uint32_t least;       /* or RC_UNKNOWN */
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

static bool is_expanded_later(struct rc_str word)
{
    for (size_t i = 0; i < word.n; i++)
        if (word.p[i] == '$' || word.p[i] == '`')
            return true;
    return false;
}

static bool is_host(struct rc_str host, struct rc_str addr)
{
    if (host.n > 1 && host.p[0] == '[' && host.p[host.n - 1] == ']')
        host = (struct rc_str){ host.p + 1, host.n - 2 };
    return rc_str_eq(host, addr);
}

/* Return true for rollcall's host, as torch reads it (rendezvous/utils.py, parse_rendezvous_endpoint). */
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

static struct rc_str given_backend(const struct rc_result *result)
{
    struct rc_str given = result->command.given.backend;

    return given.p ? given : rc_env_get(&result->env, "PET_RDZV_BACKEND");
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
    struct rc_str backend = given_backend(result);
    bool is_one;

    read_nnodes(given->nnodes, arguments);
    /* with --num_machines=1 accelerate leaves the number to PET_NNODES */
    is_one = result->command.torchrun && arguments->most == 1 && result->identity.field[RC_NNODES] > 1;
    arguments->alone = given->standalone || is_one;
    arguments->has_no_rank = backend.n && !is_expanded_later(backend) && !rc_str_is(backend, "static");
    arguments->meets_elsewhere = endpoint_is_elsewhere(result, backend, given_endpoint(result));
}

/* torch's c10d backend guesses the store's host by name and address (c10d_rendezvous_backend.py), and fails for a name
 * of another network. So the first node hosts it; a second store is harmless. */
static void plan_host(struct rc_result *result, const struct arguments *arguments)
{
    struct rc_str now = rc_env_get(&result->env, RDZV_CONF);
    bool is_ours = result->stamp.text.p && is_our_conf(now);
    bool is_host = result->identity.field[RC_NODE_RANK] == 0 && !arguments->meets_elsewhere;

    if (now.n && !is_ours)
        rc_plan_keep(result, RC_STR(RDZV_CONF), "as the user set it");
    else if (is_host)
        rc_plan_set(result, RC_STR(RDZV_CONF), HOSTS, "this node's number in the job",
                    "saves c10d from guessing the host by name");
    else
        rc_plan_unset(result, RC_STR(RDZV_CONF), "the host is found by the endpoint");
}

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

/* Return what fails without an endpoint, or NULL. An endpoint overrides PET_MASTER_ADDR, PET_MASTER_PORT and their
 * arguments (torch/distributed/run.py, get_rdzv_endpoint), so set none for an unread command. accelerate may give
 * torchrun port 29500 (utils/launch.py, prepare_multi_gpu_env), c10d takes localhost:29400
 * (rendezvous/c10d_rendezvous_backend.py). */
static const char *find_need_of_endpoint(const struct rc_result *result)
{
    const struct rc_command_options *given = &result->command.given;

    if (given->endpoint.p || result->command.is_part)
        return NULL;
    if (rc_str_is(given_backend(result), "c10d"))
        return "c10d without an endpoint takes each node's own localhost:29400";
    return result->command.accelerate && !given->nnodes.p && !given->node_rank.p && !given->master_addr.p &&
                   !given->port.p
               ? "accelerate gives torchrun port 29500, whoever has it"
               : NULL;
}

static void plan_endpoint(struct rc_result *result)
{
    const char *need = find_need_of_endpoint(result);
    bool is_stale = endpoint_is_left_over(result);

    if (need && (is_stale || !rc_env_get(&result->env, ENDPOINT).n))
        rc_plan_set(result, RC_STR(ENDPOINT),
                    rc_host_with_port(rc_str(result->master.addr), result->master.port, &result->arena),
                    result->master.port_source, need);
    else if (is_stale)
        rc_plan_unset(result, RC_STR(ENDPOINT), "left over from a launch further outside");
}

static const char accelerates[] = "--num_machines|--num_processes|--machine_rank|--main_process_ip|--main_process_port";

/* without: options to remove, "--a|--b". */
struct contradiction {
    const char *option;
    struct rc_str given;
    const char *without;
    const char *why;
};

static const char *leave_out(const struct rc_context *context, struct rc_result *result, const char *without)
{
    const char *line = context->argv
                           ? rc_command_write(context->argv, without, result->command.given.script, &result->arena)
                           : NULL;
    const char *what = result->command.torchrun ? "leave it out" : "leave accelerate's numbers and address out";

    return line ? rc_format(&result->arena, "%s: %s", what, line) : what;
}

/* If certain, nodes would silently wait until torch's timeout. */
static bool refuse(const struct rc_context *context, struct rc_result *result, const struct contradiction *found,
                   bool is_certain)
{
    bool is_only_said = context->options.check == RC_CHECK_WARN || context->options.check == RC_CHECK_OFF;
    bool is_error = is_certain && !is_only_said;

    rc_say(&result->messages, is_error ? RC312 : RC304, "%s was given %s=%pQ, but %s; %s; %s",
           result->command.torchrun ? "torchrun" : "accelerate", found->option, &found->given, found->why,
           is_error ? "it is not started" : "the argument wins", leave_out(context, result, found->without));
    return !is_error;
}

/* Python's int() accepts "_" inside a number, and blanks around it. */
static bool is_of_letters(struct rc_str word, char first, char last)
{
    for (size_t i = 0; i < word.n; i++)
        if ((word.p[i] < first || word.p[i] > last) && word.p[i] != '_')
            return false;
    return word.n > 0;
}

static struct rc_str strip(struct rc_str word)
{
    while (word.n && *word.p == ' ')
        word = (struct rc_str){ word.p + 1, word.n - 1 };
    while (word.n && word.p[word.n - 1] == ' ')
        word.n--;
    return word;
}

/* torchrun takes a number, or a kind of device (torch/distributed/run.py, determine_local_world_size). Slurm sets
 * SLURM_GPUS_PER_NODE as typed: a100:2. */
static bool check_workers(const struct rc_context *context, struct rc_result *result)
{
    struct rc_str given = result->command.given.nproc;

    if (!result->command.torchrun || !given.p || is_expanded_later(given) || is_of_letters(strip(given), '0', '9') ||
        is_of_letters(given, 'a', 'z'))
        return true;
    return rc_say(&result->messages, RC313,
                  "torchrun was given --nproc_per_node=%pQ, which is no number; it is not started; %s%s", &given,
                  leave_out(context, result, "--nproc_per_node"),
                  rc_plan_find(&result->plan, RC_STR("PET_NPROC_PER_NODE")) ? "" : ", and use nproc=N");
}

/* Check for a host at which the nodes cannot meet. */
static bool check_host(const struct rc_context *context, struct rc_result *result, const struct arguments *arguments)
{
    const struct rc_command_options *given = &result->command.given;
    const struct rc_facts *facts = &result->facts;
    bool has_endpoint = given->endpoint.p;
    bool is_static = !arguments->has_no_rank;
    struct contradiction found = {
        .option = has_endpoint               ? "--rdzv_endpoint"
                  : result->command.torchrun ? "--master_addr"
                                             : "--main_process_ip",
        .given = has_endpoint ? given->endpoint : given->master_addr,
        .without = result->command.torchrun ? "--rdzv_endpoint|--master_addr" : accelerates,
    };
    struct rc_str port;
    struct rc_str host = has_endpoint ? rc_str_split_last(found.given, ':', &port) : found.given;
    uint32_t place = facts->hosts.p ? rc_hostlist_find(facts->hosts, host) : RC_UNKNOWN;

    if (!host.n || is_expanded_later(found.given) || (!has_endpoint && !is_static))
        return true;
    if (rc_host_is_loopback(host))
        found.why = "each node would wait for itself there";
    else if (is_static && !given->node_rank.p && facts->master_certain && place != RC_UNKNOWN &&
             facts->master_node != RC_UNKNOWN && place != facts->master_node)
        found.why = rc_format(&result->arena, "the first node is %s", result->master.name);
    return !found.why || refuse(context, result, &found, true);
}

static bool check_nodes(const struct rc_context *context, struct rc_result *result, const struct arguments *arguments)
{
    uint32_t nnodes = result->identity.field[RC_NNODES];
    bool is_outside = arguments->most != RC_UNKNOWN && (nnodes < arguments->least || arguments->most < nnodes);
    /* steps may meet at the user's host; with c10d extra nodes wait, and the others train */
    bool is_certain = nnodes < arguments->least ? result->master.addr_given == RC_GIVEN_BY_LAUNCH
                                                : arguments->most > 1 && !arguments->has_no_rank;
    struct contradiction found = {
        .option = result->command.torchrun ? "--nnodes" : "--num_machines",
        .given = result->command.given.nnodes,
        .without = result->command.torchrun ? "--nnodes|--node_rank" : accelerates,
        .why = rc_format(&result->arena, "the number of nodes in this step is %u", nnodes),
    };

    if (!is_outside || result->command.is_part || result->master.is_shared ||
        (!is_certain && !context->explain && result->identity.field[RC_NODE_RANK] != 0))
        return true;
    return refuse(context, result, &found, is_certain);
}

/* No shell expanded srun's words on its node. Only lines of srun --multi-prog differ, unseen by the plugin. */
static bool is_same_everywhere(const struct rc_context *context, const char *option)
{
    const struct rc_here *here = context->here;

    if (!context->argv || !rc_command_has(context->argv, option))
        return false;
    return context->slurm_certain || (rc_seen(context->here, RC_LEARN_ANCESTORS, RC_ABSENT) && here->ancestor_count &&
                                      rc_str_is(rc_ancestor_name(here->ancestor[0]), "slurmstepd"));
}

static bool check_rank(const struct rc_context *context, struct rc_result *result, const struct arguments *arguments)
{
    const struct rc_command *command = &result->command;
    uint32_t nnodes = result->identity.field[RC_NNODES];
    uint32_t node_rank = result->identity.field[RC_NODE_RANK];
    uint32_t all = arguments->most != RC_UNKNOWN ? arguments->most : nnodes;
    bool has_host = command->given.master_addr.p || command->given.endpoint.p;
    struct contradiction found = {
        .option = result->command.torchrun ? "--node_rank" : "--machine_rank",
        .given = command->given.node_rank,
        .without = result->command.torchrun ? "--node_rank" : accelerates,
    };
    bool is_certain;
    uint32_t rank;

    if (arguments->has_no_rank || !rc_parse_u32(found.given, RC_MAX_TASKS, &rank))
        return true;
    if (rank >= all && (arguments->most != RC_UNKNOWN || !command->given.nnodes.p))
        found.why = rc_format(&result->arena, "the nodes are numbered from 0 to %u", all - 1);
    else if (arguments->alone) /* each node is node 0 of a job of one */
        return true;
    else if (nnodes > 1 && is_same_everywhere(context, found.without))
        found.why = rc_format(&result->arena, "it is the same on all %u nodes of this step", nnodes);
    else if (!command->is_part && !has_host && (rank == 0) != (node_rank == 0))
        found.why = rc_format(&result->arena, "the node rank in this step is %u, and node 0 has the master address",
                              node_rank);
    is_certain = found.why;
    if (!is_certain && !command->is_part && rank != node_rank)
        found.why = rc_format(&result->arena, "the node rank in this step is %u", node_rank);
    return !found.why || refuse(context, result, &found, is_certain);
}

/* DeepSpeed's launcher takes nodes only from a host file (launcher/runner.py). A shell's text may have one. */
static bool is_deepspeed_without_hosts(const struct rc_context *context, const struct rc_command *command)
{
    bool is_word = false;

    for (const char *const *word = context->argv; word && *word; word++)
        is_word = is_word || rc_str_eq(rc_str_base_name(rc_str(*word)), command->name);
    return is_word && rc_str_is(command->name, "deepspeed") &&
           !rc_command_has(context->argv, "-H|--hostfile|--no_ssh|--launcher");
}

static void check_arguments(const struct rc_context *context, struct rc_result *result,
                            const struct arguments *arguments)
{
    const struct rc_command *command = &result->command;
    bool has_machines = command->accelerate && arguments->least != RC_UNKNOWN && arguments->least > 1;
    uint32_t nnodes = result->identity.field[RC_NNODES];

    if (!check_workers(context, result))
        return;
    if (command->given.standalone && nnodes > 1)
        rc_say(&result->messages, RC305,
               "torchrun --standalone makes each of the %u nodes train separately; rollcall did not change it; remove "
               "--standalone to train across nodes",
               nnodes);
    else if (nnodes > 1 && is_deepspeed_without_hosts(context, command))
        rc_say(&result->messages, RC305,
               "deepspeed without a file of hosts (--hostfile) makes each of the %u nodes train separately; rollcall "
               "did not change it; start one task a GPU instead, with python",
               nnodes);
    else if ((has_machines || (command->torchrun && !command->given.standalone)) &&
             (nnodes == 1 || arguments->alone || check_host(context, result, arguments)) &&
             check_nodes(context, result, arguments))
        check_rank(context, result, arguments);
}

void rc_agents_plan(const struct rc_context *context, struct rc_result *result)
{
    uint32_t nproc = context->options.nproc;
    uint32_t workers = nproc ? nproc : result->facts.gpus.value;
    bool has_other_mode = result->stamp.mode == RC_STAMP_LAUNCHER && result->mode == RC_MODE_WORKER;
    struct arguments arguments;

    read_arguments(result, &arguments);
    if (arguments.alone) {
        rc_agents_unset(result, "torchrun trains on this node alone");
    } else {
        /* it counts agents, one a task */
        rc_plan_set_field(result, RC_STR("PET_NNODES"), result->facts.nnodes_derived ? RC_WORLD_SIZE : RC_NNODES,
                          "nodes of the job");
        rc_plan_set(result, RC_STR("PET_MASTER_ADDR"), result->master.addr, result->master.addr_source,
                    "the host of node 0");
        rc_plan_set(result, RC_STR("PET_MASTER_PORT"), rc_format(&result->arena, "%u", (uint32_t)result->master.port),
                    result->master.port_source, "the same port on all nodes");
        plan_meeting(result, &arguments);
        plan_endpoint(result);
    }
    if (!nproc && rc_env_get(&result->env, "PET_NPROC_PER_NODE").n && !has_other_mode)
        rc_plan_keep(result, RC_STR("PET_NPROC_PER_NODE"), "as the user set it");
    else if (workers != RC_UNKNOWN && workers > 0)
        rc_plan_set_number(result, RC_STR("PET_NPROC_PER_NODE"), workers, nproc ? "nproc=" : result->facts.gpus.source,
                           "workers that torchrun starts on this node");
    else if (has_other_mode)
        rc_plan_unset(result, RC_STR("PET_NPROC_PER_NODE"), "left over from launcher mode");
    check_arguments(context, result, &arguments);
}
