/* SPDX-License-Identifier: BSD-3-Clause */
/* Linear time: what 1 MiB costs is twice what half of it costs, whatever the text holds.
 *
 * Cost is counted, not timed: the core is compiled once more so that each of its basic blocks calls the counter below
 * (-fsanitize-coverage=trace-pc). The counts are the same on a slow, a busy and a fast machine.
 */
#include "launcher/hosts.h"
#include "launcher/layout.h"
#include "resolve/options.h"
#include "resolve/resolve.h"
#include "unit.h"

enum { MIB = 1 << 20, NODES = 4096 };

static uint64_t blocks;

void __sanitizer_cov_trace_pc(void);

void __sanitizer_cov_trace_pc(void)
{
    blocks++;
}

static void number(struct rc_str input)
{
    uint64_t value;

    rc_parse_u64(input, UINT64_MAX, &value);
}

static void tasklist(struct rc_str input)
{
    struct rc_tasklist list;
    uint32_t before;

    if (rc_tasklist_parse(input, &list))
        rc_tasklist_at(&list, list.nodes - 1, &before);
}

static void hostlist(struct rc_str input)
{
    char name[RC_HOST_MAX + 1];
    uint32_t count;

    if (rc_hostlist_count(input, &count))
        rc_hostlist_nth(input, count - 1, name);
    rc_hostlist_nth(input, RC_MAX_TASKS, name);
    rc_hostlist_find(input, RC_STR("there-is-no-such-host7"));
}

static void taskmap(struct rc_str input)
{
    static uint64_t seen[NODES / 64];
    struct rc_taskmap_node out;

    rc_taskmap_read(input, RC_MAX_TASKS, NODES, 7, seen, &out);
}

static void option(struct rc_str input)
{
    UNIT_ARENA(arena, 512);
    struct rc_messages messages = { .arena = &arena };
    struct rc_options options;

    rc_options_parse(input, "--ddp", &options, &messages);
}

static void devices(struct rc_str input)
{
    rc_count_devices(input);
}

static void quote(struct rc_str input)
{
    UNIT_ARENA(arena, 512);

    rc_format(&arena, "%pQ", &input);
}

static void copy(struct rc_str input)
{
    static char text[MIB + 1];
    struct rc_arena arena = { .base = text, .size = sizeof(text) };

    rc_format(&arena, "%pS", &input);
}

static void split(struct rc_str input)
{
    while (input.p)
        rc_str_split(input, ',', &input);
}

/* Takes each line of the input for an entry of a block that `use` then reads. */
static void as_block(struct rc_str input, void (*use)(const char *const *block))
{
    static const char *entries[MIB + 2];
    static char text[MIB + 1];
    size_t count = 0;

    memcpy(text, input.p, input.n);
    text[input.n] = '\n';
    for (char *line = text; line < text + input.n; line = strchr(line, '\0') + 1) {
        *strchr(line, '\n') = '\0';
        entries[count++] = line;
    }
    entries[count] = NULL;
    use(entries);
}

static void use_index(const char *const *block)
{
    static struct rc_env env;

    rc_env_index(&env, block);
    rc_env_get(&env, "NOT_THERE");
}

static void environment(struct rc_str input)
{
    as_block(input, use_index);
}

static void use_all(const char *const *block)
{
    static struct rc_result result;
    struct rc_context context = { .env = block, .options = { .given = true } };

    rc_resolve(&context, &result);
}

static void resolve(struct rc_str input)
{
    as_block(input, use_all);
}

#define STEP                                                                              \
    "SLURM_JOB_ID=42\nSLURM_STEP_ID=0\nSLURM_PROCID=3\nSLURM_LOCALID=1\nSLURM_NODEID=1\n" \
    "SLURM_GTIDS=2,3\nSLURM_NTASKS=4\nSLURM_STEP_NUM_TASKS=4\nSLURM_STEP_NUM_NODES=2\nSLURM_NNODES=2\n"
#define LISTS     "SLURM_STEP_TASKS_PER_NODE=2(x2)\nSLURM_STEP_NODELIST=n[1-2]\n"
#define ARBITRARY STEP LISTS "SLURM_DISTRIBUTION=arbitrary\n"

struct row {
    struct rc_str input; /* repeated until the size is reached, between head and tail */
    const char *head;
    const char *tail;
    void (*work)(struct rc_str input);
    const char *why;
};

static const struct row rows[] = {
    { TEXT("1"), "", "", number, "a number" },

    { TEXT("1,"), "", "1", tasklist, "one task on each of many nodes" },
    { TEXT("1(x9),"), "", "2", tasklist, "many runs" },
    { TEXT("1"), "1(x", ")", tasklist, "a repeat" },
    { TEXT("("), "", "", tasklist, "brackets of tasks" },

    { TEXT("n1,"), "", "n2", hostlist, "many hosts" },
    { TEXT("n[1-9],"), "", "n", hostlist, "many ranges" },
    { TEXT("1,"), "n[", "2]", hostlist, "many numbers in a bracket" },
    { TEXT("1-2,"), "n[", "3", hostlist, "many ranges in a bracket that is not closed" },
    { TEXT("1"), "n[", "]", hostlist, "a long number of a host" },
    { TEXT("there-is-no-such-host[1-3],"), "", "n", hostlist, "hosts like the one that is looked for" },

    { TEXT(",(0,1,1)"), "(vector", ")", taskmap, "many runs of one task" },
    { TEXT(",(0,4096,1)"), "(vector", ")", taskmap, "many runs over all nodes" },
    { TEXT("1"), "(vector,(", ",1,1))", taskmap, "a long number in a map" },
    { TEXT("1,"), "", "2", taskmap, "one node many times" },
    { TEXT("0-4095,"), "", "3", taskmap, "many plain runs over all nodes" },

    { TEXT("k"), "", "", option, "a long word" },
    { TEXT("1"), "nproc=", "", option, "a long nproc" },
    { TEXT("order=node,"), "", "", option, "the same key again and again" },

    { TEXT("0,"), "", "1", devices, "many devices" },

    { TEXT("\x1b"), "", "", quote, "a value that is shown escaped" },
    { TEXT("abc"), "", "", copy, "a value that is copied" },
    { TEXT("abcdefgh,"), "", "i", split, "pieces" },

    { TEXT("N"), "", "", environment, "one entry without '='" },
    { TEXT("N"), "", "=", environment, "one long name" },
    { TEXT("SAME=1\n"), "", "", environment, "the same variable again and again" },
    { TEXT("NONE\n"), "", "", environment, "entries without '='" },

    { TEXT("FILL=1\n"), STEP LISTS, "", resolve, "a step with a large environment" },
    { TEXT("1,"), STEP "SLURM_STEP_NODELIST=n[1-2]\nSLURM_STEP_TASKS_PER_NODE=", "1", resolve,
      "a step with a long list of tasks" },
    { TEXT("n1,"), STEP "SLURM_STEP_TASKS_PER_NODE=2(x2)\nSLURM_STEP_NODELIST=", "n2", resolve,
      "a step with a long list of hosts" },
    { TEXT("0,1,"), ARBITRARY "SLURM_ROLLCALL_TASK_HOSTS=42.0 ", "0", resolve,
      "a step with a long list of its tasks' nodes" },
    { TEXT("(0,1,1),"), ARBITRARY "SLURM_PMIX_MAPPING_SERV=(vector,", "(0,1,1))", resolve, "a step with a long map" },
    { TEXT("0,"), STEP LISTS "CUDA_VISIBLE_DEVICES=", "1", resolve, "a step with many devices" },
    { TEXT("2,"),
      LISTS "SLURM_JOB_ID=42\nSLURM_STEP_ID=0\nSLURM_PROCID=3\nSLURM_LOCALID=1\nSLURM_NODEID=1\n"
            "SLURM_NTASKS=4\nSLURM_STEP_NUM_TASKS=4\nSLURM_STEP_NUM_NODES=2\nSLURM_NNODES=2\nSLURM_GTIDS=",
      "3", resolve, "a step with many tasks on a node" },
    { TEXT("x"), "ROLLCALL=", "\n" STEP LISTS, resolve, "a step with a long ROLLCALL" },
    { TEXT("x"), STEP LISTS "ROLLCALL_SCOPE=", "", resolve, "a step with a long stamp" },
};

static uint64_t cost(const struct row *row, size_t size)
{
    size_t head = strlen(row->head);
    size_t tail = strlen(row->tail);
    char *text = malloc(size);
    size_t used = head;

    assert_non_null(text);
    memcpy(text, row->head, head);
    while (used + row->input.n + tail <= size) {
        memcpy(text + used, row->input.p, row->input.n);
        used += row->input.n;
    }
    memcpy(text + used, row->tail, tail);
    blocks = 0;
    row->work((struct rc_str){ text, used + tail });
    free(text);
    return blocks;
}

/* From 32 KiB, so that what is not linear is found before it takes minutes. */
UNIT_ROWS(is_linear, "linear:", rows)
{
    uint64_t before = cost(row, 32 << 10);

    assert_int_not_equal(before, 0);
    for (size_t size = 64 << 10; size <= MIB; size *= 2) {
        uint64_t now = cost(row, size);

        if (now > before * 21 / 10 + 1000)
            fail_msg("%zu bytes cost %llu steps, half of it %llu", size, (unsigned long long)now,
                     (unsigned long long)before);
        before = now;
    }
    /* some hundred steps a byte: what is linear may be too much still */
    assert_in_range(before, 1, (uint64_t)400 * MIB);
}
