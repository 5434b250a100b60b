/* SPDX-License-Identifier: BSD-3-Clause */
/* dstack.c - a node of a dstack task with `nodes` or node groups.
 *
 * dstack's runner starts the commands once on each node, and tells each the
 * number of its own GPUs and that of all nodes' GPUs together.
 *
 * The rule:
 * - recognised by DSTACK_NODE_RANK, without LOCAL_RANK (families.h);
 * - DSTACK_NODE_RANK is the node's index, DSTACK_NODES_NUM the number of nodes,
 *   one task a node;
 * - the master is DSTACK_MASTER_NODE_IP, the first line of DSTACK_NODES_IPS,
 *   which has one for each node, else RC103;
 * - DSTACK_GPUS_PER_NODE is the number of GPUs (a narrower CUDA_VISIBLE_DEVICES
 *   first). DSTACK_GPUS_NUM tells whether all nodes have as many. Groups may
 *   differ (a router without GPUs before its workers): some nodes would be
 *   workers then and others start torchrun, so that is RC103;
 * - the launch is named by DSTACK_RUN_ID. The replicas of a service share it,
 *   but not DSTACK_MASTER_NODE_IP.
 * Source: dstackai/dstack runner/internal/runner/executor/executor.go (execJob),
 * server/background/pipeline_tasks/jobs_running.py (2026-08).
 */
#include "launcher/families.h"
#include "launcher/launcher.h"

static struct rc_pernode node_names(const struct rc_env *env)
{
    return (struct rc_pernode){
        .family = "dstack",
        .index = RC_STR("DSTACK_NODE_RANK"),
        .count = RC_STR("DSTACK_NODES_NUM"),
        .run_id = rc_env_get(env, "DSTACK_RUN_ID"),
        .hosts = RC_STR("DSTACK_NODES_IPS"),
        .master = RC_STR("DSTACK_MASTER_NODE_IP"),
        .gpus = RC_STR("DSTACK_GPUS_PER_NODE"),
    };
}

enum rc_claim rc_dstack_recognise(struct rc_reader *reader, struct rc_facts *facts)
{
    struct rc_pernode node = node_names(reader->env);

    return rc_pernode_recognise(reader, facts, &node);
}

static bool gpus_are_even(struct rc_reader *reader, uint32_t nodes)
{
    struct rc_number each;
    struct rc_number all;

    if (!rc_read_number(reader, RC_STR("DSTACK_GPUS_PER_NODE"), RC_MAX_TASKS, &each) ||
        !rc_read_number(reader, RC_STR("DSTACK_GPUS_NUM"), RC_MAX_TASKS, &all))
        return false;
    if (each.value == RC_UNKNOWN || all.value == RC_UNKNOWN || all.value == (uint64_t)each.value * nodes)
        return true;
    return rc_say(reader->messages, RC103,
                  "DSTACK_GPUS_NUM is %u, but %u nodes with DSTACK_GPUS_PER_NODE %u have another number; "
                  "nothing is set; give all groups of the task the same GPUs",
                  all.value, nodes, each.value);
}

bool rc_dstack_read(struct rc_reader *reader, struct rc_facts *facts)
{
    struct rc_pernode node = node_names(reader->env);

    return rc_pernode_read(reader, facts, &node) && gpus_are_even(reader, facts->field[RC_NNODES].value);
}

const struct rc_launcher rc_launcher_dstack = {
    .id = "dstack",
    .title = "dstack",
    .apart = "DSTACK_MASTER_NODE_IP",
    .variables = {
        RC_VARIABLE("DSTACK_NODE_RANK", RC_NODE_RANK),
        RC_VARIABLE("DSTACK_NODES_NUM", RC_NNODES),
    },
};
