/* SPDX-License-Identifier: BSD-3-Clause */
/* The stamp: written and taken apart; and what rc_resolve makes of one beside broken values. */
#include "launcher/stamp.h"

#include "resolve/resolve.h"
#include "resolve/steps.h"
#include "unit.h"

#define TOLD(...)                   \
    (const uint32_t[RC_STAMP_TOLD]) \
    {                               \
        __VA_ARGS__                 \
    }

static const struct {
    struct rc_str input;
    const char *scope;
    uint32_t rank;
    enum rc_stamp_mode mode;
    uint16_t port;
    const char *outer;    /* NULL: none */
    const uint32_t *told; /* NULL: not said */
    const char *why;
} good[] = {
    { TEXT("slurm:42.0/3/worker/29512"), "slurm:42.0", 3, RC_STAMP_WORKER, 29512, NULL, NULL, "with the port" },
    { TEXT("slurm:42.0/0/launcher/1"), "slurm:42.0", 0, RC_STAMP_LAUNCHER, 1, NULL, NULL, "launcher mode" },
    { TEXT("openmpi:7/3/worker/65535 slurm:42.0"), "openmpi:7", 3, RC_STAMP_WORKER, 65535, "slurm:42.0", NULL,
      "one outer launch" },
    { TEXT("flux:f1/0/worker/29512 openmpi:7 slurm:42.0"), "flux:f1", 0, RC_STAMP_WORKER, 29512, "openmpi:7 slurm:42.0",
      NULL, "two of them" },
    { TEXT("slurm:42.0/3/worker/29512 =3/8/1/2/1"), "slurm:42.0", 3, RC_STAMP_WORKER, 29512, NULL, TOLD(3, 8, 1, 2, 1),
      "told" },
    { TEXT("openmpi:7/3/worker/1 =0/8/0/2/4 slurm:42.0"), "openmpi:7", 3, RC_STAMP_WORKER, 1, "slurm:42.0",
      TOLD(0, 8, 0, 2, 4), "told, in a launch" },
    { TEXT("slurm:42.0/2/by-node/1 =1/4/1/2/0"), "slurm:42.0", 2, RC_STAMP_BY_NODE, 1, NULL, TOLD(1, 4, 1, 2, 0),
      "numbered by node" },
};

UNIT_ROWS(reads, "stamp reads", good)
{
    struct rc_stamp stamp = rc_stamp_read(unit_guard(row->input));
    UNIT_ARENA(arena, 128);
    const char *outer[] = { row->outer };

    assert_true(rc_str_eq(stamp.text, row->input));
    assert_true(rc_str_is(stamp.scope, row->scope));
    assert_int_equal(stamp.rank, row->rank);
    assert_int_equal(stamp.mode, row->mode);
    assert_int_equal(stamp.port, row->port);
    assert_int_equal(stamp.outer.p != NULL, row->outer != NULL);
    assert_true(!row->outer || rc_str_is(stamp.outer, row->outer));
    assert_int_equal(stamp.told.p != NULL, row->told != NULL);
    /* what was written is what was read */
    assert_true(rc_str_is(row->input, rc_stamp_write(&arena, row->scope, row->rank, row->mode, row->port, row->told,
                                                     outer, row->outer != NULL)));
}

static const struct unit_text bad[] = {
    { NO_TEXT, "not there" },
    { TEXT(""), "empty" },
    { TEXT("slurm:42.0"), "cut off after the scope" },
    { TEXT("slurm:42.0/3"), "cut off after the rank" },
    { TEXT("slurm:42.0/3/worker"), "cut off after the mode" },
    { TEXT("slurm:42.0/3/worker/0"), "port 0" },
    { TEXT("slurm:42.0/3/worker/65536"), "a port above 65535" },
    { TEXT("slurm:42.0/3/worker/29512/1"), "one field too many" },
    { TEXT("slurm:42.0/x/worker/29512"), "a rank that is no number" },
    { TEXT("slurm:42.0/4294967295/worker/29512"), "a rank that means unknown" },
    { TEXT("/3/worker/29512"), "no scope" },
    { TEXT("=1/3/worker/29512"), "a scope that would be read as what the task was told" },
};

UNIT_ROWS(refuses, "stamp refuses", bad)
{
    struct rc_stamp stamp = rc_stamp_read(unit_guard(row->input));

    assert_int_equal(stamp.text.p != NULL, row->input.p != NULL);
    assert_int_equal(stamp.text.n, row->input.n);
    assert_null(stamp.scope.p);
    assert_null(stamp.outer.p);
    assert_false(rc_stamp_is_of(&stamp, "slurm:42.0", stamp.rank));
    assert_false(rc_stamp_has_outer(&stamp, "slurm:42.0"));
}

UNIT_TEST(answers, "whose it is and what it knows")
{
    struct rc_stamp stamp = rc_stamp_read(RC_STR("openmpi:7/3/worker/29512 pbs:9 slurm:42.0"));

    assert_true(rc_stamp_is_of(&stamp, "openmpi:7", 3));
    assert_false(rc_stamp_is_of(&stamp, "openmpi:7", 2));
    assert_false(rc_stamp_is_of(&stamp, "openmpi:77", 3));
    assert_false(rc_stamp_is_of(&stamp, "openmpi:", 3));
    assert_false(rc_stamp_is_of(&stamp, NULL, 3));
    assert_true(rc_stamp_has_outer(&stamp, "slurm:42.0"));
    assert_true(rc_stamp_has_outer(&stamp, "pbs:9"));
    assert_false(rc_stamp_has_outer(&stamp, "openmpi:7"));
    assert_false(rc_stamp_has_outer(&stamp, NULL));
    assert_true(rc_stamp_has_outer_job(&stamp, "slurm:42"));
    assert_false(rc_stamp_has_outer_job(&stamp, "slurm:4"));
    assert_false(rc_stamp_has_outer_job(&stamp, NULL));
}

UNIT_TEST(does_not_fit, "an arena that is too small")
{
    static const char *const outer[] = { "slurm:42.0" };

    for (size_t size = 1; size <= sizeof("openmpi:7/3/worker/29512 slurm:42.0"); size++) {
        struct rc_arena arena = { .base = unit_guard_memory(size), .size = size };
        const char *text = rc_stamp_write(&arena, "openmpi:7", 3, RC_STAMP_WORKER, 29512, NULL, outer, 1);

        assert_int_equal(arena.full, size < sizeof("openmpi:7/3/worker/29512 slurm:42.0"));
        assert_true(arena.full || rc_str_is(rc_str(text), "openmpi:7/3/worker/29512 slurm:42.0"));
    }
}

#define STEP                                                                                                       \
    "SLURM_JOB_ID=42", "SLURM_STEP_ID=0", "SLURM_PROCID=0", "SLURM_LOCALID=0", "SLURM_NODEID=0", "SLURM_NTASKS=2", \
        "SLURM_NNODES=1", "SLURM_STEP_NUM_TASKS=2", "SLURM_STEP_NUM_NODES=1", "SLURM_STEP_TASKS_PER_NODE=2",       \
        "SLURM_STEP_NODELIST=n1", "SLURM_TASKS_PER_NODE=2"

static struct rc_result result;

/* A launcher whose values are broken has no scope that the stamp could know: it is taken for one further inside. */
UNIT_TEST(broken_beside_stamp, "a stamp with an outer scope beside a launcher's broken value ends")
{
    static const char *const env[] = { STEP, "ROLLCALL_SCOPE=slurm:42.0/0/worker/29512 slurm:41.0", "FLUX_TASK_RANK=x",
                                       NULL };
    struct rc_context context = { .env = env };

    assert_int_equal(rc_resolve(&context, &result), RC_CONTRADICTION);
    assert_string_equal(result.launcher->id, "flux");
}

/* The port that the task was told is in the stamp: another one that a script has set since is told apart from it. */
UNIT_TEST(told_port, "the port that was told")
{
    static const char *const env[] = { STEP, "ROLLCALL_SCOPE=slurm:42.0/0/worker/29512 =0/2/0/2/0", "MASTER_PORT=29999",
                                       NULL };
    struct rc_context context = { .env = env, .ignore_stamp = true };
    const struct rc_plan_entry *entry;

    assert_int_equal(rc_resolve(&context, &result), RC_RESOLVED);
    entry = rc_plan_find(&result.plan, RC_STR("MASTER_PORT"));
    assert_non_null(entry);
    assert_string_equal(entry->value, "29999");
    assert_string_equal(entry->reason, "changed since; all tasks use 29512");
    entry = rc_plan_find(&result.plan, RC_STR("ROLLCALL_SCOPE"));
    assert_non_null(entry);
    assert_string_equal(entry->value, "slurm:42.0/0/worker/29512 =0/2/0/2/0");
    assert_false(entry->changes);
}

#define CYCLIC                                                                                                     \
    "SLURM_JOB_ID=42", "SLURM_STEP_ID=0", "SLURM_PROCID=2", "SLURM_LOCALID=1", "SLURM_NODEID=0", "SLURM_NTASKS=4", \
        "SLURM_NNODES=2", "SLURM_STEP_NUM_TASKS=4", "SLURM_STEP_NUM_NODES=2", "SLURM_STEP_TASKS_PER_NODE=2(x2)",   \
        "SLURM_STEP_NODELIST=n[1-2]", "SLURM_TASKS_PER_NODE=2(x2)", "SLURM_GTIDS=0,2"

static const struct {
    struct rc_str input; /* the stamp of the cyclic step's task 2 */
    enum rc_order order; /* of whom asks */
    uint32_t rank;
    const char *why;
} asked_later[] = {
    { TEXT("slurm:42.0/2/by-node/29512 =1/4/1/2/0"), RC_ORDER_UNSET, 1, "the RANK that it has" },
    { TEXT("slurm:42.0/2/worker/29512 =2/4/1/2/0"), RC_ORDER_UNSET, 2, "Slurm's own, as it was told" },
    { TEXT("slurm:42.0/0/by-node/29512 =0/4/0/2/0"), RC_ORDER_UNSET, 2, "another task's order is none" },
    { TEXT("slurm:42.0/2/by-node/29512 =1/4/1/2/0"), RC_ORDER_GIVEN, 2, "another order was asked for" },
};

/* rollcall show and rollcall.identity() in a task of order=node have not its option. */
UNIT_ROWS(order_later, "who asks later is told", asked_later)
{
    char stamp[64];
    const char *const env[] = { CYCLIC, stamp, NULL };
    struct rc_context context = { .env = env, .ignore_stamp = true, .options.order = row->order };

    snprintf(stamp, sizeof(stamp), "ROLLCALL_SCOPE=%.*s", (int)row->input.n, row->input.p);
    assert_int_equal(rc_resolve(&context, &result), RC_RESOLVED);
    assert_int_equal(result.identity.field[RC_RANK], row->rank);
    assert_int_equal(result.by_node, row->rank == 1);
}

#define RANKS " WORLD_SIZE=2 LOCAL_RANK=0"
#define STEPD " 'slurmstepd: [42.0]'"

static const struct {
    struct rc_str input; /* what is set */
    bool called;
    const char *ancestors; /* of a library's process; none: it has not looked yet */
    const char *rank;      /* planned; NULL: it is left alone */
    const char *why;
} changes[] = {
    { TEXT("RANK=0" RANKS), true, "", NULL, "as it was told" },
    { TEXT("RANK=9" RANKS), true, "", "0", "rollcall exec after a script" },
    { TEXT("RANK=0 WORLD_SIZE=2 LOCAL_RANK=5"), true, "", "0", "the local rank alone" },
    { TEXT("RANK=0 WORLD_SIZE=99 LOCAL_RANK=0"), true, "", "0", "the size alone" },
    { TEXT(RANKS), true, "", "0", "rollcall exec where the rank is gone" },
    { TEXT(RANKS), false, "bash" STEPD, NULL, "env -u RANK is a wish" },
    { TEXT("RANK=9" RANKS), false, "bash" STEPD, "0", "a program after a script" },
    { TEXT("RANK=9" RANKS), false, "python" STEPD, NULL, "what the program starts" },
    { TEXT("RANK=9" RANKS), false, "bash", NULL, "nothing tells" },
};

/* The ancestors are there already. */
static bool look(struct rc_here *here, enum rc_learn what, struct rc_str path)
{
    (void)here;
    (void)path;
    return what == RC_LEARN_ANCESTORS;
}

/* A script that sets another launch's rank between two rollcalls does not put it into all tasks. */
UNIT_ROWS(changed_since, "a stamp beside what was set since:", changes)
{
    const char *env[24] = { STEP, "ROLLCALL_SCOPE=slurm:42.0/0/worker/29512 =0/2/0/2/0" };
    const char *ancestors[4];
    struct rc_here here = { .look = look };
    struct rc_context context = { .env = env, .here = &here, .called = row->called };
    const struct rc_plan_entry *rank;

    unit_words(row->input.p, env + 13, UNIT_COUNT(env) - 13);
    unit_words(row->ancestors, ancestors, UNIT_COUNT(ancestors));
    while (ancestors[here.ancestor_count]) {
        here.ancestor[here.ancestor_count] = rc_str(ancestors[here.ancestor_count]);
        here.ancestor_count++;
    }
    assert_int_equal(rc_resolve(&context, &result), RC_RESOLVED);
    assert_true(result.stamped);
    assert_int_equal(here.learned, here.ancestor_count && rc_str_starts(row->input, "RANK=") ? RC_LEARN_ANCESTORS : 0);
    rank = rc_plan_find(&result.plan, RC_STR("RANK"));
    assert_int_equal(rank != NULL, row->rank != NULL);
    assert_true(!rank || !strcmp(rank->value, row->rank));
    assert_int_equal(result.plan.count, rank ? 6 : 0);
}

/* Blanks and slashes of a run id must not end up in the stamp. */
UNIT_TEST(odd_run_id, "a run id with a blank and a slash")
{
    static const char *const env[] = {
        "AZUREML_RUN_ID=a b/c", "RANK=1",         "WORLD_SIZE=2",      "LOCAL_RANK=1",       "NODE_COUNT=1",
        "AZUREML_NODE_COUNT=1", "MASTER_ADDR=n1", "MASTER_PORT=29500", "LOCAL_WORLD_SIZE=2", NULL
    };
    struct rc_context context = { .env = env };

    rc_resolve(&context, &result);
    assert_non_null(result.launcher);
    assert_string_equal(result.facts.scope, "azureml:a_b_c");
    assert_string_equal(result.facts.run_id, "a b/c");
}

static const struct unit_text half_told[] = {
    { TEXT("slurm:42.0/3/worker/29512 = pbs:9"), "nothing" },
    { TEXT("slurm:42.0/3/worker/29512 =3/8/1/2 pbs:9"), "a number too few" },
    { TEXT("slurm:42.0/3/worker/29512 =3/8/1/2/1/0 pbs:9"), "a number too many" },
    { TEXT("slurm:42.0/3/worker/29512 =3/8/x/2/1 pbs:9"), "no number" },
    { TEXT("slurm:42.0/3/worker/29512 =8/8/1/2/1 pbs:9"), "a rank as high as the size" },
    { TEXT("slurm:42.0/3/worker/29512 =4294967295/8/1/2/1 pbs:9"), "a rank that means unknown" },
};

/* Half of what a task was told is nothing that it was told. */
UNIT_ROWS(tells_nothing, "half of what a task was told:", half_told)
{
    struct rc_stamp stamp = rc_stamp_read(unit_guard(row->input));

    assert_true(rc_stamp_is_of(&stamp, "slurm:42.0", 3));
    assert_null(stamp.told.p);
    assert_true(rc_str_is(stamp.outer, "pbs:9"));
}
