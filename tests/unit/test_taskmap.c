/* SPDX-License-Identifier: BSD-3-Clause */
/* Task maps: which node each task is on under an arbitrary distribution. */
#include "launcher/layout.h"
#include "unit.h"

struct row {
    struct rc_str input;
    uint32_t tasks;
    uint32_t nodes;
    uint32_t node;
    struct rc_taskmap_node out;
    const char *why;
};

static const struct row taken[] = {
    { TEXT("(vector,(0,1,1))"), 1, 1, 0, { 0, 0, 1, 0 }, "one task" },
    { TEXT("(vector,(0,1,4))"), 4, 1, 0, { 0, 0, 4, 0 }, "one node" },
    { TEXT("(vector,(0,2,1))"), 2, 2, 0, { 0, 0, 1, 0 }, "two nodes, seen from the first" },
    { TEXT("(vector,(0,2,1))"), 2, 2, 1, { 0, 1, 1, 1 }, "two nodes, seen from the second" },
    { TEXT("(vector,(0,2,2))"), 4, 2, 1, { 0, 1, 2, 2 }, "blocks of two" },
    { TEXT("(vector,(1,1,1),(0,1,1))"), 2, 2, 0, { 1, 1, 1, 1 }, "rank 0 is on node 1, seen from node 0" },
    { TEXT("(vector,(1,1,1),(0,1,1))"), 2, 2, 1, { 1, 0, 1, 0 }, "rank 0 is on node 1, seen from it" },
    { TEXT("(vector,(0,2,1),(0,2,1))"), 4, 2, 0, { 0, 0, 2, 0 }, "cyclic, seen from node 0" },
    { TEXT("(vector,(0,2,1),(0,2,1))"), 4, 2, 1, { 0, 1, 2, 2 }, "cyclic, seen from node 1" },
    { TEXT("(vector,(1,1,1),(0,1,1),(1,1,1),(0,1,1))"), 4, 2, 0, { 1, 1, 2, 2 }, "cr2,cr1,cr2,cr1, seen from cr1" },
    { TEXT("(vector,(0,1,3),(1,1,1))"), 4, 2, 1, { 0, 1, 1, 3 }, "uneven" },
    { TEXT("(vector,(2,1,2),(0,2,1))"), 4, 3, 0, { 2, 1, 1, 2 }, "the last node first, seen from node 0" },
    { TEXT("(vector,(2,1,2),(0,2,1))"), 4, 3, 1, { 2, 2, 1, 3 }, "the last node first, seen from node 1" },
    { TEXT("(vector,(2,1,1),(1,1,1),(0,1,1),(2,1,5))"),
      8,
      3,
      0,
      { 2, 2, 1, 7 },
      "later tasks of an earlier node count before ours" },
    { TEXT("(vector,(0,4096,1))"), 4096, 4096, 4095, { 0, 4095, 1, 4095 }, "many nodes" },
    { TEXT("(vector,(0,64,1))"), 64, 64, 63, { 0, 63, 1, 63 }, "as many nodes as bits in a word" },
    { TEXT("(vector,(0,65,1))"), 65, 65, 64, { 0, 64, 1, 64 }, "one more" },
    { TEXT("0"), 1, 1, 0, { 0, 0, 1, 0 }, "one task, plain" },
    { TEXT("0x4"), 4, 1, 0, { 0, 0, 4, 0 }, "one node, plain" },
    { TEXT("0-1"), 2, 2, 1, { 0, 1, 1, 1 }, "two nodes, plain" },
    { TEXT("1,0"), 2, 2, 0, { 1, 1, 1, 1 }, "two nodes, the other way round" },
    { TEXT("1,0,1,0"), 4, 2, 1, { 1, 0, 2, 0 }, "two nodes in turn, seen from the first one" },
    { TEXT("1,0,1,0"), 4, 2, 0, { 1, 1, 2, 2 }, "two nodes in turn, seen from the other" },
    { TEXT("2x2,0,1x2"), 5, 3, 1, { 2, 2, 2, 3 }, "uneven nodes" },
    { TEXT("2-3x8,0-1x8"), 32, 4, 1, { 2, 3, 8, 24 }, "the second switch first" },
    { TEXT("0-65535x8"), 524288, 65536, 65535, { 0, 65535, 8, 524280 }, "as many nodes as Slurm can have" },
};

static const struct row refused[] = {
    { NO_TEXT, 2, 2, 0, { 0 }, "unset" },
    { TEXT(""), 2, 2, 0, { 0 }, "empty" },
    { TEXT("(vector,(0,1,1,1))"), 1, 1, 0, { 0 }, "a run of four numbers" },
    { TEXT("(vector,(0,1,1)"), 1, 1, 0, { 0 }, "not closed" },
    { TEXT("(vector,(0,1,1),)"), 1, 1, 0, { 0 }, "trailing comma" },
    { TEXT("(vector,(-1,1,1))"), 1, 1, 0, { 0 }, "negative node" },
    { TEXT("(vector,(0,0,1))"), 0, 0, 0, { 0 }, "no nodes" },
    { TEXT("(vector,(0,1,0))"), 0, 1, 0, { 0 }, "no tasks" },
    { TEXT("(vector,(4294967296,1,1))"), 1, 1, 0, { 0 }, "a node that wraps to 0" },
    { TEXT("(vector,(0,1,16777216),(0,1,16777216))"), 1, 1, 0, { 0 }, "far more tasks than there are" },
    { TEXT("(vector,(0,1,2))"), 1, 1, 0, { 0 }, "a task too many" },
    { TEXT("(vector,(0,1,1))"), 2, 1, 0, { 0 }, "a task too few" },
    { TEXT("(vector,(1,1,1))"), 1, 1, 0, { 0 }, "a node that is not there" },
    { TEXT("(vector,(0,1,2))"), 2, 2, 0, { 0 }, "a node without a task" },
    { TEXT("(vector,(0,2,1))"), 2, 2, 2, { 0 }, "our node is not there" },
    { TEXT("(vector,(0,2,1))"), 2, 2, RC_UNKNOWN, { 0 }, "our node is not known" },
    { TEXT("(vector,(0,1,1))\n"), 1, 1, 0, { 0 }, "trailing newline" },
    { TEXT("1-0"), 2, 2, 0, { 0 }, "nodes backwards" },
    { TEXT("0x"), 1, 1, 0, { 0 }, "no number of tasks" },
    { TEXT("0x0"), 0, 1, 0, { 0 }, "no task" },
    { TEXT("0-0-0"), 1, 1, 0, { 0 }, "two last nodes" },
    { TEXT("0-4294967296"), 1, 1, 0, { 0 }, "a last node that wraps to 0" },
    { TEXT("0-16777216x16777216"), 1, 1, 0, { 0 }, "plain, all as large as a number may be" },
};

static bool read_row(const struct row *row, struct rc_taskmap_node *out)
{
    uint64_t *seen = unit_guard_memory((row->nodes + 63) / 64 * sizeof(*seen));

    return rc_taskmap_read(unit_guard(row->input), row->tasks, row->nodes, row->node, seen, out);
}

UNIT_ROWS(takes, "taskmap takes", taken)
{
    struct rc_taskmap_node out;

    assert_true(read_row(row, &out));
    assert_int_equal(out.master_node, row->out.master_node);
    assert_int_equal(out.node_rank, row->out.node_rank);
    assert_int_equal(out.tasks, row->out.tasks);
    assert_int_equal(out.tasks_before, row->out.tasks_before);
}

UNIT_ROWS(refuses, "taskmap refuses", refused)
{
    struct rc_taskmap_node out, before;

    memset(&out, 0x5a, sizeof(out));
    memcpy(&before, &out, sizeof(out));
    assert_false(read_row(row, &out));
    assert_memory_equal(&out, &before, sizeof(out));
}

/* What a map says, counted the slow and simple way from the node of each task. */
static struct rc_taskmap_node count_simply(const uint32_t *node_of, uint32_t tasks, uint32_t nodes, uint32_t node)
{
    struct rc_taskmap_node out = { .master_node = node_of[0] };
    uint32_t first[16];
    uint32_t count[16] = { 0 };

    for (uint32_t i = 0; i < nodes; i++)
        first[i] = tasks;
    for (uint32_t task = tasks; task-- > 0;) {
        first[node_of[task]] = task;
        count[node_of[task]]++;
    }
    out.tasks = count[node];
    for (uint32_t i = 0; i < nodes; i++) {
        if (first[i] < first[node]) {
            out.node_rank++;
            out.tasks_before += count[i];
        }
    }
    return out;
}

/* Random placements in both writings agree with the simple count. */
UNIT_TEST(agrees, "random placements agree with a simple count")
{
    uint32_t random = 12345;

    for (int round = 0; round < 2000; round++) {
        uint32_t node_of[24];
        char vector[24 * 12 + 16] = "(vector";
        UNIT_ARENA(arena, 24 * 4);
        const char *plain;
        uint32_t nodes = 1 + (random = random * 1664525 + 1013904223) / 65536 % 6;
        uint32_t tasks = nodes + (random = random * 1664525 + 1013904223) / 65536 % 18;

        for (uint32_t task = 0; task < tasks; task++) {
            random = random * 1664525 + 1013904223;
            /* every node has a task: the last ones see to it */
            node_of[task] = tasks - task <= nodes ? tasks - task - 1 : random / 65536 % nodes;
            snprintf(vector + strlen(vector), sizeof(vector) - strlen(vector), ",(%u,1,1)", node_of[task]);
        }
        snprintf(vector + strlen(vector), sizeof(vector) - strlen(vector), ")");
        plain = rc_taskmap_write(node_of, tasks, &arena);
        assert_non_null(plain);
        for (uint32_t node = 0; node < nodes; node++) {
            struct rc_taskmap_node expected = count_simply(node_of, tasks, nodes, node);
            struct rc_taskmap_node out;
            uint64_t seen;

            for (int writing = 0; writing < 2; writing++) {
                const char *map = writing ? plain : vector;

                if (!rc_taskmap_read(rc_str(map), tasks, nodes, node, &seen, &out))
                    fail_msg("%s is refused", map);
                if (memcmp(&out, &expected, sizeof(out)) != 0)
                    fail_msg("%s, node %u: master %u, node rank %u, %u tasks, %u before; not %u %u %u %u", map, node,
                             out.master_node, out.node_rank, out.tasks, out.tasks_before, expected.master_node,
                             expected.node_rank, expected.tasks, expected.tasks_before);
            }
        }
    }
}

static const struct {
    struct rc_str input;
    uint32_t node_of[12];
    uint32_t tasks;
    const char *why;
} written[] = {
    { TEXT("0"), { 0 }, 1, "one task" },
    { TEXT("0-2"), { 0, 1, 2 }, 3, "a task on each" },
    { TEXT("0-1x2"), { 0, 0, 1, 1 }, 4, "two on each" },
    { TEXT("0-1,0-1"), { 0, 1, 0, 1 }, 4, "in turn" },
    { TEXT("2-3x2,0-1x2"), { 2, 2, 3, 3, 0, 0, 1, 1 }, 8, "the second half first" },
    { TEXT("1x2,2,0"), { 1, 1, 2, 0 }, 4, "uneven" },
};

UNIT_ROWS(writes, "taskmap writes", written)
{
    UNIT_ARENA(arena, 64);

    assert_string_equal(rc_taskmap_write(row->node_of, row->tasks, &arena), row->input.p);
    arena = (struct rc_arena){ .base = arena.base, .size = row->input.n };
    assert_null(rc_taskmap_write(row->node_of, row->tasks, &arena));
}
