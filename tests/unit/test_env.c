/* SPDX-License-Identifier: BSD-3-Clause */
/* The environment block: hostile names, duplicates, sizes around the index. */
#include "base/env.h"
#include "unit.h"

/* A block of one program, and what asking it for a name gives. */
static const char *const block[] = {
    "RANK=3",
    "RANK_X=4",
    "RAN=5",
    "rank=6",
    "EMPTY=",
    "EQUALS=a=b=c",
    "STARTS==x",
    "NOVALUE",
    "=NONAME",
    "TWICE=first",
    "TWICE=second",
    "NOVALUE_THEN_VALUE",
    "NOVALUE_THEN_VALUE=yes",
    "BASH_FUNC_x%%=() { :; }",
    "NEWLINE=a\nRANK=99",
    "BYTES=\xff\xfe",
    "A=one letter",
    "SLURM_STEP_NUM_TASKS=8",
    "SLURM_STEP_NUM_NODES=2",
    "SLURM_STEP_TASKS_PER_NODE=4(x2)",
    "OMPI_COMM_WORLD_RANK=1",
    "OMPI_COMM_WORLD_SIZE=2",
    "SLURM_JOB_NODELIST=n[1-2]",
    "SLURM_STEP_NODELIST=n1",
    "TRAIL =x",
    " LEAD=x",
    "",
    "LAST=z",
    NULL,
};

static const struct {
    struct rc_str input; /* the name */
    const char *value;   /* NULL: not there */
    const char *why;
} rows[] = {
    { TEXT("RANK"), "3", "the first variable" },
    { TEXT("RANK_X"), "4", "a name that ours begins" },
    { TEXT("RAN"), "5", "the beginning of a name" },
    { TEXT("EMPTY"), "", "an empty value is there" },
    { TEXT("EQUALS"), "a=b=c", "a value with equals signs" },
    { TEXT("NOVALUE"), NULL, "an entry without '='" },
    { TEXT("NONAME"), NULL, "an entry without a name is not another's" },
    { TEXT("TWICE"), "first", "the first of two counts, as in getenv" },
    { TEXT("NOVALUE_THEN_VALUE"), "yes", "the entry without '=' does not hide the one that has it" },
    { TEXT("BASH_FUNC_x%%"), "() { :; }", "an exported function of bash" },
    { TEXT("NEWLINE"), "a\nRANK=99", "a value with a newline is one value" },
    { TEXT("BYTES"), "\xff\xfe", "a value that is no text" },
    { TEXT("SLURM_STEP_NUM_TASKS"), "8", "names alike but for the end" },
    { TEXT("SLURM_STEP_NUM_NODES"), "2", "names alike but for the end, of one length" },
    { TEXT("SLURM_STEP_NODELIST"), "n1", "names with the same end, of another length" },
    { TEXT("SLURM_NODELIST"), NULL, "a name that is not there, with the end of one that is" },
    { TEXT("LAST"), "z", "the last variable, after an empty entry" },
    { TEXT("RANK="), NULL, "a name with '=' is none" },
    { TEXT("RANKS"), NULL, "a longer name than there is" },
    { TEXT("R"), NULL, "a shorter name than there is" },
    { TEXT("TRAIL"), NULL, "a name with a blank after it is another" },
    { TEXT("LEAD"), NULL, "a name with a blank before it is another" },
};

static void expect(const struct rc_env *env, struct rc_str name, const char *value)
{
    struct rc_str guarded = { unit_guard_string(name.p), name.n };
    struct rc_str found = rc_env_find(env, guarded);

    assert_int_equal(rc_env_has(env, guarded), value != NULL);
    if (!value) {
        assert_null(found.p);
        return;
    }
    assert_non_null(found.p);
    assert_int_equal(found.n, strlen(value));
    assert_memory_equal(found.p, value, found.n);
}

UNIT_ROWS(finds, "env finds", rows)
{
    struct rc_env env;

    rc_env_index(&env, block);
    assert_true(env.indexed);
    expect(&env, row->input, row->value);
}

/* After so many others the block has one variable more than the index holds. */
enum { OTHERS = RC_ENV_INDEXED + 2 - UNIT_COUNT(block) };

/* As many as it holds, and without it: same answers. */
UNIT_ROWS(finds_among_many, "env of many finds", rows)
{
    const char *large[OTHERS + UNIT_COUNT(block)];
    char names[OTHERS][16];
    struct rc_env env;

    for (size_t i = 0; i < OTHERS; i++) {
        snprintf(names[i], sizeof(names[i]), "FILL_%zu=%zu", i, i);
        large[i] = names[i];
    }
    memcpy(large + OTHERS, block, sizeof(block));
    rc_env_index(&env, large + 1);
    assert_true(env.indexed);
    expect(&env, row->input, row->value);
    rc_env_index(&env, large);
    assert_false(env.indexed);
    expect(&env, row->input, row->value);
}

/* Every place of every name, from the last to the first, as a plain search has them. */
static void expect_places(const struct rc_env *env, const char *const *entries, struct rc_str name)
{
    unsigned found = env->count;

    for (unsigned i = env->count; i > 0; i--) {
        if (strncmp(entries[i - 1], name.p, name.n) == 0 && entries[i - 1][name.n] == '=') {
            found = rc_env_place(env, name, found);
            assert_int_equal(found, i);
            found--;
        }
    }
    assert_int_equal(rc_env_place(env, name, found), 0);
}

UNIT_TEST(places, "places of a name, also of one that comes twice")
{
    const char *large[UNIT_COUNT(block) + OTHERS];
    struct rc_env env;

    rc_env_index(&env, block);
    assert_int_equal(env.count, UNIT_COUNT(block) - 1);
    assert_int_equal(rc_env_place(&env, RC_STR("TWICE"), env.count), 11);
    assert_int_equal(rc_env_place(&env, RC_STR("TWICE"), 10), 10);
    assert_int_equal(rc_env_place(&env, RC_STR("TWICE"), 9), 0);
    for (size_t i = 0; i < UNIT_COUNT(rows); i++)
        expect_places(&env, block, rows[i].input);
    /* the same without an index */
    for (size_t i = 0; i < OTHERS; i++)
        large[i] = i % 100 ? "FILL=1" : "TWICE=again";
    memcpy(large + OTHERS, block, sizeof(block));
    rc_env_index(&env, large);
    assert_false(env.indexed);
    assert_int_equal(env.count, OTHERS + UNIT_COUNT(block) - 1);
    for (size_t i = 0; i < UNIT_COUNT(rows); i++)
        expect_places(&env, large, rows[i].input);
}

UNIT_TEST(has_no_block, "no block and an empty block")
{
    static const char *const empty[] = { NULL };
    struct rc_env env;

    rc_env_index(&env, NULL);
    expect(&env, RC_STR("RANK"), NULL);
    assert_int_equal(env.count, 0);
    assert_int_equal(rc_env_place(&env, RC_STR("RANK"), 0), 0);
    rc_env_index(&env, empty);
    expect(&env, RC_STR("RANK"), NULL);
    assert_int_equal(rc_env_place(&env, RC_STR("RANK"), 0), 0);
}

/* Every entry ends where the page does: no reading past a NUL. */
UNIT_TEST(reads_no_further, "no entry is read past its end")
{
    const char *entries[UNIT_COUNT(block)];
    struct rc_env env;

    for (size_t i = 0; i < UNIT_COUNT(block); i++)
        entries[i] = block[i] ? unit_guard_string(block[i]) : NULL;
    rc_env_index(&env, entries);
    for (size_t i = 0; i < UNIT_COUNT(rows); i++)
        expect(&env, rows[i].input, rows[i].value);
}
