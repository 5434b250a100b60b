/* SPDX-License-Identifier: BSD-3-Clause */
/* azureml.c - a process of a distributed job on Azure Machine Learning.
 *
 * With the PyTorch distribution Azure starts process_count_per_instance processes
 * on each node and numbers them: RANK, WORLD_SIZE, LOCAL_RANK, NODE_RANK,
 * MASTER_ADDR, MASTER_PORT. What it leaves open is LOCAL_WORLD_SIZE. With the
 * MPI distribution it starts mpirun, whose ranks are Open MPI's. One process a
 * node on machines with several GPUs is Azure's "per-node launch": launcher mode.
 *
 * The rule:
 * - recognised by AZUREML_RUN_ID or AZUREML_EXPERIMENT_ID, with RANK, WORLD_SIZE
 *   and LOCAL_RANK. None of RANK and WORLD_SIZE: no distributed job. Only one of
 *   them: RC102. No LOCAL_RANK, or OMPI_COMM_WORLD_RANK, or a ROLLCALL_SCOPE
 *   other than of worker mode for this RANK (launcher mode takes RANK away, so
 *   something inside of it has numbered its workers): not Azure's numbering;
 * - the number of nodes is AZUREML_NODE_COUNT, else the length of
 *   AZ_BATCH_HOST_LIST (10.0.0.4,10.0.0.5), else 1 where LOCAL_WORLD_SIZE equals
 *   WORLD_SIZE. Where nothing tells, this family has nothing to say;
 * - each node has WORLD_SIZE / nodes processes, numbered node by node: RANK =
 *   node * that + LOCAL_RANK, and NODE_RANK, where it is set, is that node.
 *   Anything else is RC103;
 * - MASTER_ADDR is kept; where it is not set, it is the host of
 *   AZ_BATCH_MASTER_NODE (host:port), else AZ_BATCHAI_MPI_MASTER_NODE;
 * - the launch is named by AZUREML_RUN_ID.
 * Source: learn.microsoft.com/azure/machine-learning/how-to-train-distributed-gpu;
 * learn.microsoft.com/azure/batch/batch-compute-node-environment-variables;
 * DeepSpeed deepspeed/comm/comm.py (in_aml, patch_aml_env_for_torch_nccl_backend).
 */
#include "launcher/launcher.h"

static bool is_set(const struct rc_env *env, struct rc_str name)
{
    return rc_env_find(env, name).n > 0;
}

/* The number of nodes, by Azure or the user; RC_UNKNOWN where neither says it.
 * False with a message. */
static bool read_nnodes(struct rc_reader *reader, struct rc_number *nnodes)
{
    struct rc_str hosts = rc_env_get(reader->env, "AZ_BATCH_HOST_LIST");
    struct rc_str local_size = rc_env_get(reader->env, "LOCAL_WORLD_SIZE");

    if (!rc_read_number(reader, RC_STR("AZUREML_NODE_COUNT"), RC_MAX_TASKS, nnodes))
        return false;
    if (nnodes->value != RC_UNKNOWN)
        return true;
    if (hosts.n) {
        nnodes->source = "length of AZ_BATCH_HOST_LIST";
        nnodes->value = rc_str_pieces(hosts, ',');
    } else if (local_size.n && rc_str_eq(local_size, rc_env_get(reader->env, "WORLD_SIZE"))) {
        nnodes->source = "LOCAL_WORLD_SIZE is the whole size";
        nnodes->value = 1;
    }
    return true;
}

enum rc_claim rc_azureml_recognise(struct rc_reader *reader, struct rc_facts *facts)
{
    bool has_rank = is_set(reader->env, RC_STR("RANK"));
    bool has_size = is_set(reader->env, RC_STR("WORLD_SIZE"));
    const struct rc_stamp *stamp = &reader->stamp;
    struct rc_number nnodes;
    struct rc_number rank;

    if ((!has_rank && !has_size) || !is_set(reader->env, RC_STR("LOCAL_RANK")) ||
        is_set(reader->env, RC_STR("OMPI_COMM_WORLD_RANK")))
        return RC_CLAIM_ABSENT;
    if (!has_rank || !has_size) {
        rc_missing(reader, has_rank ? "RANK" : "WORLD_SIZE", has_rank ? "WORLD_SIZE" : "RANK");
        return RC_CLAIM_BROKEN;
    }
    if (!read_nnodes(reader, &nnodes) || !rc_read_number(reader, RC_STR("RANK"), RC_MAX_TASKS, &rank))
        return RC_CLAIM_BROKEN;
    if (nnodes.value == RC_UNKNOWN)
        return RC_CLAIM_ABSENT;
    rc_facts_name(reader, facts, "azureml", rc_env_get(reader->env, "AZUREML_RUN_ID"));
    if (stamp->text.n && (!rc_stamp_is_of(stamp, facts->scope, rank.value) || stamp->launcher)) {
        rc_facts_init(facts);
        return RC_CLAIM_ABSENT;
    }
    facts->field[RC_RANK] = rank;
    return RC_CLAIM_TASK;
}

/* Node and rank against each other; the core checks the rank against the size. */
static bool number_nodes(struct rc_reader *reader, struct rc_number *field)
{
    uint32_t rank = field[RC_RANK].value;
    uint32_t size = field[RC_WORLD_SIZE].value;
    uint32_t nnodes = field[RC_NNODES].value;
    uint32_t each = nnodes ? size / nnodes : 0;
    struct rc_number node = field[RC_NODE_RANK];

    if (each == 0 || size % nnodes) {
        return rc_say(reader->messages, RC103,
                      "WORLD_SIZE %u cannot be spread evenly over %u nodes (%s); nothing is set; pass the "
                      "platform's own values",
                      size, nnodes, field[RC_NNODES].source);
    }
    if (rank % each != field[RC_LOCAL_RANK].value || (node.value != RC_UNKNOWN && node.value != rank / each)) {
        return rc_say(reader->messages, RC103,
                      "RANK %u, with %u processes a node, is local rank %u of node %u, but LOCAL_RANK or "
                      "NODE_RANK says otherwise; nothing is set; pass the platform's own values",
                      rank, each, rank % each, rank / each);
    }
    field[RC_NODE_RANK] = (struct rc_number){ rank / each, node.source ? node.source : "RANK and processes a node" };
    field[RC_LOCAL_WORLD_SIZE] = (struct rc_number){ each, "WORLD_SIZE / nodes" };
    return true;
}

/* "10.0.0.4:6000" */
static struct rc_str master_host(const struct rc_env *env)
{
    struct rc_str port;
    struct rc_str host = rc_str_split(rc_env_get(env, "AZ_BATCH_MASTER_NODE"), ':', &port);

    if (!host.n)
        host = rc_env_get(env, "AZ_BATCHAI_MPI_MASTER_NODE");
    /* on one node Azure writes the loopback address, and the core decides on that itself */
    return host.n && !rc_str_is(host, "localhost") && !rc_str_starts(host, "127.") ? host : RC_ABSENT;
}

bool rc_azureml_read(struct rc_reader *reader, struct rc_facts *facts)
{
    struct rc_number *field = facts->field;

    if (!rc_read_number(reader, RC_STR("WORLD_SIZE"), RC_MAX_TASKS, &field[RC_WORLD_SIZE]) ||
        !rc_read_number(reader, RC_STR("LOCAL_RANK"), RC_MAX_TASKS, &field[RC_LOCAL_RANK]) ||
        !rc_read_number(reader, RC_STR("NODE_RANK"), RC_MAX_TASKS, &field[RC_NODE_RANK]) ||
        !read_nnodes(reader, &field[RC_NNODES]) || !number_nodes(reader, field))
        return false;
    facts->min_local_size = facts->max_local_size = field[RC_LOCAL_WORLD_SIZE].value;
    facts->node_order_rank = field[RC_RANK];
    facts->master_host = master_host(reader->env);
    facts->master_source = "master node of Azure";
    facts->master_certain = true;
    rc_read_gpus(reader, facts);
    return true;
}

/* RANK and its like are in torchrun's table. */
const struct rc_launcher rc_launcher_azureml = {
    .id = "azureml",
    .title = "Azure ML",
    .variables = {
        RC_VARIABLE("AZUREML_NODE_COUNT", RC_NNODES),
    },
};
