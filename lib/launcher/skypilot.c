/* SPDX-License-Identifier: BSD-3-Clause */
/* skypilot.c - a node of a SkyPilot task with num_nodes.
 *
 * SkyPilot runs the task's commands once on each node, by Ray on a cloud's VMs
 * and in pods, by srun in a Slurm cluster. There Slurm's step is further inside:
 * SKYPILOT_NODE_IPS names all nodes of the job, not only those of the step.
 *
 * The rule:
 * - recognised by SKYPILOT_NODE_RANK, without LOCAL_RANK (families.h). The setup
 *   commands have SKYPILOT_SETUP_NODE_RANK instead, and are no task;
 * - SKYPILOT_NODE_RANK is the node's index, SKYPILOT_NUM_NODES the number of
 *   nodes, one task a node;
 * - SKYPILOT_NODE_IPS has a line for each node, in the order of the indices.
 *   The master is the first one. As many lines as nodes, else RC103;
 * - SKYPILOT_NUM_GPUS_PER_NODE is the number of GPUs (a narrower
 *   CUDA_VISIBLE_DEVICES first). It is 0 on TPUs: one process a host;
 * - the launch is named by SKYPILOT_TASK_ID, which is one task's on all nodes.
 * Source: skypilot-org/skypilot sky/backends/task_codegen.py (RayCodeGen.add_setup,
 * _add_ray_task), sky/skylet/executor/slurm.py, sky/skylet/constants.py (2026-08).
 */
#include "launcher/families.h"
#include "launcher/launcher.h"

static struct rc_pernode node_names(const struct rc_env *env)
{
    return (struct rc_pernode){
        .family = "skypilot",
        .index = RC_STR("SKYPILOT_NODE_RANK"),
        .count = RC_STR("SKYPILOT_NUM_NODES"),
        .run_id = rc_env_get(env, "SKYPILOT_TASK_ID"),
        .hosts = RC_STR("SKYPILOT_NODE_IPS"),
        .gpus = RC_STR("SKYPILOT_NUM_GPUS_PER_NODE"),
    };
}

enum rc_claim rc_skypilot_recognise(struct rc_reader *reader, struct rc_facts *facts)
{
    struct rc_pernode node = node_names(reader->env);

    return rc_pernode_recognise(reader, facts, &node);
}

bool rc_skypilot_read(struct rc_reader *reader, struct rc_facts *facts)
{
    struct rc_pernode node = node_names(reader->env);

    return rc_pernode_read(reader, facts, &node);
}

const struct rc_launcher rc_launcher_skypilot = {
    .id = "skypilot",
    .title = "SkyPilot",
    .variables = {
        RC_VARIABLE("SKYPILOT_NODE_RANK", RC_NODE_RANK),
        RC_VARIABLE("SKYPILOT_NUM_NODES", RC_NNODES),
    },
};
