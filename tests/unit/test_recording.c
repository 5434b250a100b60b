/* SPDX-License-Identifier: BSD-3-Clause */
/* What a recorded environment tells of its node. */
#include "console/input.h"
#include "unit.h"

enum {
    ALL = RC_LEARN_ANCESTORS | RC_LEARN_HOST | RC_LEARN_HOST_FILE | RC_LEARN_GPUS | RC_LEARN_PMIX | RC_LEARN_WATCH |
          RC_LEARN_REVERSE | RC_LEARN_GPU_FILES
};

static void is(struct rc_str found, const char *expected, size_t size)
{
    assert_int_equal(found.n, size);
    assert_memory_equal(found.p, expected, size);
}

static size_t size_of(const char *const *block)
{
    size_t size = 0;

    for (; *block; block++)
        size += strlen(*block) + 1;
    return size;
}

UNIT_TEST(reads_all_kinds, "all kinds, whatever is between them")
{
    const char *block[16];
    struct rc_here here;
    char *storage;

    unit_words("RANK=1 @host-file=n1 '@ancestor=orted -mca ess' @host=n2 '@ancestor=slurmstepd: [42.0]' @gpus=4 "
               "A=@ancestor=x @watch=/w @lookup=/l.so @pmix=rank=1 '@host-file=n2 slots=2' @pmix=size=4 "
               "'@gpu-files=8/1 amd'",
               block, UNIT_COUNT(block));
    assert_int_equal(recording_read(block, size_of(block), &here, &storage), 0);
    assert_int_equal(here.ancestor_count, 2);
    is(here.ancestor[0], "orted\0-mca\0ess\0", 15);
    is(here.ancestor[1], "slurmstepd:\0[42.0]\0", 19);
    is(here.host, "n2", 2);
    is(here.watch, "/w", 2);
    is(here.reverse, "/l.so", 5);
    is(here.host_file, "n1\nn2 slots=2\n", 14);
    is(here.pmix, "rank=1\nsize=4\n", 14);
    assert_int_equal(here.gpus, 4);
    assert_int_equal(here.gpu_files, 8);
    assert_int_equal(here.gpu_files_open, 1);
    assert_true(here.gpu_files_amd);
    assert_int_equal(here.learned, ALL);
    free(storage);
}

UNIT_TEST(knows_nothing, "what is not told counts as looked for")
{
    static const char *const block[] = { "RANK=1", "@gpus=many", "@gpus=-1",     "@gpus=65536",    "@Host=n1",
                                         "@",      "@=",         "@gpu-files=8", "@gpu-files=x/1", NULL };
    struct rc_here here;
    char *storage;

    assert_int_equal(recording_read(block, size_of(block), &here, &storage), 0);
    assert_int_equal(here.ancestor_count, 0);
    assert_null(here.host.p);
    assert_null(here.watch.p);
    assert_null(here.reverse.p);
    assert_null(here.host_file.p);
    assert_null(here.pmix.p);
    assert_int_equal(here.gpus, RC_UNKNOWN);
    assert_int_equal(here.gpu_files, 0);
    /* looked for, and not there: nobody may look at the machine that reads it */
    assert_int_equal(here.learned, ALL);
    free(storage);
}

UNIT_TEST(takes_so_many_ancestors, "as many ancestors as there is room for")
{
    const char *block[RC_ANCESTORS_MAX + 9];
    struct rc_here here;
    char *storage;

    for (size_t i = 0; i < UNIT_COUNT(block) - 1; i++)
        block[i] = "@ancestor=";
    block[UNIT_COUNT(block) - 1] = NULL;
    assert_int_equal(recording_read(block, size_of(block), &here, &storage), 0);
    assert_int_equal(here.ancestor_count, RC_ANCESTORS_MAX);
    is(here.ancestor[RC_ANCESTORS_MAX - 1], "\0", 1);
    free(storage);
}
