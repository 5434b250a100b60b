/* SPDX-License-Identifier: BSD-3-Clause */
/* torchrun.c - a worker that torchrun (or torch.distributed.launch) started.
 *
 * torchrun is authoritative: its agents have agreed on the ranks already, also where they number themselves in order of
 * arrival (c10d). Its five variables are read to be shown, never changed.
 * Source: torch/distributed/elastic/agent/server/local_elastic_agent.py, _start_workers. TORCHELASTIC_RUN_ID alone
 * proves nothing: people export it by hand, because Lightning (2.1 and later) then takes its TorchElasticEnvironment
 * before all others. */
#include "launcher/launcher.h"

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
    /* the elastic agent of DeepSpeed's launcher is torchrun's */
    .processes = "torchrun|torch.distributed.run|torch.distributed.launch|deepspeed.launcher.launch",
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
