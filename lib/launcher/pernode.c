/* SPDX-License-Identifier: BSD-3-Clause */
#include "launcher/families.h"

static bool is_set(const struct rc_env *env, struct rc_str name)
{
    return rc_env_find(env, name).n > 0;
}

enum rc_claim rc_pernode_claim(struct rc_reader *reader, struct rc_facts *facts, const struct rc_pernode *node,
                               uint32_t index, const char *source)
{
    rc_facts_name(reader, facts, node->family, node->run_id);
    if (is_set(reader->env, RC_STR("LOCAL_RANK")) &&
        (!rc_stamp_is_of(&reader->stamp, facts->scope, index) || reader->stamp.launcher)) {
        rc_facts_init(facts);
        return RC_CLAIM_ABSENT;
    }
    facts->field[RC_RANK].value = index;
    facts->field[RC_RANK].source = source;
    return RC_CLAIM_TASK;
}

enum rc_claim rc_pernode_recognise(struct rc_reader *reader, struct rc_facts *facts, const struct rc_pernode *node)
{
    bool has_index = is_set(reader->env, node->index);
    bool has_count = is_set(reader->env, node->count);
    struct rc_number index;

    if (!has_index && (!has_count || is_set(reader->env, RC_STR("LOCAL_RANK"))))
        return RC_CLAIM_ABSENT;
    if (!has_index || !has_count) {
        rc_missing(reader, has_index ? node->index.p : node->count.p, has_index ? node->count.p : node->index.p);
        return RC_CLAIM_BROKEN;
    }
    if (!rc_read_number(reader, node->index, RC_MAX_TASKS, &index))
        return RC_CLAIM_BROKEN;
    return rc_pernode_claim(reader, facts, node, index.value, index.source);
}

void rc_pernode_fill(struct rc_facts *facts, uint32_t count, const char *source)
{
    static const char alone[] = "one task a node";
    struct rc_number *field = facts->field;

    field[RC_NODE_RANK] = field[RC_RANK];
    field[RC_WORLD_SIZE] = field[RC_NNODES] = (struct rc_number){ count, source };
    field[RC_LOCAL_RANK] = (struct rc_number){ 0, alone };
    field[RC_LOCAL_WORLD_SIZE] = (struct rc_number){ 1, alone };
    facts->min_local_size = facts->max_local_size = 1;
    facts->node_order_rank = field[RC_RANK];
    /* believed: the name may be that of a service in front of the node, so RANK 0
     * cannot compare it with its own addresses */
    facts->master_certain = true;
}

/* Whether the list, where there is one, has as many hosts as there are nodes. */
static bool hosts_fit(struct rc_reader *reader, const struct rc_pernode *node, struct rc_str hosts, uint32_t count)
{
    uint32_t listed = rc_str_pieces(hosts, '\n');

    if (!hosts.n || listed == count)
        return true;
    return rc_say(reader->messages, RC103,
                  "%s has %u lines, but %s is %u; nothing is set; pass the platform's own values", node->hosts.p,
                  listed, node->count.p, count);
}

static void read_master(struct rc_reader *reader, struct rc_facts *facts, const struct rc_pernode *node,
                        struct rc_str hosts)
{
    if (node->master.p) {
        facts->master_host = rc_env_find(reader->env, node->master);
        facts->master_source = node->master.p;
    } else if (hosts.n) {
        facts->master_host = rc_str_split(hosts, '\n', &hosts);
        facts->master_source = rc_format(reader->arena, "first line of %s", node->hosts.p);
    }
    facts->master_comes_later = node->by_dns;
    if (node->port.p) {
        facts->reserved_ports = rc_env_find(reader->env, node->port);
        facts->port_source = node->port.p;
    }
}

bool rc_pernode_read(struct rc_reader *reader, struct rc_facts *facts, const struct rc_pernode *node)
{
    struct rc_str hosts = node->hosts.p ? rc_env_find(reader->env, node->hosts) : RC_ABSENT;
    struct rc_number count;

    if (!rc_read_number(reader, node->count, RC_MAX_TASKS, &count) || !hosts_fit(reader, node, hosts, count.value))
        return false;
    rc_pernode_fill(facts, count.value, count.source);
    read_master(reader, facts, node, hosts);
    if (node->gpus.p)
        rc_pernode_gpus(reader, facts, node->gpus);
    return true;
}

void rc_pernode_gpus(struct rc_reader *reader, struct rc_facts *facts, struct rc_str name)
{
    if (!rc_env_get(reader->env, "CUDA_VISIBLE_DEVICES").p &&
        rc_parse_u32(rc_env_find(reader->env, name), RC_MAX_TASKS, &facts->gpus.value))
        facts->gpus.source = name.p;
    else
        rc_read_gpus(reader, facts);
}
