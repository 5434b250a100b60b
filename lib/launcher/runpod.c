/* SPDX-License-Identifier: BSD-3-Clause */
/* runpod.c - a pod of a RunPod Instant Cluster.
 *
 * A cluster's pods get torchrun's arguments under the names that its manual
 * uses for them. WORLD_SIZE counts GPUs there ("NUM_NODES * NUM_TRAINERS"), and
 * nobody sets a RANK beside it: half of a numbering, which is not read.
 *
 * The rule:
 * - recognised by RUNPOD_POD_ID, which every pod has, and PRIMARY_ADDR, which
 *   those of a cluster have, without LOCAL_RANK (families.h). None of the other
 *   names is RunPod's own: NODE_RANK and NUM_NODES stand in many people's scripts;
 * - NODE_RANK is the node's index, NUM_NODES the number of nodes, one task a node;
 * - the master is PRIMARY_ADDR, its port PRIMARY_PORT. MASTER_ADDR and
 *   MASTER_PORT are the same ("equivalent"); other values there are the user's;
 * - NUM_TRAINERS is the number of GPUs (a narrower CUDA_VISIBLE_DEVICES first);
 * - the cluster has no name in the environment: PRIMARY_ADDR names the launch.
 * Source: docs.runpod.io/instant-clusters/configuration, runpod/docs
 * instant-clusters/configuration.mdx, pytorch.mdx, ray-vllm.mdx (2026-08). The
 * platform's own code is not public.
 */
#include "launcher/families.h"
#include "launcher/launcher.h"

static struct rc_pernode node_names(const struct rc_env *env)
{
    return (struct rc_pernode){
        .family = "runpod",
        .index = RC_STR("NODE_RANK"),
        .count = RC_STR("NUM_NODES"),
        .run_id = rc_env_get(env, "PRIMARY_ADDR"),
        .master = RC_STR("PRIMARY_ADDR"),
        .port = RC_STR("PRIMARY_PORT"),
        .gpus = RC_STR("NUM_TRAINERS"),
    };
}

enum rc_claim rc_runpod_recognise(struct rc_reader *reader, struct rc_facts *facts)
{
    struct rc_pernode node = node_names(reader->env);

    if (!node.run_id.n || !rc_env_get(reader->env, "RUNPOD_POD_ID").n)
        return RC_CLAIM_ABSENT;
    return rc_pernode_recognise(reader, facts, &node);
}

bool rc_runpod_read(struct rc_reader *reader, struct rc_facts *facts)
{
    struct rc_pernode node = node_names(reader->env);

    return rc_pernode_read(reader, facts, &node);
}

/* No table: NODE_RANK and NUM_NODES are anybody's names. */
const struct rc_launcher rc_launcher_runpod = {
    .id = "runpod",
    .title = "RunPod",
};
