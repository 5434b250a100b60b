/* SPDX-License-Identifier: BSD-3-Clause */
#include "launcher/apinfo.h"

/* Offsets in the header: int, padded to eight bytes, and size_t. */
enum {
    VERSION = 0,
    TASK_SIZE = 64,
    TASK_OFFSET = 72,
    TASK_COUNT = 80,
    NODE_SIZE = 88,
    NODE_OFFSET = 96,
    NODE_COUNT = 104,
    HEADER_SIZE = 108,
};

/* And in the records. */
enum {
    TASK_LOCAL = 0,
    TASK_NODE = 8,
    TASK_RECORD = 12,
    NODE_NAME = 4,
    NODE_NAME_SIZE = 64,
    NODE_RECORD = NODE_NAME + NODE_NAME_SIZE,
};

/* The node that reads the file has written it: it is in the node's byte order. */
static uint64_t number_at(const struct rc_apinfo *info, uint64_t offset, unsigned size)
{
    union {
        unsigned char bytes[8];
        uint32_t four;
        uint64_t eight;
    } value = { .eight = 0 };

    for (unsigned i = 0; i < size; i++)
        value.bytes[i] = (unsigned char)info->bytes.p[offset + i];
    return size == 4 ? value.four : value.eight;
}

static bool table_fits(const struct rc_apinfo *info, uint64_t offset, uint64_t size, uint32_t count, uint64_t least)
{
    return size >= least && size <= info->bytes.n && offset <= info->bytes.n && count > 0 &&
           count <= (info->bytes.n - offset) / size;
}

static bool read_header(struct rc_apinfo *info)
{
    uint64_t version;
    uint64_t tasks;
    uint64_t nodes;

    if (!info->bytes.p || info->bytes.n < HEADER_SIZE)
        return false;
    version = number_at(info, VERSION, 4);
    tasks = number_at(info, TASK_COUNT, 4);
    nodes = number_at(info, NODE_COUNT, 4);
    if (version < 1 || version > 5 || tasks > RC_MAX_TASKS || nodes > RC_MAX_TASKS)
        return false;
    info->tasks = (uint32_t)tasks;
    info->nodes = (uint32_t)nodes;
    info->task_size = number_at(info, TASK_SIZE, 8);
    info->task_offset = number_at(info, TASK_OFFSET, 8);
    info->node_size = number_at(info, NODE_SIZE, 8);
    info->node_offset = number_at(info, NODE_OFFSET, 8);
    return table_fits(info, info->task_offset, info->task_size, info->tasks, TASK_RECORD) &&
           table_fits(info, info->node_offset, info->node_size, info->nodes, NODE_RECORD);
}

void rc_apinfo_task(const struct rc_apinfo *info, uint32_t rank, uint32_t *node, uint32_t *local_rank)
{
    uint64_t record = info->task_offset + rank * info->task_size;

    *node = (uint32_t)number_at(info, record + TASK_NODE, 4);
    *local_rank = (uint32_t)number_at(info, record + TASK_LOCAL, 4);
}

bool rc_apinfo_read(struct rc_str bytes, struct rc_apinfo *out)
{
    struct rc_apinfo info = { .bytes = bytes };
    uint32_t node;
    uint32_t local_rank;

    if (!read_header(&info))
        return false;
    for (uint32_t rank = 0; rank < info.tasks; rank++) {
        rc_apinfo_task(&info, rank, &node, &local_rank);
        if (node >= info.nodes || local_rank >= info.tasks)
            return false;
    }
    *out = info;
    return true;
}

struct rc_str rc_apinfo_host(const struct rc_apinfo *info, uint32_t node)
{
    struct rc_str name = { info->bytes.p + info->node_offset + node * info->node_size + NODE_NAME, 0 };

    while (name.n < NODE_NAME_SIZE && name.p[name.n])
        name.n++;
    return name.n ? name : RC_ABSENT;
}

static bool contradicts_field(struct rc_reader *reader, struct rc_number *field, uint32_t value)
{
    if (field->value != RC_UNKNOWN && field->value != value) {
        rc_message_add(reader->messages, RC103,
                       rc_format(reader->arena,
                                 "%s is %u, but %u in the file PALS_APINFO; nothing is set; start the command with its "
                                 "launcher again",
                                 field->source, field->value, value));
        return true;
    }
    field->value = value;
    field->source = "PALS_APINFO";
    return false;
}

/* Nodes are numbered in the order of their lowest ranks, so that RANK 0 is on
 * the first: nearly always the file's own order. */
static void number_nodes(const struct rc_apinfo *info, struct rc_facts *facts, uint32_t own_node, uint64_t *seen)
{
    uint32_t before = 0;
    uint32_t tasks_before = 0;
    uint32_t largest = 0;
    uint32_t local_rank;
    uint32_t node;

    for (uint32_t i = 0; i < RC_NODE_SET_BITS / 64; i++)
        seen[i] = 0;
    for (uint32_t rank = 0; rank < info->tasks; rank++) {
        rc_apinfo_task(info, rank, &node, &local_rank);
        if (node == own_node)
            break;
        before += !(seen[node / 64] >> node % 64 & 1);
        seen[node / 64] |= (uint64_t)1 << node % 64;
    }
    for (uint32_t rank = 0; rank < info->tasks; rank++) {
        rc_apinfo_task(info, rank, &node, &local_rank);
        tasks_before += (uint32_t)(seen[node / 64] >> node % 64 & 1);
        if (local_rank >= largest)
            largest = local_rank + 1;
    }
    facts->field[RC_NODE_RANK].value = before;
    facts->node_order_rank.value = tasks_before + facts->field[RC_LOCAL_RANK].value;
    facts->node_order_rank.source = "PALS_APINFO";
    facts->max_local_size = largest;
    /* unless all have as many as the largest, some have fewer than the mean */
    facts->min_local_size = (uint64_t)largest * info->nodes == info->tasks ? largest : info->tasks / info->nodes;
}

enum rc_apinfo_answer rc_apinfo_fill(struct rc_reader *reader, struct rc_facts *facts)
{
    struct rc_str path = rc_env_get(reader->env, "PALS_APINFO");
    struct rc_number *field = facts->field;
    uint32_t rank = field[RC_RANK].value;
    uint32_t local_size = 0;
    uint32_t local_rank;
    uint32_t node;
    uint32_t first;
    struct rc_apinfo info;

    if (!path.n || !rc_learned_file(reader, path) || !rc_apinfo_read(reader->here->host_file, &info) ||
        info.nodes > RC_NODE_SET_BITS)
        return RC_APINFO_NONE;
    if (rank >= info.tasks) {
        contradicts_field(reader, &field[RC_WORLD_SIZE], info.tasks);
        rc_message_add(reader->messages, RC103,
                       rc_format(reader->arena,
                                 "%s is %u, but the file PALS_APINFO has %u tasks; nothing is set; start the command "
                                 "with its launcher again",
                                 field[RC_RANK].source, rank, info.tasks));
        return RC_APINFO_WRONG;
    }
    rc_apinfo_task(&info, rank, &node, &local_rank);
    for (uint32_t i = 0; i < info.tasks; i++) {
        uint32_t other;

        rc_apinfo_task(&info, i, &first, &other);
        local_size += first == node;
    }
    if (contradicts_field(reader, &field[RC_WORLD_SIZE], info.tasks) ||
        contradicts_field(reader, &field[RC_NODE_RANK], node) ||
        contradicts_field(reader, &field[RC_LOCAL_RANK], local_rank) ||
        contradicts_field(reader, &field[RC_LOCAL_WORLD_SIZE], local_size) ||
        contradicts_field(reader, &field[RC_NNODES], info.nodes))
        return RC_APINFO_WRONG;
    number_nodes(&info, facts, node, reader->node_set);
    rc_apinfo_task(&info, 0, &first, &local_rank);
    facts->master_host = rc_apinfo_host(&info, first);
    facts->master_source = "host of rank 0 in the file PALS_APINFO";
    facts->master_certain = true;
    return RC_APINFO_READ;
}
