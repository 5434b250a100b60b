/* SPDX-License-Identifier: BSD-3-Clause */
/* A node's place from ranks and sizes: even layouts in every way they are dealt out, and what is none. */
#include "launcher/layout.h"
#include "unit.h"

enum { TEXT_SIZE = 4096 };

/* "5/8 1/2 3": rank 5 of 8, local rank 1 of 2; three nodes, where the launcher says so. */
struct row {
    struct rc_str input;
    uint32_t with; /* block or place */
    uint32_t expected;
    const char *why;
};

struct launch {
    struct rc_facts facts;
    struct rc_messages messages;
    struct rc_arena arena;
    struct rc_reader reader;
    char text[TEXT_SIZE];
};

static void begin(struct launch *launch, uint32_t rank, uint32_t size, uint32_t local_rank, uint32_t local_size)
{
    memset(launch, 0, sizeof(*launch));
    rc_facts_init(&launch->facts);
    launch->facts.field[RC_RANK] = (struct rc_number){ rank, "RANK" };
    launch->facts.field[RC_WORLD_SIZE] = (struct rc_number){ size, "SIZE" };
    launch->facts.field[RC_LOCAL_RANK] = (struct rc_number){ local_rank, "LOCAL_RANK" };
    launch->facts.field[RC_LOCAL_WORLD_SIZE] = (struct rc_number){ local_size, "LOCAL_SIZE" };
    launch->arena = (struct rc_arena){ .base = launch->text, .size = sizeof(launch->text) };
    launch->messages.arena = &launch->arena;
    launch->reader = (struct rc_reader){ .messages = &launch->messages, .arena = &launch->arena };
}

/* True where the number of nodes is known or follows. */
static bool read_row(const struct row *row, struct launch *launch)
{
    unsigned rank, size, local_rank, local_size, nodes;
    int count = sscanf(row->input.p, "%u/%u %u/%u %u", &rank, &size, &local_rank, &local_size, &nodes);

    assert_true(count >= 4);
    begin(launch, rank, size, local_rank, local_size);
    if (count == 5)
        launch->facts.field[RC_NNODES] = (struct rc_number){ nodes, "NODES" };
    return rc_layout_nnodes(&launch->reader, &launch->facts);
}

static const struct row nodes[] = {
    { TEXT("0/1 0/1"), 0, 1, "one task" },
    { TEXT("3/4 3/4 2"), 0, 1, "one node, whatever the launcher counts" },
    { TEXT("3/4 0/1 2"), 0, 2, "the launcher's number goes first: 3 and 1" },
    { TEXT("3/4 1/2 3"), 0, 3, "2, 1 and 1" },
    { TEXT("99999/100000 0/1"), 0, 100000, "100,000 nodes" },
};

static const struct row no_nodes[] = {
    { TEXT("3/4 0/3"), 0, 0, "a rest" },
    { TEXT("3/4 1/2 0"), 0, 0, "no node" },
    { TEXT("3/4 1/2 1"), 0, 0, "one node, but not all tasks on it" },
    { TEXT("3/4 1/2 4"), 0, 0, "more nodes than the other tasks can fill" },
    { TEXT("3/4 1/2 4294967294"), 0, 0, "nodes that wrap" },
    { TEXT("3/4 0/0"), 0, RC103, "no tasks here" },
    { TEXT("0/4 0/5"), 0, RC103, "more tasks here than there are" },
    { TEXT("8/8 0/2"), 0, RC103, "a rank that is the size" },
    { TEXT("5/8 2/2"), 0, RC103, "a local rank that is the local size" },
};

UNIT_ROWS(counts, "layout counts the nodes of", nodes)
{
    struct launch launch;

    assert_true(read_row(row, &launch));
    assert_int_equal(launch.facts.field[RC_NNODES].value, row->expected);
    assert_non_null(launch.facts.field[RC_NNODES].source);
    assert_int_equal(launch.messages.count, 0);
}

UNIT_ROWS(counts_none, "layout counts no nodes of", no_nodes)
{
    struct launch launch;

    assert_false(read_row(row, &launch));
    assert_int_equal(launch.messages.count, row->expected != 0);
    assert_false(rc_layout_refuse(&launch.reader, &launch.facts, "mpirun -n N"));
    /* what is wrong is said once */
    assert_int_equal(launch.messages.count, 1);
    assert_int_equal(launch.messages.list[0].id, row->expected ? row->expected : RC110);
    assert_int_equal(strstr(launch.messages.list[0].text, "mpirun -n N") != NULL, row->expected == 0);
}

static const struct row places[] = {
    { TEXT("5/8 1/2"), 2, 2, "by slot" },
    { TEXT("5/8 1/2"), 1, 1, "by node" },
    { TEXT("5/8 3/4"), 2, 0, "two a turn, second turn on the first node" },
    { TEXT("0/1 0/1"), 1, 0, "one task" },
    { TEXT("199999/200000 1/2"), 1, 99999, "the last of 100,000 nodes by node" },
    { TEXT("16777215/16777216 4095/4096"), 1, 4095, "as many tasks as are believed" },
    { TEXT("5/8 1/2"), 0, RC_UNKNOWN, "turns of nothing" },
    { TEXT("6/8 2/4"), 3, RC_UNKNOWN, "turns that do not fill a node" },
    { TEXT("1/8 1/2"), 1, RC_UNKNOWN, "a rank below those of the first turn" },
    { TEXT("4/8 1/2"), 2, RC_UNKNOWN, "another place in the turn" },
    { TEXT("3/5 0/2 3"), 2, RC_UNKNOWN, "an uneven layout" },
};

UNIT_ROWS(finds, "layout finds the node of", places)
{
    struct launch launch;

    assert_true(read_row(row, &launch));
    assert_int_equal(rc_layout_node_rank(&launch.facts, row->with), row->expected);
}

static const struct row agreements[] = {
    { TEXT("5/8 1/2"), 2, true, "by slot" },
    { TEXT("5/8 1/2"), 1, true, "by node" },
    { TEXT("5/8 1/2"), 3, false, "in no way" },
    { TEXT("5/8 1/2"), 0, false, "not on the first node" },
    { TEXT("0/8 1/2"), 0, false, "a rank below the local rank" },
    { TEXT("5/8 1/2"), 4, false, "a node that there is not" },
    { TEXT("3/5 0/2 3"), 1, false, "an uneven layout" },
    { TEXT("199999/200000 1/2"), 99999, true, "the last of 100,000 nodes" },
    { TEXT("4001/8192 2000/4096"), 1, false, "more turns than are tried" },
    { TEXT("1/6 0/3"), 1, true, "1, 3, 1 and 1 look like 3 and 3 from here: one task cannot tell" },
};

UNIT_ROWS(agrees, "layout compares", agreements)
{
    struct launch launch;

    assert_true(read_row(row, &launch));
    assert_int_equal(rc_layout_agrees(&launch.facts, row->with), row->expected);
}

/* rank and local rank of each task, from how the ranks are dealt out and not from the formula */
UNIT_TEST(deals_all, "every even layout of up to 5 nodes and 6 tasks, in every way it can be dealt out")
{
    for (uint32_t count = 1; count <= 5; count++)
        for (uint32_t local_size = 1; local_size <= 6; local_size++)
            for (uint32_t block = 1; block <= local_size; block++) {
                uint32_t used[5] = { 0 };
                uint32_t size = count * local_size;

                if (local_size % block != 0)
                    continue;
                for (uint32_t rank = 0, node = 0; rank < size; node = (node + 1) % count)
                    for (uint32_t i = 0; i < block; i++, rank++) {
                        struct launch launch;

                        begin(&launch, rank, size, used[node]++, local_size);
                        assert_true(rc_layout_nnodes(&launch.reader, &launch.facts));
                        assert_int_equal(launch.facts.field[RC_NNODES].value, count);
                        assert_int_equal(rc_layout_node_rank(&launch.facts, block), node);
                        assert_true(rc_layout_agrees(&launch.facts, node));
                    }
            }
}

/* What layout.h says of the claim that such a job is refused: not always. */
UNIT_TEST(looks_even, "1, 3, 1 and 1 tasks look even from each of them")
{
    static const struct {
        const char *task;
        uint32_t node;
        uint32_t nodes;
    } tasks[] = {
        { "0/6 0/1", 0, 6 }, { "1/6 0/3", 1, 2 }, { "4/6 1/3", 1, 2 },
        { "5/6 2/3", 1, 2 }, { "2/6 0/1", 2, 6 }, { "3/6 0/1", 3, 6 },
    };

    for (size_t i = 0; i < UNIT_COUNT(tasks); i++) {
        const struct row row = { .input = { tasks[i].task, strlen(tasks[i].task) } };
        struct launch launch;

        assert_true(read_row(&row, &launch));
        assert_true(rc_layout_agrees(&launch.facts, tasks[i].node));
        assert_int_equal(launch.facts.field[RC_NNODES].value, tasks[i].nodes);
    }
}

static const struct {
    struct rc_str input;
    uint32_t node;
    uint32_t least;
    uint32_t most;
    uint32_t in_order; /* RC_UNKNOWN: not known */
    const char *why;
} spreads[] = {
    { TEXT("5/8 1/2"), 2, 2, 2, 5, "even, by slot" },
    { TEXT("5/8 1/2"), 1, 2, 2, 3, "even, by node: another number node by node" },
    { TEXT("0/1 0/1"), 0, 1, 1, 0, "one task" },
    { TEXT("4/5 1/2 3"), 2, 1, 2, RC_UNKNOWN, "2, 1 and 2 from a large node" },
    { TEXT("5/6 2/3 3"), 1, 2, 3, RC_UNKNOWN, "the mean is a whole number, and not the size here" },
    { TEXT("199999/200000 1/2"), 99999, 2, 2, 199999, "100,000 nodes" },
};

UNIT_ROWS(spreads_so, "layout spreads", spreads)
{
    const struct row numbers = { .input = row->input };
    struct launch launch;

    assert_true(read_row(&numbers, &launch));
    launch.facts.field[RC_NODE_RANK].value = row->node;
    rc_layout_spread(&launch.facts);
    assert_int_equal(launch.facts.min_local_size, row->least);
    assert_int_equal(launch.facts.max_local_size, row->most);
    assert_int_equal(launch.facts.node_order_rank.value, row->in_order);
}
