/* SPDX-License-Identifier: BSD-3-Clause */
/* The file of Cray's PMI: what is read of it, what is refused, and what PALS's and Flux's tasks make of it. */
#include "launcher/families.h"
#include "resolve/resolve.h"
#include "unit.h"

enum { TASK = 12, NODE = 68, HEADER = 152, FILE_MAX = 2048 };

struct task {
    int32_t local;
    int32_t node;
};

struct file {
    const struct task *tasks;
    int32_t task_count;
    const char *const *hosts;
    int32_t node_count;
    int32_t version;
};

static void put(char *bytes, size_t offset, const void *value, size_t size)
{
    memcpy(bytes + offset, value, size);
}

static void put_table(char *bytes, size_t at, uint64_t size, uint64_t offset, int32_t count)
{
    put(bytes, at, &size, sizeof(size));
    put(bytes, at + 8, &offset, sizeof(offset));
    put(bytes, at + 16, &count, sizeof(count));
}

/* As flux-coral2's apinfo5.c writes it, with a gap between the tables. */
static size_t write_file(char *bytes, const struct file *file)
{
    uint64_t tasks = HEADER + 16;
    uint64_t nodes = tasks + (uint64_t)file->task_count * TASK + 8;
    uint64_t end = nodes + (uint64_t)file->node_count * NODE;

    memset(bytes, 0, FILE_MAX);
    put(bytes, 0, &file->version, 4);
    put(bytes, 8, &end, 8);
    put_table(bytes, 64, TASK, tasks, file->task_count);
    put_table(bytes, 88, NODE, nodes, file->node_count);
    for (int i = 0; i < file->task_count; i++) {
        put(bytes, tasks + (uint64_t)i * TASK, &file->tasks[i].local, 4);
        put(bytes, tasks + (uint64_t)i * TASK + 8, &file->tasks[i].node, 4);
    }
    for (int i = 0; i < file->node_count; i++)
        put(bytes, nodes + (uint64_t)i * NODE + 4, file->hosts[i], strlen(file->hosts[i]));
    return (size_t)end;
}

static const char *const hosts[] = { "x1000c0s0b0n0", "x1000c0s0b0n1", "" };
static const struct task by_slot[] = { { 0, 0 }, { 1, 0 }, { 0, 1 }, { 1, 1 } };
static const struct task by_node[] = { { 0, 0 }, { 0, 1 }, { 1, 0 }, { 1, 1 } };
static const struct task uneven[] = { { 0, 0 }, { 1, 0 }, { 2, 0 }, { 0, 1 } };
static const struct task turned[] = { { 0, 1 }, { 1, 1 }, { 0, 0 }, { 1, 0 } };
static const struct task off_node[] = { { 0, 0 }, { 0, 2 } };
static const struct task below_node[] = { { 0, 0 }, { 0, -1 } };
static const struct task off_local[] = { { 0, 0 }, { 2, 1 } };

#define FILE_OF(array, nodes, version)                  \
    {                                                   \
        array, UNIT_COUNT(array), hosts, nodes, version \
    }

UNIT_TEST(reads, "a file as Flux writes it")
{
    static const struct file file = FILE_OF(by_slot, 2, 5);
    char bytes[FILE_MAX];
    size_t size = write_file(bytes, &file);
    struct rc_apinfo info;

    assert_true(rc_apinfo_read(unit_guard((struct rc_str){ bytes, size }), &info));
    assert_int_equal(info.tasks.count, 4);
    assert_int_equal(info.nodes.count, 2);
    assert_int_equal(rc_apinfo_task(&info, 3)->node, 1);
    assert_int_equal(rc_apinfo_task(&info, 3)->local_rank, 1);
    assert_true(rc_str_is(rc_apinfo_host(&info, 0), hosts[0]));
    assert_true(rc_str_is(rc_apinfo_host(&info, 1), hosts[1]));
}

/* Every prefix of a file is refused, and none is read beyond. */
UNIT_TEST(refuses_pieces, "pieces of a file are none")
{
    static const struct file file = FILE_OF(by_slot, 2, 5);
    char bytes[FILE_MAX];
    size_t size = write_file(bytes, &file);
    char *end = (char *)unit_guard_memory(size) + size;
    struct rc_apinfo info = { .tasks = { .count = 77 } };

    assert_false(rc_apinfo_read(RC_ABSENT, &info));
    for (size_t n = 0; n < size; n++) {
        memcpy(end - n, bytes, n);
        assert_false(rc_apinfo_read((struct rc_str){ end - n, n }, &info));
    }
    assert_int_equal(info.tasks.count, 77);
}

static const struct {
    struct rc_str input; /* its name */
    size_t offset;
    uint64_t value;
    size_t size;
    const char *why;
} damages[] = {
    { TEXT("version"), 0, 0, 4, "version 0" },
    { TEXT("version"), 0, 6, 4, "a version that nobody has seen" },
    { TEXT("task size"), 64, 0, 8, "records of no size" },
    { TEXT("task size"), 64, 11, 8, "records that are too short" },
    { TEXT("task size"), 64, UINT64_MAX / 4 + 1, 8, "four records that wrap to 0" },
    { TEXT("task offset"), 72, UINT64_MAX - 47, 8, "a table that ends after 2^64" },
    { TEXT("tasks"), 80, 0, 4, "no tasks" },
    { TEXT("tasks"), 80, 1000, 4, "more tasks than there is room for" },
    { TEXT("node size"), 88, 67, 8, "nodes that are too short" },
    { TEXT("node offset"), 96, 1 << 20, 8, "a table after the end" },
    { TEXT("nodes"), 104, 0, 4, "no nodes" },
    { TEXT("nodes"), 104, 0x80000000u, 4, "minus 2^31 nodes" },
};

UNIT_ROWS(refuses_damage, "apinfo refuses another", damages)
{
    static const struct file file = FILE_OF(by_slot, 2, 5);
    char bytes[FILE_MAX];
    size_t size = write_file(bytes, &file);
    struct rc_apinfo info;

    put(bytes, row->offset, &row->value, row->size);
    assert_false(rc_apinfo_read(unit_guard((struct rc_str){ bytes, size }), &info));
}

struct answer_row {
    struct rc_str input; /* the ranks' variables, blanks between */
    struct file file;
    const char *answer; /* "rank local node size local-size nodes master", or a message's id */
    const char *why;
};

#define PALS "PALS_APINFO=f PALS_APID=7 "

static const struct answer_row answers[] = {
    { TEXT(PALS "PALS_RANKID=3"), FILE_OF(by_slot, 2, 5), "3 1 1 4 2 2 x1000c0s0b0n0", "by slot" },
    { TEXT(PALS "PALS_RANKID=3"), FILE_OF(by_slot, 2, 1), "3 1 1 4 2 2 x1000c0s0b0n0", "version 1" },
    { TEXT(PALS "PALS_RANKID=1"), FILE_OF(by_node, 2, 5), "1 0 1 4 2 2 x1000c0s0b0n0", "by node" },
    { TEXT(PALS "PALS_RANKID=3"), FILE_OF(uneven, 2, 5), "3 0 1 4 1 2 x1000c0s0b0n0", "uneven, the small node" },
    { TEXT(PALS "PALS_RANKID=2"), FILE_OF(uneven, 2, 5), "2 2 0 4 3 2 x1000c0s0b0n0", "uneven, the large node" },
    { TEXT(PALS "PALS_RANKID=3 PALS_NODEID=0"), FILE_OF(turned, 2, 5), "3 1 1 4 2 2 x1000c0s0b0n1",
      "rank 0 is on the second node, which becomes the first" },
    { TEXT(PALS "PALS_RANKID=3 PMI_RANK=3 PMI_SIZE=4 PALS_LOCAL_RANKID=1 PALS_LOCAL_SIZE=2 PALS_NODEID=1"),
      FILE_OF(by_slot, 2, 5), "3 1 1 4 2 2 x1000c0s0b0n0", "all variables agree" },
    { TEXT(PALS "PALS_RANKID=3 PMI_SIZE=5"), FILE_OF(by_slot, 2, 5), "RC103", "another size" },
    { TEXT(PALS "PALS_RANKID=3 PALS_LOCAL_RANKID=0"), FILE_OF(by_slot, 2, 5), "RC103", "another local rank" },
    { TEXT(PALS "PALS_RANKID=3 PALS_LOCAL_SIZE=1"), FILE_OF(by_slot, 2, 5), "RC103", "another local size" },
    { TEXT(PALS "PALS_RANKID=3 PALS_NODEID=0"), FILE_OF(by_slot, 2, 5), "RC103", "another node" },
    { TEXT(PALS "PALS_RANKID=4"), FILE_OF(by_slot, 2, 5), "RC103", "a rank that the file has not" },
    { TEXT(PALS "PALS_RANKID=1"), FILE_OF(off_node, 2, 5), "RC102", "a task on a node that is not there: no file" },
    { TEXT(PALS "PALS_RANKID=1"), FILE_OF(below_node, 2, 5), "RC102", "a task on node -1: no file" },
    { TEXT(PALS "PALS_RANKID=1"), FILE_OF(off_local, 2, 5), "RC102", "a local rank as high as the size: no file" },
    { TEXT(PALS "PALS_RANKID=1 MASTER_ADDR=n"), FILE_OF(by_slot, 2, 9), "RC102", "a version that nobody has seen" },
    { TEXT("PALS_APINFO=f PALS_RANKID=3 FLUX_TASK_RANK=3 FLUX_TASK_LOCAL_ID=1 FLUX_JOB_SIZE=4 FLUX_JOB_NNODES=2 "
           "FLUX_JOB_ID=f1"),
      FILE_OF(by_node, 2, 5), "3 1 1 4 2 2 x1000c0s0b0n0", "Flux's cray-pals" },
    { TEXT("PALS_APINFO=f PALS_RANKID=1 FLUX_TASK_RANK=3 FLUX_TASK_LOCAL_ID=1 FLUX_JOB_SIZE=4 FLUX_JOB_NNODES=2 "
           "FLUX_JOB_ID=f1 MASTER_ADDR=n9"),
      FILE_OF(by_slot, 2, 5), "3 1 1 4 2 2 n9", "an older file beside Flux's task" },
};

UNIT_ROWS(answers_so, "apinfo answers", answers)
{
    static struct rc_result result;
    const char *block[16];
    char bytes[FILE_MAX];
    struct rc_here here = { .learned = ~0u, .host_file = { bytes, 0 }, .gpus = RC_UNKNOWN };
    struct rc_context context = { .env = block, .here = &here };
    const uint32_t *field = result.identity.field;
    char text[128];

    here.host_file = unit_guard((struct rc_str){ bytes, write_file(bytes, &row->file) });
    unit_words(row->input.p, block, UNIT_COUNT(block));
    rc_resolve(&context, &result);
    if (result.status == RC_CONTRADICTION)
        snprintf(text, sizeof(text), "%s", rc_message_entry(result.messages.list[0].id)->id);
    else
        snprintf(text, sizeof(text), "%u %u %u %u %u %u %s", field[RC_RANK], field[RC_LOCAL_RANK], field[RC_NODE_RANK],
                 field[RC_WORLD_SIZE], field[RC_LOCAL_WORLD_SIZE], field[RC_NNODES], result.master.addr);
    assert_string_equal(text, row->answer);
}
