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
    struct rc_str found = rc_env_find(env, (struct rc_str){ unit_guard_string(name.p), name.n });

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

/* The same block after so many others that there is no index: same answers. */
UNIT_ROWS(finds_without_index, "env without index finds", rows)
{
    enum { OTHERS = RC_ENV_INDEXED + 1 };
    const char *large[OTHERS + UNIT_COUNT(block)];
    char names[OTHERS][16];
    struct rc_env env;

    for (size_t i = 0; i < OTHERS; i++) {
        snprintf(names[i], sizeof(names[i]), "FILL_%zu=%zu", i, i);
        large[i] = names[i];
    }
    memcpy(large + OTHERS, block, sizeof(block));
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
    enum { OTHERS = RC_ENV_INDEXED + 1 };
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

/* Blocks of `size` variables: the first, the last and the middle are found. */
static const struct {
    struct rc_str input;
    size_t size;
    const char *why;
} sizes[] = {
    { TEXT("1"), 1, "one variable" },
    { TEXT("511"), RC_ENV_INDEXED - 1, "one less than the index holds" },
    { TEXT("512"), RC_ENV_INDEXED, "as many as the index holds" },
    { TEXT("513"), RC_ENV_INDEXED + 1, "one more than the index holds" },
    { TEXT("4096"), 4096, "a power of two" },
    { TEXT("100000"), 100000, "100,000 variables" },
};

UNIT_ROWS(finds_in_size, "env holds", sizes)
{
    char(*text)[48] = malloc(row->size * sizeof(*text));
    const char **entries = malloc((row->size + 1) * sizeof(*entries));
    const size_t asked[] = { 0, row->size / 2, row->size - 1 };
    struct rc_env env;

    assert_non_null(text);
    assert_non_null(entries);
    for (size_t i = 0; i < row->size; i++) {
        snprintf(text[i], sizeof(text[i]), "V%zu=%zu", i, i);
        entries[i] = text[i];
    }
    entries[row->size] = NULL;
    rc_env_index(&env, entries);
    assert_int_equal(env.indexed, row->size <= RC_ENV_INDEXED);
    for (size_t i = 0; i < UNIT_COUNT(asked); i++) {
        char name[24];
        char value[24];

        snprintf(name, sizeof(name), "V%zu", asked[i]);
        snprintf(value, sizeof(value), "%zu", asked[i]);
        expect(&env, rc_str(name), value);
    }
    expect(&env, RC_STR("V"), NULL);
    expect(&env, RC_STR("V100001"), NULL);
    free(entries);
    free(text);
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

/* Lengths at which a counter of the index could wrap or a limit of the kernel lies. */
UNIT_TEST(takes_long_entries, "names up to 64 KiB, values up to 2 MiB")
{
    static const size_t names[] = { 1, 255, 2048, 65534, 65535 };
    static const size_t values[] = { 0, 131071, 2u << 20 };
    static char name[65536];

    for (size_t i = 0; i < UNIT_COUNT(names); i++) {
        for (size_t j = 0; j < UNIT_COUNT(values); j++) {
            char *entry = malloc(names[i] + 1 + values[j] + 1);
            const char *entries[] = { entry, "RANK=1", NULL };
            struct rc_env env;
            struct rc_str found;

            assert_non_null(entry);
            memset(entry, 'N', names[i]);
            memset(name, 'N', names[i]);
            entry[names[i]] = '=';
            memset(entry + names[i] + 1, 'v', values[j]);
            entry[names[i] + 1 + values[j]] = '\0';
            rc_env_index(&env, entries);
            name[names[i]] = '\0';
            found = rc_env_find(&env, (struct rc_str){ name, names[i] });
            assert_ptr_equal(found.p, entry + names[i] + 1);
            assert_int_equal(found.n, values[j]);
            expect(&env, RC_STR("RANK"), "1");
            free(entry);
        }
    }
}

/* A name of 65,536 + 4 characters must not be taken for one of 4. */
UNIT_TEST(keeps_lengths_apart, "a name of 65,540 characters is not one of 4")
{
    char *entry = malloc(65536 + 4 + 3);
    const char *entries[] = { entry, "NNNN=right", NULL };
    struct rc_env env;

    assert_non_null(entry);
    memset(entry, 'N', 65536 + 4);
    memcpy(entry + 65536 + 4, "=x", 3);
    rc_env_index(&env, entries);
    expect(&env, RC_STR("NNNN"), "right");
    free(entry);
}

UNIT_TEST(finds_by_literal, "a name that is a literal")
{
    struct rc_env env;

    rc_env_index(&env, block);
    assert_true(rc_str_is(rc_env_get(&env, "RANK_X"), "4"));
    assert_null(rc_env_get(&env, "RANKS").p);
}
