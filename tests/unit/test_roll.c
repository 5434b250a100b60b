/* SPDX-License-Identifier: BSD-3-Clause */
/* Entries of the roll call: what is written is read, and nothing else is. */
#include "base/pairs.h"
#include "roll/roll.h"
#include "unit.h"

#define SCOPE "scope=slurm:42.0\n"
#define HOST  "host=n1\n"
#define SIZES "node=0\nnodes=2\nworld=8\n"
#define TASKS "tasks=0-3\n"
#define HEAD  "roll=1\n"
#define LEAST HEAD SCOPE HOST SIZES TASKS

#define X16(x)  x x x x x x x x x x x x x x x x
#define X255(x) X16(X15(x)) X15(x)
#define X15(x)  x x x x x x x x x x x x x x x
#define X256(x) X16(X16(x))

static const struct unit_text entries[] = {
    { TEXT(LEAST), "the least" },
    { TEXT(HEAD TASKS "world=8\n" HOST "nodes=2\n" SCOPE "node=0\n"), "any order" },
    { TEXT(LEAST "newer=1\nnewer=2\n"), "names that are not known, twice" },
    { TEXT(LEAST "port=65535\n"), "the highest port" },
    { TEXT(HEAD SCOPE HOST "node=16777215\nnodes=16777216\nworld=16777216\ntasks=16777215\n"),
      "as many nodes and tasks as are believed" },
    { TEXT(HEAD SCOPE HOST SIZES "tasks=0,2,4-5,7\n"), "ranks that are dealt out" },
    { TEXT(HEAD SCOPE HOST SIZES "tasks=0-1,2-2\n"), "ranges side by side" },
    { TEXT(LEAST "user=A=\n"), "a variable that is set to nothing" },
    { TEXT(LEAST "user=A=" X15("0123456789abcdef") "0123456789abc\n"), "a variable of 255 bytes" },
    { TEXT(LEAST "gpu=3 GPU-1c6f\ngpu=0 GPU-1c6f\n"), "a GPU of two tasks: not for the reader to judge" },
    { TEXT(LEAST "has=gpus 1\nmode=worker\nhas=memory 1\n"), "items with another line between" },
    { TEXT(LEAST "has=kernel " X15("0123456789abcdef") "0123456789abcde\n"), "an item of 255 bytes" },
    { TEXT(HEAD SCOPE SIZES TASKS "host=" X255("h") "\n"), "a host's name of 255 bytes" },
    { TEXT(HEAD HOST SIZES TASKS "scope= a scope? \n"), "blanks" },
};

static const struct unit_text refused[] = {
    { NO_TEXT, "nothing" },
    { TEXT(HEAD), "no values" },
    { TEXT(SCOPE HOST SIZES TASKS), "no head" },
    { TEXT(LEAST HEAD), "the head twice" },
    { TEXT(HEAD HOST SIZES TASKS), "no scope" },
    { TEXT(HEAD SCOPE HOST SIZES), "no tasks" },
    { TEXT(HEAD SCOPE HOST TASKS "node=0\nnodes=2\n"), "no size of the world" },
    { TEXT(LEAST "mode=worker"), "a last line without its end" },
    { TEXT(LEAST "\n"), "an empty line" },
    { TEXT(LEAST "newer\n"), "a line without '='" },
    { TEXT(LEAST "=newer\n"), "a line without a name" },
    { TEXT(LEAST "mode=\n"), "a known name without a value" },
    { TEXT(LEAST "newer=\x1b[2J\n"), "a terminal's escape" },
    { TEXT(LEAST SCOPE), "a scope twice" },
    { TEXT(LEAST "port=0\n"), "port 0" },
    { TEXT(HEAD SCOPE HOST TASKS "node=2\nnodes=2\nworld=8\n"), "a node that there is not" },
    { TEXT(HEAD SCOPE HOST TASKS "node=4294967295\nnodes=2\nworld=8\n"), "a node that is not known" },
    { TEXT(HEAD SCOPE HOST TASKS "node=0\nnodes=9\nworld=8\n"), "more nodes than tasks" },
    { TEXT(HEAD SCOPE HOST TASKS "node=0\nnodes=2\nworld=16777217\n"), "more tasks than are believed" },
    { TEXT(HEAD SCOPE HOST SIZES "tasks=0-\n"), "a range without a last rank" },
    { TEXT(HEAD SCOPE HOST SIZES "tasks=3-0\n"), "a range that descends" },
    { TEXT(HEAD SCOPE HOST SIZES "tasks=0-3,3-4\n"), "ranges that overlap" },
    { TEXT(HEAD SCOPE HOST SIZES "tasks=6-8\n"), "a rank that there is not" },
    { TEXT(LEAST "user=A\n"), "a variable without '='" },
    { TEXT(LEAST "user==c\n"), "a variable without a name" },
    { TEXT(LEAST "user=A=1\nuser=A=1\n"), "a variable twice" },
    { TEXT(LEAST "user=A=" X15("0123456789abcdef") "0123456789abcd\n"), "a variable of 256 bytes" },
    { TEXT(LEAST "gpu=0\n"), "a GPU without a name" },
    { TEXT(LEAST "gpu=0 \n"), "a GPU with an empty name" },
    { TEXT(LEAST "gpu=4 GPU-1c6f\n"), "a GPU of another node's task" },
    { TEXT(LEAST "gpu=0 " X256("g") "\n"), "a GPU with a name of 256 bytes" },
    { TEXT(LEAST "has=gpus\n"), "an item without a value" },
    { TEXT(LEAST "has=gpus 1\nhas=gpus 1\n"), "an item twice" },
    { TEXT(LEAST "has=kernel " X256("k") "\n"), "an item of 256 bytes" },
    { TEXT(HEAD SCOPE SIZES TASKS "host=" X256("h") "\n"), "a host's name of 256 bytes" },
    { TEXT(LEAST X256("newer=" X16("0123") "\n")), "more than an entry may have" },
};

static bool reads(struct rc_str input, struct rc_roll *roll)
{
    memset(roll, 0x5a, sizeof(*roll));
    return rc_roll_read(unit_guard(input), roll);
}

UNIT_ROWS(is_read, "an entry:", entries)
{
    struct rc_roll roll;

    assert_true(reads(row->input, &roll));
    assert_true(roll.scope.p && roll.host.p && roll.tasks.p);
    assert_in_range(roll.world, 1, RC_MAX_TASKS);
    assert_in_range(roll.nodes, 1, roll.world);
    assert_in_range(roll.node, 0, roll.nodes - 1);
}

UNIT_ROWS(is_refused, "no entry:", refused)
{
    struct rc_roll roll;
    struct rc_roll untouched;

    memset(&untouched, 0x5a, sizeof(untouched));
    assert_false(reads(row->input, &roll));
    assert_memory_equal(&roll, &untouched, sizeof(roll));
}

#define REST                                                                                              \
    "launcher=slurm\nmode=worker\nboot=4b5f-00\naddr=n1.example\nvisible=CUDA_VISIBLE_DEVICES=0,1\n"      \
    "own=10.0.0.1,fd00::1\nport=24512\nuser=NCCL_IB_HCA=mlx5_0\nuser=B=\ngpu=0 GPU-1c6f\ngpu=3 MIG-2 b\n" \
    "has=gpus 8 NVIDIA H100\nhas=cores 96\n"
#define WHOLE HEAD "version=0.1.0\n" SCOPE HOST TASKS SIZES REST

static struct rc_roll whole(void)
{
    return (struct rc_roll){
        .version = RC_STR("0.1.0"),
        .scope = RC_STR("slurm:42.0"),
        .launcher = RC_STR("slurm"),
        .mode = RC_STR("worker"),
        .host = RC_STR("n1"),
        .boot = RC_STR("4b5f-00"),
        .nodes = 2,
        .world = 8,
        .tasks = RC_STR("0-3"),
        .addr = RC_STR("n1.example"),
        .own = RC_STR("10.0.0.1,fd00::1"),
        .visible = RC_STR("CUDA_VISIBLE_DEVICES=0,1"),
        .port = 24512,
        .user = { RC_STR("NCCL_IB_HCA=mlx5_0"), RC_STR("B=") },
        .user_count = 2,
        .gpu = { { 0, RC_STR("GPU-1c6f") }, { 3, RC_STR("MIG-2 b") } },
        .gpu_count = 2,
        .item = { [RC_ITEM_gpus] = RC_STR("8 NVIDIA H100"), [RC_ITEM_cores] = RC_STR("96") },
    };
}

UNIT_TEST(writes_and_reads, "an entry is read as it was written")
{
    UNIT_ARENA(arena, RC_ROLL_SIZE);
    UNIT_ARENA(again, RC_ROLL_SIZE);
    struct rc_roll roll = whole();
    const char *before = rc_format(&arena, "before");
    const char *written = rc_roll_write(&roll, &arena);

    assert_string_equal(written, WHOLE);
    assert_string_equal(before, "before");
    assert_string_equal(rc_format(&arena, "after"), "after");
    assert_string_equal(written, WHOLE);
    assert_true(reads(rc_str(written), &roll));
    /* each name is that of the same member, for the writer and for the reader */
    assert_string_equal(rc_roll_write(&roll, &again), WHOLE);
    assert_true(roll.has_items && rc_str_is(roll.item[RC_ITEM_gpus], "8 NVIDIA H100"));
    assert_true(rc_str_is(roll.item[RC_ITEM_cores], "96") && !roll.item[RC_ITEM_kernel].p);
}

UNIT_TEST(leaves_out_what_is_absent, "absent values are left out and stay absent")
{
    UNIT_ARENA(arena, 512);
    struct rc_roll roll = { .scope = RC_STR("s"),
                            .host = RC_STR("n1"),
                            .node = 1,
                            .nodes = 2,
                            .world = 2,
                            .tasks = RC_STR("1"),
                            .mode = RC_STR("") };

    assert_string_equal(rc_roll_write(&roll, &arena), "roll=1\nscope=s\nhost=n1\ntasks=1\nnode=1\nnodes=2\nworld=2\n");
    assert_true(reads(rc_str(arena.base), &roll));
    assert_true(!roll.version.p && !roll.mode.p && !roll.boot.p && !roll.addr.p && !roll.visible.p && !roll.has_items);
    assert_true(roll.port == 0 && roll.user_count == 0 && roll.gpu_count == 0);
}

/* Cut off anywhere it is nothing, or all lines but the last ones. */
UNIT_TEST(survives_cuts, "an entry that was cut off is none, or has fewer lines")
{
    char *end = (char *)unit_guard_memory(sizeof(WHOLE)) + sizeof(WHOLE);

    for (size_t n = 0; n < sizeof(WHOLE) - 1; n++) {
        struct rc_roll roll;
        bool least = n >= sizeof(WHOLE) - sizeof(REST);

        memcpy(end - n, WHOLE, n);
        assert_int_equal(rc_roll_read((struct rc_str){ end - n, n }, &roll), least && WHOLE[n - 1] == '\n');
    }
}

/* Any byte in the place of any other: never read past the end, nothing that could not be written. */
UNIT_TEST(survives_other_bytes, "what is read can be written, with any byte in any place")
{
    static const char bytes[] = { '\0', '\n', '=', ',', '-', '0', '9', ' ', '\x1b', '\xff' };
    char text[] = WHOLE;

    for (size_t i = 0; i < sizeof(text) - 1; i++) {
        for (size_t b = 0; b < sizeof(bytes); b++) {
            char saved = text[i];
            UNIT_ARENA(arena, RC_ROLL_SIZE + 64);
            struct rc_roll roll;

            text[i] = bytes[b];
            if (rc_roll_read((struct rc_str){ text, sizeof(text) - 1 }, &roll) && !rc_roll_write(&roll, &arena))
                fail_msg("byte %zu as %d is read but not written", i, bytes[b]);
            text[i] = saved;
        }
    }
}

UNIT_TEST(writes_items, "items are lines, cut and printable; nothing is no item")
{
    UNIT_ARENA(arena, 1024);

    rc_item_put(&arena, RC_ITEM_gpus, RC_ABSENT);
    rc_item_put(&arena, RC_ITEM_imex, RC_STR(""));
    assert_int_equal(arena.used, 0);
    rc_item_put(&arena, RC_ITEM_gpus, RC_STR("8 NVIDIA H100"));
    rc_item_put(&arena, RC_ITEM_kernel, RC_STR("6.1\nhost=n9"));
    rc_item_put(&arena, RC_ITEM_stack, (struct rc_str)TEXT(X256("t")));
    rc_copy(&arena, RC_ABSENT);
    assert_false(arena.full);
    assert_string_equal(arena.base, "has=gpus 8 NVIDIA H100\nhas=kernel 6.1?host=n9\nhas=stack " X255("t") "\n");
}

UNIT_TEST(makes_values_printable, "bytes that are not printable become question marks")
{
    UNIT_ARENA(arena, 1024);
    struct rc_roll roll = { .scope = RC_STR("a\nb"),
                            .host = RC_STR("n\0\x1b\xff"),
                            .nodes = 1,
                            .world = 1,
                            .tasks = RC_STR("0"),
                            .user = { RC_STR("A=1\nuser=B=2") },
                            .user_count = 1,
                            .gpu = { { 0, RC_STR("\t") } },
                            .gpu_count = 1 };

    assert_string_equal(rc_roll_write(&roll, &arena),
                        "roll=1\nscope=a?b\nhost=n???\ntasks=0\nnode=0\nnodes=1\nworld=1\nuser=A=1?user=B=2\n"
                        "gpu=0 ?\n");
}

UNIT_TEST(cuts_long_values, "long values are cut")
{
    static const char value[] = "A=" X256("v");
    UNIT_ARENA(arena, 2048);
    struct rc_roll roll = whole();

    roll.host = (struct rc_str)TEXT(X256("h") "h");
    roll.user[0] = (struct rc_str)TEXT("A=" X256("v"));
    roll.gpu[0].id = (struct rc_str)TEXT(X256("g"));
    assert_non_null(rc_roll_write(&roll, &arena));
    assert_true(reads(rc_str(arena.base), &roll));
    assert_int_equal(roll.host.n, RC_ROLL_TEXT_MAX);
    assert_int_equal(roll.user[0].n, RC_ROLL_TEXT_MAX);
    assert_memory_equal(roll.user[0].p, value, RC_ROLL_TEXT_MAX);
    assert_int_equal(roll.gpu[0].id.n, RC_ROLL_TEXT_MAX);
}

UNIT_TEST(writes_no_wrong_variable, "an entry whose variables would not be read is not written")
{
    UNIT_ARENA(arena, 1024);
    struct rc_roll roll = whole();

    roll.user[1] = roll.user[0];
    assert_null(rc_roll_write(&roll, &arena));
    roll.user[1] = RC_STR("no variable");
    assert_null(rc_roll_write(&roll, &arena));
    assert_int_equal(arena.used, 0);
}

/* What is more than a reader keeps is no reason to lose the rest. */
UNIT_TEST(keeps_as_many_as_it_can, "variables and GPUs beyond the limit are skipped")
{
    char text[2048] = LEAST;
    struct rc_roll roll;

    for (unsigned i = 0; i < 20; i++) {
        size_t used = strlen(text);

        snprintf(text + used, sizeof(text) - used, "user=A%u=1\ngpu=%u G%u\n", i, i % 4, i);
    }
    assert_true(reads(rc_str(text), &roll));
    assert_int_equal(roll.user_count, RC_ROLL_USER_MAX);
    assert_int_equal(roll.gpu_count, RC_ROLL_GPUS_MAX);
    assert_true(rc_str_is(roll.user[15], "A15=1"));
    assert_true(rc_str_is(roll.gpu[15].id, "G15"));
}

/* Whatever does not fit leaves the arena's text as it was. */
UNIT_TEST(fits_or_not, "an arena that is too small by any number of bytes")
{
    size_t need = sizeof(WHOLE);
    struct rc_roll roll = whole();

    for (size_t size = 0; size <= need + 1; size++) {
        char *text = malloc(size + 1);
        struct rc_arena arena = { .base = text, .size = size };
        const char *written;

        assert_non_null(text);
        written = rc_roll_write(&roll, &arena);
        if (size >= need) {
            assert_string_equal(written, WHOLE);
        } else {
            assert_null(written);
            assert_int_equal(arena.used, 0);
        }
        free(text);
    }
}

static const char *many_tasks(unsigned count)
{
    static char tasks[2 * RC_ROLL_SIZE];
    size_t used = 0;

    for (unsigned i = 0; i < count; i++)
        used += (size_t)snprintf(tasks + used, sizeof(tasks) - used, "%s%u", i ? "," : "", 1000000 + 2 * i);
    return tasks;
}

/* A thousand tasks dealt out over nodes go into an entry; what is longer is not cut, but refused. */
UNIT_TEST(tasks_are_never_cut, "tasks are written whole or not at all")
{
    static char text[4 * RC_ROLL_SIZE];
    struct rc_arena arena = { .base = text, .size = sizeof(text) };
    struct rc_roll roll = whole();
    uint32_t first;
    uint32_t last;
    unsigned count = 0;

    roll.world = RC_MAX_TASKS;
    roll.gpu_count = 0;
    roll.tasks = rc_str(many_tasks(1024));
    assert_non_null(rc_roll_write(&roll, &arena));
    assert_true(rc_roll_read(rc_str(text), &roll));
    while (rc_roll_next_range(&roll.tasks, &first, &last))
        count++;
    assert_int_equal(count, 1024);
    assert_int_equal(last, 1000000 + 2 * 1023);
    roll.tasks = rc_str(many_tasks(2048));
    arena.used = 0;
    assert_null(rc_roll_write(&roll, &arena));
    assert_int_equal(arena.used, 0);
    assert_false(arena.full);
}

UNIT_TEST(writes_nothing_that_is_not_read, "what no reader would take is not written")
{
    UNIT_ARENA(arena, 1024);
    struct rc_roll rolls[8];

    for (unsigned i = 0; i < UNIT_COUNT(rolls); i++)
        rolls[i] = whole();
    rolls[0].scope = RC_ABSENT;
    rolls[1].host = RC_STR("");
    rolls[2].tasks = RC_ABSENT;
    rolls[3].tasks = RC_STR("0-8");
    rolls[4].tasks = RC_STR("0\n1");
    rolls[5].node = 2;
    rolls[6].world = RC_UNKNOWN;
    rolls[7].gpu[0].rank = 4;
    for (unsigned i = 0; i < UNIT_COUNT(rolls); i++) {
        if (rc_roll_write(&rolls[i], &arena))
            fail_msg("row %u is written", i);
        assert_int_equal(arena.used, 0);
    }
}

UNIT_TEST(goes_through_ranges, "ranges are taken one by one")
{
    struct rc_str rest = unit_guard(RC_STR("0-3,8,16777215"));
    uint32_t first = 7;
    uint32_t last = 7;

    assert_true(rc_roll_next_range(&rest, &first, &last));
    assert_int_equal(first, 0);
    assert_int_equal(last, 3);
    assert_true(rc_roll_next_range(&rest, &first, &last));
    assert_int_equal(first, 8);
    assert_int_equal(last, 8);
    assert_true(rc_roll_next_range(&rest, &first, &last));
    assert_int_equal(last, 16777215);
    assert_false(rc_roll_next_range(&rest, &first, &last));
    assert_null(rest.p);
    assert_false(rc_roll_next_range(&rest, &first, &last));
    rest = unit_guard(RC_STR("3-2,1"));
    assert_false(rc_roll_next_range(&rest, &first, &last));
    assert_int_equal(rest.n, 5);
    assert_int_equal(first, 16777215);
    assert_int_equal(last, 16777215);
}
