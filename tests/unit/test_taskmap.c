/* SPDX-License-Identifier: BSD-3-Clause */
/* Task maps: which node each task is on under an arbitrary distribution. */
#include "launcher/taskmap.h"
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NODES_MAX = 4096 };

struct row {
    struct rc_str input;
    struct rc_str hosts;
    uint32_t tasks;
    uint32_t nodes;
    uint32_t node;
    struct rc_taskmap_node out;
    const char *why;
};

#define N2 TEXT("n[1-2]")
#define N3 TEXT("n[1-3]")

static const struct row taken[] = {
    { TEXT("(vector,(0,1,1))"), NO_TEXT, 1, 1, 0, { 0, 0, 1, 0 }, "one task" },
    { TEXT("(vector,(0,1,4))"), NO_TEXT, 4, 1, 0, { 0, 0, 4, 0 }, "one node" },
    { TEXT("(vector,(0,2,1))"), NO_TEXT, 2, 2, 0, { 0, 0, 1, 0 }, "two nodes, seen from the first" },
    { TEXT("(vector,(0,2,1))"), NO_TEXT, 2, 2, 1, { 0, 1, 1, 1 }, "two nodes, seen from the second" },
    { TEXT("(vector,(0,2,2))"), NO_TEXT, 4, 2, 1, { 0, 1, 2, 2 }, "blocks of two" },
    { TEXT("(vector,(1,1,1),(0,1,1))"), NO_TEXT, 2, 2, 0, { 1, 1, 1, 1 }, "rank 0 is on node 1, seen from node 0" },
    { TEXT("(vector,(1,1,1),(0,1,1))"), NO_TEXT, 2, 2, 1, { 1, 0, 1, 0 }, "rank 0 is on node 1, seen from it" },
    { TEXT("(vector,(0,2,1),(0,2,1))"), NO_TEXT, 4, 2, 0, { 0, 0, 2, 0 }, "cyclic, seen from node 0" },
    { TEXT("(vector,(0,2,1),(0,2,1))"), NO_TEXT, 4, 2, 1, { 0, 1, 2, 2 }, "cyclic, seen from node 1" },
    { TEXT("(vector,(1,1,1),(0,1,1),(1,1,1),(0,1,1))"),
      NO_TEXT,
      4,
      2,
      0,
      { 1, 1, 2, 2 },
      "cr2,cr1,cr2,cr1, seen from cr1" },
    { TEXT("(vector,(0,1,3),(1,1,1))"), NO_TEXT, 4, 2, 1, { 0, 1, 1, 3 }, "uneven" },
    { TEXT("(vector,(2,1,2),(0,2,1))"), NO_TEXT, 4, 3, 0, { 2, 1, 1, 2 }, "the last node first, seen from node 0" },
    { TEXT("(vector,(2,1,2),(0,2,1))"), NO_TEXT, 4, 3, 1, { 2, 2, 1, 3 }, "the last node first, seen from node 1" },
    { TEXT("(vector,(2,1,1),(1,1,1),(0,1,1),(2,1,5))"),
      NO_TEXT,
      8,
      3,
      0,
      { 2, 2, 1, 7 },
      "later tasks of an earlier node count before ours" },
    { TEXT("(vector,(0,4096,1))"), NO_TEXT, 4096, NODES_MAX, 4095, { 0, 4095, 1, 4095 }, "many nodes" },
    { TEXT("(vector,(0,64,1))"), NO_TEXT, 64, 64, 63, { 0, 63, 1, 63 }, "as many nodes as bits in a word" },
    { TEXT("(vector,(0,65,1))"), NO_TEXT, 65, 65, 64, { 0, 64, 1, 64 }, "one more" },
    { TEXT("n1"), TEXT("n1"), 1, 1, 0, { 0, 0, 1, 0 }, "one host" },
    { TEXT("n1,n2"), N2, 2, 2, 1, { 0, 1, 1, 1 }, "two hosts" },
    { TEXT("n2,n1"), N2, 2, 2, 0, { 1, 1, 1, 1 }, "two hosts, the other way round" },
    { TEXT("n2,n1,n2,n1"), N2, 4, 2, 1, { 1, 0, 2, 0 }, "two hosts in turn, seen from the first one" },
    { TEXT("n2,n1,n2,n1"), N2, 4, 2, 0, { 1, 1, 2, 2 }, "two hosts in turn, seen from the other" },
    { TEXT("n3,n3,n1,n2,n2"), N3, 5, 3, 1, { 2, 2, 2, 3 }, "uneven hosts" },
    { TEXT("b04-10,b04-09"), TEXT("b04-[09-10]"), 2, 2, 0, { 1, 1, 1, 1 }, "padded hosts" },
};

static const struct row refused[] = {
    { NO_TEXT, N2, 2, 2, 0, { 0 }, "unset" },
    { TEXT(""), N2, 2, 2, 0, { 0 }, "empty" },
    { TEXT("("), NO_TEXT, 1, 1, 0, { 0 }, "a bracket" },
    { TEXT("(vector"), NO_TEXT, 1, 1, 0, { 0 }, "only the word" },
    { TEXT("(vector,"), NO_TEXT, 1, 1, 0, { 0 }, "nothing behind the word" },
    { TEXT("(vector,)"), NO_TEXT, 1, 1, 0, { 0 }, "no run" },
    { TEXT("(vector,())"), NO_TEXT, 1, 1, 0, { 0 }, "an empty run" },
    { TEXT("(vector,(0))"), NO_TEXT, 1, 1, 0, { 0 }, "a run of one number" },
    { TEXT("(vector,(0,1))"), NO_TEXT, 1, 1, 0, { 0 }, "a run of two numbers" },
    { TEXT("(vector,(0,1,1,1))"), NO_TEXT, 1, 1, 0, { 0 }, "a run of four numbers" },
    { TEXT("(vector,(0,1,1)"), NO_TEXT, 1, 1, 0, { 0 }, "not closed" },
    { TEXT("(vector,(0,1,1"), NO_TEXT, 1, 1, 0, { 0 }, "the run is not closed" },
    { TEXT("(vector,0,1,1)"), NO_TEXT, 1, 1, 0, { 0 }, "the run is not opened" },
    { TEXT("(vector,(0,1,1)))"), NO_TEXT, 1, 1, 0, { 0 }, "closed twice" },
    { TEXT("(vector,(0,1,1),)"), NO_TEXT, 1, 1, 0, { 0 }, "comma behind" },
    { TEXT("(vector,,(0,1,1))"), NO_TEXT, 1, 1, 0, { 0 }, "comma before" },
    { TEXT("(vector,(0,1,1)(1,1,1))"), NO_TEXT, 2, 2, 0, { 0 }, "no comma between" },
    { TEXT("(vector, (0,1,1))"), NO_TEXT, 1, 1, 0, { 0 }, "a blank" },
    { TEXT("(vector,(0, 1,1))"), NO_TEXT, 1, 1, 0, { 0 }, "a blank in a run" },
    { TEXT("(vector,(-1,1,1))"), NO_TEXT, 1, 1, 0, { 0 }, "negative node" },
    { TEXT("(vector,(0,0,1))"), NO_TEXT, 0, 0, 0, { 0 }, "no nodes" },
    { TEXT("(vector,(0,1,0))"), NO_TEXT, 0, 1, 0, { 0 }, "no tasks" },
    { TEXT("(vector,(00,1,1))"), NO_TEXT, 1, 1, 0, { 0 }, "leading zero" },
    { TEXT("(vector,(4294967296,1,1))"), NO_TEXT, 1, 1, 0, { 0 }, "a node that wraps to 0" },
    { TEXT("(vector,(0,4294967297,1))"), NO_TEXT, 1, 1, 0, { 0 }, "nodes that wrap to 1" },
    { TEXT("(vector,(16777216,16777216,16777216))"), NO_TEXT, 1, 1, 0, { 0 }, "all as large as a number may be" },
    { TEXT("(vector,(0,1,16777216),(0,1,16777216))"), NO_TEXT, 1, 1, 0, { 0 }, "far more tasks than there are" },
    { TEXT("(vector,(0,1,2))"), NO_TEXT, 1, 1, 0, { 0 }, "a task too many" },
    { TEXT("(vector,(0,1,1))"), NO_TEXT, 2, 1, 0, { 0 }, "a task too few" },
    { TEXT("(vector,(0,2,1))"), NO_TEXT, 2, 1, 0, { 0 }, "a node too many" },
    { TEXT("(vector,(1,1,1))"), NO_TEXT, 1, 1, 0, { 0 }, "a node that is not there" },
    { TEXT("(vector,(0,1,2))"), NO_TEXT, 2, 2, 0, { 0 }, "a node without a task" },
    { TEXT("(vector,(0,2,1))"), NO_TEXT, 2, 2, 2, { 0 }, "our node is not there" },
    { TEXT("(vector,(0,2,1))"), NO_TEXT, 2, 2, RC_UNKNOWN, { 0 }, "our node is not known" },
    { TEXT("(VECTOR,(0,1,1))"), NO_TEXT, 1, 1, 0, { 0 }, "capitals" },
    { TEXT("(vector,(0,1,1))\n"), NO_TEXT, 1, 1, 0, { 0 }, "newline behind" },
    { TEXT("(vector,(0,1,1))\0"), NO_TEXT, 1, 1, 0, { 0 }, "NUL behind" },
    { TEXT("n1"), NO_TEXT, 1, 1, 0, { 0 }, "hosts, but no list to find them in" },
    { TEXT("n1"), TEXT(""), 1, 1, 0, { 0 }, "hosts, but an empty list" },
    { TEXT("n3,n1"), N2, 2, 2, 0, { 0 }, "a host that is not in the list" },
    { TEXT("n1,"), TEXT("n1"), 1, 1, 0, { 0 }, "comma behind" },
    { TEXT(",n1"), TEXT("n1"), 1, 1, 0, { 0 }, "comma before" },
    { TEXT("n1 n2"), N2, 2, 2, 0, { 0 }, "a blank" },
    { TEXT("n1\nn2"), N2, 2, 2, 0, { 0 }, "a newline" },
    { TEXT("n[1-2]"), N2, 2, 2, 0, { 0 }, "brackets are not expanded here" },
    { TEXT("n1,n1"), N2, 2, 2, 0, { 0 }, "a host without a task" },
    { TEXT("n1,n2,n1"), N2, 2, 2, 0, { 0 }, "a host too many" },
    { TEXT("n1"), N2, 2, 2, 0, { 0 }, "a host too few" },
};

static bool read_row(const struct row *row, struct rc_taskmap_node *out)
{
    uint64_t *seen = unit_guard_memory((row->nodes + 63) / 64 * sizeof(*seen));

    return rc_taskmap_read(unit_guard(row->input), unit_guard(row->hosts), row->tasks, row->nodes, row->node, seen,
                           out);
}

static void takes(const void *data)
{
    const struct row *row = data;
    struct rc_taskmap_node out;

    assert_true(read_row(row, &out));
    assert_int_equal(out.master_node, row->out.master_node);
    assert_int_equal(out.node_rank, row->out.node_rank);
    assert_int_equal(out.tasks, row->out.tasks);
    assert_int_equal(out.tasks_before, row->out.tasks_before);
}

static void refuses(const void *data)
{
    const struct row *row = data;
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
static void agrees(const void *data)
{
    uint32_t random = 12345;

    (void)data;
    for (int round = 0; round < 2000; round++) {
        uint32_t node_of[24];
        char vector[24 * 12 + 16] = "(vector";
        char names[24 * 4] = "";
        uint32_t nodes = 1 + (random = random * 1664525 + 1013904223) / 65536 % 6;
        uint32_t tasks = nodes + (random = random * 1664525 + 1013904223) / 65536 % 18;

        for (uint32_t task = 0; task < tasks; task++) {
            random = random * 1664525 + 1013904223;
            /* every node has a task: the last ones see to it */
            node_of[task] = tasks - task <= nodes ? tasks - task - 1 : random / 65536 % nodes;
            snprintf(vector + strlen(vector), sizeof(vector) - strlen(vector), ",(%u,1,1)", node_of[task]);
            snprintf(names + strlen(names), sizeof(names) - strlen(names), "%sn%u", task ? "," : "", node_of[task]);
        }
        snprintf(vector + strlen(vector), sizeof(vector) - strlen(vector), ")");
        for (uint32_t node = 0; node < nodes; node++) {
            struct rc_taskmap_node expected = count_simply(node_of, tasks, nodes, node);
            struct rc_taskmap_node out;
            uint64_t seen;

            for (int writing = 0; writing < 2; writing++) {
                const char *map = writing ? names : vector;

                if (!rc_taskmap_read(rc_str(map), RC_STR("n[0-5]"), tasks, nodes, node, &seen, &out))
                    fail_msg("%s is refused", map);
                if (memcmp(&out, &expected, sizeof(out)) != 0)
                    fail_msg("%s, node %u: master %u, node rank %u, %u tasks, %u before; not %u %u %u %u", map, node,
                             out.master_node, out.node_rank, out.tasks, out.tasks_before, expected.master_node,
                             expected.node_rank, expected.tasks, expected.tasks_before);
            }
        }
    }
}

/* 10,000 hosts, each looked up in a list of as many: the cost is the product,
 * so it is given up. In the writing that Slurm uses the list is short. */
static void gives_up(const void *data)
{
    enum { ITEM = 6, ITEMS = 10000 };
    char *map = malloc(ITEM * ITEMS + 1);
    uint64_t seen[(ITEMS + 63) / 64];
    struct rc_taskmap_node out;
    struct rc_str whole = { map, ITEM * ITEMS - 1 };

    (void)data;
    assert_non_null(map);
    for (unsigned i = 0; i < ITEMS; i++)
        snprintf(map + ITEM * i, ITEM + 1, "n%04u,", i);
    assert_true(rc_taskmap_read(whole, RC_STR("n[0000-9999]"), ITEMS, ITEMS, 9999, seen, &out));
    assert_int_equal(out.node_rank, 9999);
    assert_false(rc_taskmap_read(whole, whole, ITEMS, ITEMS, 9999, seen, &out));
    free(map);
}

int main(void)
{
    UNIT_TABLE(takes, "taskmap takes", taken);
    UNIT_TABLE(refuses, "taskmap refuses", refused);
    unit_add_one(agrees, "random placements agree with a simple count");
    unit_add_one(gives_up, "a map that takes too long is given up");
    return unit_run("taskmap");
}
