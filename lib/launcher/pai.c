/* SPDX-License-Identifier: BSD-3-Clause */
/* pai.c - a node of a training job on Alibaba Cloud's PAI-DLC.
 *
 * The service starts the command once on each node, one master and its workers:
 * "WORLD_SIZE: total number of nodes in the job", "RANK: index of this node
 * across the entire job", "NPROC_PER_NODE: number of GPUs for each worker node".
 * None of these names is PAI's own, so it takes one more to be sure.
 *
 * The rule:
 * - recognised by DLC_JOB_ID; or by NPROC_PER_NODE together with a MASTER_ADDR
 *   as the service writes it (dlc...-master-0); and by RANK or WORLD_SIZE
 *   without LOCAL_RANK (families.h). NPROC_PER_NODE alone is a name that many
 *   people's own scripts use;
 * - RANK is the node's index, WORLD_SIZE the number of nodes, one task a node;
 * - NPROC_PER_NODE is the number of GPUs (a narrower CUDA_VISIBLE_DEVICES first);
 * - MASTER_ADDR and MASTER_PORT are the service's, and are kept;
 * - the launch is named by DLC_JOB_ID, else by MASTER_ADDR.
 * Source: alibabacloud.com/help/en/pai/general-environment-variables; DLC_JOB_ID
 * is in no document that was found, but in what its users' scripts read.
 */
#include "launcher/families.h"
#include "launcher/launcher.h"

static struct rc_pernode node_names(const struct rc_env *env)
{
    struct rc_str job = rc_env_get(env, "DLC_JOB_ID");

    return (struct rc_pernode){
        .family = "pai",
        .index = RC_STR("RANK"),
        .count = RC_STR("WORLD_SIZE"),
        .run_id = job.n ? job : rc_env_get(env, "MASTER_ADDR"),
        .gpus = RC_STR("NPROC_PER_NODE"),
    };
}

static bool is_masters_name(struct rc_str name)
{
    static const char end[] = "-master-0";
    enum { LENGTH = sizeof(end) - 1 };

    return rc_str_starts(name, "dlc") && name.n > LENGTH &&
           rc_str_is((struct rc_str){ name.p + name.n - LENGTH, LENGTH }, end);
}

enum rc_claim rc_pai_recognise(struct rc_reader *reader, struct rc_facts *facts)
{
    struct rc_pernode node = node_names(reader->env);

    if (!rc_env_get(reader->env, "DLC_JOB_ID").n && !is_masters_name(rc_env_get(reader->env, "MASTER_ADDR")))
        return RC_CLAIM_ABSENT;
    return rc_pernode_recognise(reader, facts, &node);
}

bool rc_pai_read(struct rc_reader *reader, struct rc_facts *facts)
{
    struct rc_pernode node = node_names(reader->env);

    return rc_pernode_read(reader, facts, &node);
}

/* No table: RANK and WORLD_SIZE are in torchrun's. */
const struct rc_launcher rc_launcher_pai = {
    .id = "pai",
    .title = "PAI-DLC",
};
