/* SPDX-License-Identifier: BSD-3-Clause */
#include "launcher/layout.h"

#include "launcher/hosts.h"

/* More than any -ppn in use makes. */
enum { ROUNDS_MAX = 1024 };

bool rc_layout_nnodes(struct rc_reader *reader, struct rc_facts *facts)
{
    const struct rc_number *rank = &facts->field[RC_RANK];
    const struct rc_number *size = &facts->field[RC_WORLD_SIZE];
    const struct rc_number *local_rank = &facts->field[RC_LOCAL_RANK];
    const struct rc_number *local = &facts->field[RC_LOCAL_WORLD_SIZE];
    struct rc_number *nnodes = &facts->field[RC_NNODES];

    if (local->value > size->value || rank->value >= size->value || local_rank->value >= local->value)
        return rc_say(reader->messages, RC103,
                      "%s is %u, %s is %u, %s is %u and %s is %u, which contradict each other; nothing is set; start "
                      "the command with its launcher again",
                      rank->source, rank->value, size->source, size->value, local_rank->source, local_rank->value,
                      local->source, local->value);
    if (local->value == size->value && local_rank->value == rank->value) {
        nnodes->value = 1;
        nnodes->source = rc_format(reader->arena, "%s is the whole size", local->source);
    } else if (nnodes->value == RC_UNKNOWN && size->value % local->value == 0) {
        nnodes->value = size->value / local->value;
        nnodes->source = rc_format(reader->arena, "%s / %s", size->source, local->source);
        facts->nnodes_derived = true;
    }
    /* each other node has at least one rank */
    return nnodes->value != RC_UNKNOWN && nnodes->value > 0 && nnodes->value - 1 <= size->value - local->value &&
           (nnodes->value > 1 || local->value == size->value);
}

static bool is_even(const struct rc_facts *facts)
{
    return (uint64_t)facts->field[RC_NNODES].value * facts->field[RC_LOCAL_WORLD_SIZE].value ==
           facts->field[RC_WORLD_SIZE].value;
}

uint32_t rc_layout_node_rank(const struct rc_facts *facts, uint32_t block)
{
    uint32_t rank = facts->field[RC_RANK].value;
    uint32_t local_rank = facts->field[RC_LOCAL_RANK].value;
    uint32_t nnodes = facts->field[RC_NNODES].value;
    uint64_t before; /* ranks of earlier rounds */
    uint32_t node;

    if (!is_even(facts) || block == 0 || facts->field[RC_LOCAL_WORLD_SIZE].value % block != 0)
        return RC_UNKNOWN;
    before = (uint64_t)(local_rank / block) * block * nnodes;
    if (rank < before || (rank - before) % block != local_rank % block)
        return RC_UNKNOWN;
    node = (uint32_t)((rank - before) / block);
    return node < nnodes ? node : RC_UNKNOWN;
}

/* In round k of blocks of b: rank = (k * nnodes + place) * b + w, local rank = k * b + w.
 * So rank - local rank = b * (k * (nnodes - 1) + place), which gives b for each k. */
bool rc_layout_agrees(const struct rc_facts *facts, uint32_t place)
{
    uint32_t rank = facts->field[RC_RANK].value;
    uint32_t local_rank = facts->field[RC_LOCAL_RANK].value;
    uint32_t nnodes = facts->field[RC_NNODES].value;

    if (rank < local_rank || place >= nnodes || !is_even(facts))
        return false;
    for (uint32_t round = 0; round <= local_rank && round < ROUNDS_MAX; round++) {
        uint64_t factor = (uint64_t)round * (nnodes - 1) + place;

        if (factor == 0 && rank == local_rank)
            return true;
        if (factor == 0 || factor > rank - local_rank || (rank - local_rank) % factor != 0)
            continue;
        if (rc_layout_node_rank(facts, (uint32_t)((rank - local_rank) / factor)) == place)
            return true;
    }
    return false;
}

bool rc_layout_take_job_hosts(const struct rc_env *env, struct rc_facts *facts)
{
    struct rc_str hosts = rc_env_get(env, "SLURM_JOB_NODELIST");
    uint32_t count;

    if (!rc_hostlist_count(hosts, &count) || count != facts->field[RC_NNODES].value)
        return false;
    facts->hosts = hosts;
    facts->master_node = 0;
    facts->master_source = "first host of SLURM_JOB_NODELIST, checked by rank 0";
    return true;
}

void rc_layout_spread(struct rc_facts *facts)
{
    uint32_t per_node = facts->field[RC_WORLD_SIZE].value / facts->field[RC_NNODES].value;

    facts->min_local_size = facts->max_local_size = facts->field[RC_LOCAL_WORLD_SIZE].value;
    if (is_even(facts)) {
        facts->node_order_rank.value = facts->field[RC_NODE_RANK].value * per_node + facts->field[RC_LOCAL_RANK].value;
        facts->node_order_rank.source = "node rank, local size and local rank";
        return;
    }
    /* some nodes have fewer than the mean, others more */
    if (per_node < facts->min_local_size)
        facts->min_local_size = per_node;
    if (per_node >= facts->max_local_size)
        facts->max_local_size = per_node + 1;
}

bool rc_layout_refuse(struct rc_reader *reader, const struct rc_facts *facts, const char *cure)
{
    if (!reader->messages->has_error)
        rc_say(reader->messages, RC110,
               "rank %u of %u and local rank %u of %u do not determine the node of this task; nothing is set; start "
               "the same number of tasks on each node: %s",
               facts->field[RC_RANK].value, facts->field[RC_WORLD_SIZE].value, facts->field[RC_LOCAL_RANK].value,
               facts->field[RC_LOCAL_WORLD_SIZE].value, cure);
    return false;
}
