/* SPDX-License-Identifier: BSD-3-Clause */
/* kubeflow.c - a pod of Kubeflow's PyTorchJob (training-operator, v1) or TrainJob (trainer, v2).
 *
 * Both start the command once in each pod, and speak to torchrun by PET_*:
 * PET_NNODES, PET_NODE_RANK, PET_NPROC_PER_NODE (a number, or "auto"), and the
 * master as PET_MASTER_ADDR and PET_MASTER_PORT. v1 adds MASTER_ADDR,
 * MASTER_PORT, RANK and WORLD_SIZE, of which RANK is the pod's index but
 * WORLD_SIZE the number of pods times nprocPerNode: not one numbering, but two
 * halves of different ones. So they are not read here.
 *
 * The rule:
 * - recognised by PET_NNODES and KUBERNETES_SERVICE_HOST (which Kubernetes puts
 *   into every pod), without LOCAL_RANK (families.h): PET_* elsewhere are
 *   a user's arguments for torchrun;
 * - PET_RDZV_ENDPOINT means elastic: PET_NNODES may be a range, and torchrun's
 *   agents number themselves. Left alone (RC118);
 * - PET_NODE_RANK is the node's index, PET_NNODES the number of nodes, one task a
 *   node; a job of one pod without a master has no PET_NODE_RANK: it is 0;
 * - PET_NPROC_PER_NODE, where it is a number, counts as the GPUs of the node:
 *   the workers that are wanted there. Else the GPUs that the pod can see;
 * - MASTER_ADDR is kept; where it is not set (v2), it is PET_MASTER_ADDR. It is
 *   the name of a pod, which DNS learns only when that pod is up. MASTER_PORT
 *   likewise, from PET_MASTER_PORT;
 * - the launch is named by PET_MASTER_ADDR, which has the job's name in it, else
 *   by MASTER_ADDR.
 * Source: kubeflow/training-operator pkg/controller.v1/pytorch/envvar.go,
 * elastic.go, master.go (v1.9); kubeflow/trainer
 * pkg/runtime/framework/plugins/torch/torch.go (2026-08).
 */
#include "launcher/families.h"
#include "launcher/launcher.h"

static struct rc_pernode node_names(const struct rc_env *env)
{
    struct rc_str master = rc_env_get(env, "PET_MASTER_ADDR");

    return (struct rc_pernode){
        .family = "kubeflow",
        .index = RC_STR("PET_NODE_RANK"),
        .count = RC_STR("PET_NNODES"),
        .run_id = master.n ? master : rc_env_get(env, "MASTER_ADDR"),
        .master = RC_STR("PET_MASTER_ADDR"),
        .port = RC_STR("PET_MASTER_PORT"),
        .by_dns = true,
    };
}

enum rc_claim rc_kubeflow_recognise(struct rc_reader *reader, struct rc_facts *facts)
{
    struct rc_pernode node = node_names(reader->env);

    if (!rc_env_get(reader->env, "KUBERNETES_SERVICE_HOST").n || !rc_env_get(reader->env, "PET_NNODES").n)
        return RC_CLAIM_ABSENT;
    if (rc_env_get(reader->env, "PET_RDZV_ENDPOINT").n) {
        rc_say(reader->messages, RC118,
               "this PyTorchJob is elastic (PET_RDZV_ENDPOINT is set): torchrun's agents number themselves; "
               "the environment is left as it is; leave elasticPolicy out of the job for fixed numbers");
        return RC_CLAIM_HALF;
    }
    if (!rc_env_find(reader->env, node.index).n && rc_str_is(rc_env_find(reader->env, node.count), "1"))
        return rc_pernode_claim(reader, facts, &node, 0, "PET_NNODES is 1");
    return rc_pernode_recognise(reader, facts, &node);
}

bool rc_kubeflow_read(struct rc_reader *reader, struct rc_facts *facts)
{
    struct rc_pernode node = node_names(reader->env);

    if (!rc_pernode_read(reader, facts, &node))
        return false;
    if (rc_parse_u32(rc_env_get(reader->env, "PET_NPROC_PER_NODE"), RC_MAX_TASKS, &facts->gpus.value))
        facts->gpus.source = "PET_NPROC_PER_NODE";
    else
        rc_read_gpus(reader, facts);
    return true;
}

const struct rc_launcher rc_launcher_kubeflow = {
    .id = "kubeflow",
    .title = "Kubeflow",
    .tells_master = true,
    .variables = {
        RC_VARIABLE("PET_NODE_RANK", RC_NODE_RANK),
        RC_VARIABLE("PET_NNODES", RC_NNODES),
    },
};
