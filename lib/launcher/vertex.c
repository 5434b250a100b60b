/* SPDX-License-Identifier: BSD-3-Clause */
/* vertex.c - a node of a training job on Google's Vertex AI (formerly AI Platform Training).
 *
 * The service starts the container once on each VM and numbers the VMs: "RANK:
 * a unique identifier for each node; 0 for the master worker", "WORLD_SIZE: the
 * total number of nodes in the cluster". To torch's env:// the same two names
 * count processes, so with several GPUs a VM they are wrong for every worker.
 *
 * The rule:
 * - recognised by CLUSTER_SPEC (the cluster as JSON, in every job) or
 *   CLOUD_ML_JOB_ID, and by RANK or WORLD_SIZE without LOCAL_RANK (families.h);
 *   a job without both is not one of PyTorch;
 * - RANK is the node's index, WORLD_SIZE the number of nodes, one task a node;
 * - MASTER_ADDR and MASTER_PORT are the service's, and are kept;
 * - the launch is named by CLOUD_ML_JOB_ID, else by MASTER_ADDR.
 * Source: cloud.google.com/ai-platform/training/docs/distributed-pytorch and
 * cloud.google.com/vertex-ai/docs/training/distributed-training. The JSON only
 * repeats it, and is not read.
 */
#include "launcher/families.h"
#include "launcher/launcher.h"

static struct rc_pernode node_names(const struct rc_env *env)
{
    struct rc_str job = rc_env_get(env, "CLOUD_ML_JOB_ID");

    return (struct rc_pernode){
        .family = "vertex",
        .index = RC_STR("RANK"),
        .count = RC_STR("WORLD_SIZE"),
        .run_id = job.n ? job : rc_env_get(env, "MASTER_ADDR"),
    };
}

enum rc_claim rc_vertex_recognise(struct rc_reader *reader, struct rc_facts *facts)
{
    struct rc_pernode node = node_names(reader->env);

    return rc_pernode_recognise(reader, facts, &node);
}

bool rc_vertex_read(struct rc_reader *reader, struct rc_facts *facts)
{
    struct rc_pernode node = node_names(reader->env);

    if (!rc_pernode_read(reader, facts, &node))
        return false;
    rc_read_gpus(reader, facts);
    return true;
}

/* No table: RANK and WORLD_SIZE are in torchrun's. */
const struct rc_launcher rc_launcher_vertex = {
    .id = "vertex",
    .title = "Vertex AI",
};
