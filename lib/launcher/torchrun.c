/* SPDX-License-Identifier: BSD-3-Clause */
/* torchrun.c - a worker that torchrun (or torch.distributed.launch) started.
 *
 * torchrun is authoritative: its agents have agreed on the ranks already, also where they number themselves in order of
 * arrival (c10d). Its five variables are read to be shown, never changed.
 * Source: torch/distributed/elastic/agent/server/local_elastic_agent.py, _start_workers. TORCHELASTIC_RUN_ID alone
 * proves nothing: people export it by hand, because Lightning (2.1 and later) then takes its TorchElasticEnvironment
 * before all others. */
#include "base/netaddr.h"
#include "launcher/launcher.h"
#include "launcher/layout.h"

enum rc_claim rc_torchrun_recognise(struct rc_reader *reader, struct rc_facts *facts)
{
    struct rc_str run_id = rc_env_get(reader->env, "TORCHELASTIC_RUN_ID");
    struct rc_str rank = rc_env_get(reader->env, "RANK");
    struct rc_str local_rank = rc_env_get(reader->env, "LOCAL_RANK");

    if (!run_id.p || !rank.p || !local_rank.p)
        return RC_CLAIM_ABSENT;
    if (!rank.n || !local_rank.n) {
        rc_say(reader->messages, RC102,
               "TORCHELASTIC_RUN_ID is set but %s is empty; nothing is set; unset what another "
               "torchrun left, or start the command with torchrun again",
               rank.n ? "LOCAL_RANK" : "RANK");
        return RC_CLAIM_BROKEN;
    }
    if (!rc_read_number(reader, "RANK", &facts->field[RC_RANK]))
        return RC_CLAIM_BROKEN;
    rc_facts_name(reader, facts, "torchrun", run_id);
    return RC_CLAIM_TASK;
}

bool rc_torchrun_read(struct rc_reader *reader, struct rc_facts *facts)
{
    if (!rc_read_fields(reader, &rc_launcher_torchrun, facts, "TORCHELASTIC_RUN_ID", 0))
        return false;
    facts->master_host = rc_env_get(reader->env, "MASTER_ADDR");
    facts->master_source = "MASTER_ADDR (torchrun)";
    return true;
}

const struct rc_launcher rc_launcher_torchrun = {
    .id = "torchrun",
    .title = "torchrun",
    /* the elastic agent of DeepSpeed's launcher is torchrun's (above) */
    .processes = "torchrun torch.distributed.run torch.distributed.launch deepspeed.launcher.launch",
    .has_library = true, /* torch.distributed.launcher.api.elastic_launch */
    .tells_master = true,
    .authoritative = true,
    /* the run id is "none" unless --rdzv-id is given; a restart is another launch with the same one */
    .apart = "MASTER_ADDR MASTER_PORT TORCHELASTIC_RESTART_COUNT",
    .srun_server = RC_SRUN_SERVER_OUTER,
    .variables = {
        RC_VARIABLE("RANK", RC_RANK),
        RC_VARIABLE("WORLD_SIZE", RC_WORLD_SIZE),
        RC_VARIABLE("LOCAL_RANK", RC_LOCAL_RANK),
        RC_VARIABLE("LOCAL_WORLD_SIZE", RC_LOCAL_WORLD_SIZE),
        RC_VARIABLE("GROUP_RANK", RC_NODE_RANK),
        RC_VARIABLE("GROUP_WORLD_SIZE", RC_NNODES),
    },
};

/* A worker that DeepSpeed's launcher started.
 *
 * `deepspeed` starts deepspeed.launcher.launch on each node, through pdsh or ssh, and that one a worker for each GPU.
 * It numbers the workers for torch's env://, but names the node's size and place in words that nobody else reads:
 * LOCAL_SIZE, CROSS_RANK and CROSS_SIZE.
 *
 * The rule:
 * - recognised by CROSS_RANK with CROSS_SIZE, LOCAL_SIZE, RANK, WORLD_SIZE and LOCAL_RANK. Absent where one of them is
 *   missing: deepspeed's MPI runners hand out some of them. Absent as well where TORCHELASTIC_RUN_ID is there: an
 *   elastic launch numbers anew, as torchrun does, and the launcher's own counts are old;
 * - the workers are numbered node by node. Two things must hold, else RC103: LOCAL_RANK is RANK modulo LOCAL_SIZE
 *   (launch.py has it so, also where nodes differ in size), and each other node has room for a worker;
 * - all six values are kept, and so are MASTER_ADDR and MASTER_PORT, which the
 *   launcher sets. Its default, a loopback address, is none for several nodes;
 * - nothing names the launch: MASTER_ADDR changes where rollcall sets up another
 *   launch inside, and then this one would look like a new one;
 * - GPUs are not counted: each worker has one, by LOCAL_RANK.
 * Source: deepspeedai/DeepSpeed deepspeed/launcher/launch.py (main),
 * multinode_runner.py, deepspeed/elasticity/elastic_agent.py (2026-08). */

enum rc_claim rc_deepspeed_recognise(struct rc_reader *reader, struct rc_facts *facts)
{
    for (const struct rc_variable *v = rc_launcher_deepspeed.variables; v->length; v++)
        if (!rc_env_find(reader->env, rc_variable_name(v)).n)
            return RC_CLAIM_ABSENT;
    if (rc_env_get(reader->env, "TORCHELASTIC_RUN_ID").p)
        return RC_CLAIM_ABSENT;
    if (!rc_read_number(reader, "RANK", &facts->field[RC_RANK]))
        return RC_CLAIM_BROKEN;
    rc_facts_name(reader, facts, "deepspeed", RC_ABSENT);
    return RC_CLAIM_TASK;
}

static bool check_numbers(struct rc_reader *reader, const struct rc_number *field)
{
    uint32_t rank = field[RC_RANK].value;
    uint32_t size = field[RC_WORLD_SIZE].value;
    uint32_t local_size = field[RC_LOCAL_WORLD_SIZE].value;
    uint32_t nodes = field[RC_NNODES].value;

    if (local_size == 0 || rank % local_size != field[RC_LOCAL_RANK].value)
        return rc_say(reader->messages, RC103,
                      "RANK is %u and LOCAL_SIZE %u, but LOCAL_RANK is %u; nothing is set; start the command "
                      "with deepspeed again",
                      rank, local_size, field[RC_LOCAL_RANK].value);
    if (local_size <= size && nodes > 0 && nodes - 1 <= size - local_size && (nodes > 1 || local_size == size) &&
        field[RC_NODE_RANK].value <= rank)
        return true;
    return rc_say(reader->messages, RC103,
                  "WORLD_SIZE is %u and LOCAL_SIZE %u, but CROSS_RANK is %u and CROSS_SIZE %u; nothing is "
                  "set; start the command with deepspeed again",
                  size, local_size, field[RC_NODE_RANK].value, nodes);
}

bool rc_deepspeed_read(struct rc_reader *reader, struct rc_facts *facts)
{
    struct rc_str master = rc_env_get(reader->env, "MASTER_ADDR");

    if (!rc_read_fields(reader, &rc_launcher_deepspeed, facts, "CROSS_RANK", 0) || !check_numbers(reader, facts->field))
        return false;
    rc_layout_spread(facts);
    facts->node_order_rank = facts->field[RC_RANK];
    if (facts->field[RC_NNODES].value == 1 || !rc_host_is_loopback(master)) {
        facts->master_host = master;
        facts->master_source = "MASTER_ADDR (DeepSpeed)";
    }
    facts->master_certain = true;
    facts->reserved_ports = rc_env_get(reader->env, "MASTER_PORT");
    facts->port_source = "MASTER_PORT (DeepSpeed)";
    return true;
}

const struct rc_launcher rc_launcher_deepspeed = {
    .id = "deepspeed",
    .title = "DeepSpeed's launcher",
    .processes = "deepspeed.launcher.launch",
    .apart = "MASTER_ADDR MASTER_PORT",
    .srun_server = RC_SRUN_SERVER_OUTER,
    .variables = {
        RC_VARIABLE("RANK", RC_RANK),
        RC_VARIABLE("WORLD_SIZE", RC_WORLD_SIZE),
        RC_VARIABLE("LOCAL_RANK", RC_LOCAL_RANK),
        RC_VARIABLE("LOCAL_SIZE", RC_LOCAL_WORLD_SIZE),
        RC_VARIABLE("CROSS_RANK", RC_NODE_RANK),
        RC_VARIABLE("CROSS_SIZE", RC_NNODES),
    },
};
