/* SPDX-License-Identifier: BSD-3-Clause */
#include "resolve/agents.h"

#include "resolve/master.h"

#define RDZV_CONF "PET_RDZV_CONF"

/* torchrun reads every option's default from PET_<NAME> (argparse_util.py,
 * env): left over from another launch they would start agents inside workers. */
static const struct rc_name torchrun_names[] = {
    RC_NAME("PET_NNODES"),      RC_NAME("PET_NODE_RANK"),    RC_NAME("PET_NPROC_PER_NODE"),
    RC_NAME("PET_MASTER_ADDR"), RC_NAME("PET_MASTER_PORT"),  RC_NAME("PET_RDZV_ID"),
    RC_NAME(RDZV_CONF),         RC_NAME("PET_RDZV_BACKEND"), RC_NAME(RC_AGENTS_ENDPOINT),
    RC_NAME("PET_STANDALONE"),
};

void rc_agents_unset(struct rc_result *result, const char *reason)
{
    rc_plan_unset_all(result, torchrun_names, sizeof(torchrun_names) / sizeof(*torchrun_names), reason);
}

/* torch's c10d backend guesses by name and address which node hosts the store (c10d_rendezvous_backend.py), and
 * misses a name of another network. The first node is told to; the others are left to guess: one that the endpoint
 * names hosts it all the same, and a store too many on the first node disturbs nobody. */
static void plan_host(struct rc_result *result, const struct rc_arguments *arguments)
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
static void plan_meeting(struct rc_result *result, const struct rc_arguments *arguments)
{
    bool is_seen = result->command.torchrun || result->identity.field[RC_NNODES] > 1;

    if (arguments->has_no_rank)
        rc_plan_unset(result, RC_STR("PET_NODE_RANK"), "the rendezvous numbers the nodes, and warns of it");
    else
        rc_plan_set_field(result, RC_STR("PET_NODE_RANK"), RC_NODE_RANK, "this node's number in the job");
    if (is_seen && !arguments->is_part)
        rc_plan_set(result, RC_STR("PET_RDZV_ID"), result->facts.run_id, "job and step",
                    "two jobs with torchrun's default id can merge");
    else if (result->stamp_is_outer)
        rc_plan_unset(result, RC_STR("PET_RDZV_ID"), "it would part this node from those of other steps");
    plan_host(result, arguments);
}

bool rc_agents_met_there(const struct rc_result *result)
{
    struct rc_str text;
    uint32_t port;

    rc_str_split_last(rc_env_get(&result->env, RC_AGENTS_ENDPOINT), ':', &text);
    return rc_parse_u32(text, UINT16_MAX, &port) && port == result->stamp.port;
}

/* accelerate that counts no machines gives torchrun a port of its own, 29500 (utils/launch.py, prepare_multi_gpu_env).
 * An endpoint takes precedence over it (torch/distributed/run.py, get_rdzv_endpoint). */
static void plan_endpoint(struct rc_result *result)
{
    const struct rc_command_options *given = &result->command.given;
    bool is_wanted = result->command.accelerate && !given->nnodes.p && !given->node_rank.p && !given->master_addr.p &&
                     !given->port.p;
    bool is_stale = result->stamp_is_outer && rc_agents_met_there(result);

    if (is_wanted && (is_stale || !rc_env_get(&result->env, RC_AGENTS_ENDPOINT).n))
        rc_plan_set(result, RC_STR(RC_AGENTS_ENDPOINT), rc_master_endpoint(result, result->master.port),
                    result->master.port_source, "accelerate gives torchrun port 29500, whoever has it");
    else if (is_stale)
        rc_plan_unset(result, RC_STR(RC_AGENTS_ENDPOINT), "left over from a launch further outside");
}

void rc_agents_plan(struct rc_result *result, const struct rc_arguments *arguments, uint32_t nproc)
{
    uint32_t workers = nproc ? nproc : result->facts.gpus.value;

    if (arguments->alone) {
        /* --standalone overrides the endpoint but not nnodes: with
         * PET_NNODES=2 it waits for ever (measured) */
        rc_agents_unset(result, "torchrun trains on this node alone");
    } else {
        /* it counts agents, and each task is one */
        rc_plan_set_field(result, RC_STR("PET_NNODES"), result->facts.nnodes_derived ? RC_WORLD_SIZE : RC_NNODES,
                          "nodes of the job");
        rc_plan_set(result, RC_STR("PET_MASTER_ADDR"), result->master.addr, result->master.addr_source,
                    "the host of node 0");
        rc_plan_set(result, RC_STR("PET_MASTER_PORT"), rc_format_number(&result->arena, result->master.port),
                    result->master.port_source, "the same port on all nodes");
        plan_meeting(result, arguments);
        plan_endpoint(result);
    }
    if (!nproc && rc_env_get(&result->env, "PET_NPROC_PER_NODE").n)
        rc_plan_keep(result, RC_STR("PET_NPROC_PER_NODE"), "as the user set it");
    else if (workers != RC_UNKNOWN && workers > 0)
        rc_plan_set_number(result, RC_STR("PET_NPROC_PER_NODE"), workers, nproc ? "nproc=" : result->facts.gpus.source,
                           "workers that torchrun starts on this node");
}
