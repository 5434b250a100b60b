/* SPDX-License-Identifier: BSD-3-Clause */
/* The program of a command line, as /proc and a recording show it, and whose task is below it. */
#include "resolve/resolve.h"
#include "unit.h"

struct name {
    struct rc_str input;
    const char *name; /* NULL: absent */
    const char *why;
};

static const struct name names[] = {
    { TEXT("orted\0-mca\0ess\0env\0"), "orted", "a program and its words" },
    { TEXT("/usr/bin/orted\0"), "orted", "the base name" },
    { TEXT("slurmstepd: [42.0]\0"), "slurmstepd", "a title is cut at its colon" },
    { TEXT("slurmstepd:\0[42.0]\0"), "slurmstepd", "a recording has NULs for the title's blanks" },
    { TEXT("sshd: alice [priv]\0\0\0"), "sshd", "a title that is padded with NULs" },
    { TEXT("mpirun -np 2 train\0"), "mpirun", "a title without a colon" },
    { TEXT("/opt/a:b/orted\0"), "orted", "a colon in a path is no title" },
    { TEXT("-bash\0"), "-bash", "a login shell" },
    { TEXT("python3\0/usr/bin/torchrun\0--nnodes=2\0"), "torchrun", "of Python the script" },
    { TEXT("python3.11\0-m\0torch.distributed.run\0x.py\0"), "torch.distributed.run", "of Python the module" },
    { TEXT("python\0-mtorch.distributed.run\0"), "torch.distributed.run", "the module in the same word" },
    { TEXT("python\0-u\0-X\0dev\0-W\0error\0a/torchrun\0"), "torchrun", "options, with their words" },
    { TEXT("python\0-c\0import torchrun\0"), "python", "Python with a text has no name" },
    { TEXT("python\0"), "python", "Python alone" },
    { TEXT("python\0-m\0"), "python", "no module after -m" },
    { TEXT("orted"), "orted", "no NUL at the end: a command line cut short" },
    { TEXT(""), NULL, "a kernel thread or a zombie has none" },
    { TEXT("\0"), NULL, "a process with an empty name" },
    { TEXT("/\0"), NULL, "a folder" },
    { NO_TEXT, NULL, "nothing was read" },
};

UNIT_ROWS(tells_names, "the name of", names)
{
    struct rc_str found = rc_ancestor_name(unit_guard(row->input));

    if (row->name) {
        assert_int_equal(found.n, strlen(row->name));
        assert_memory_equal(found.p, row->name, found.n);
    } else {
        assert_int_equal(found.n, 0);
    }
}

struct member {
    struct rc_str input;
    const char *list;
    bool is;
    const char *why;
};

static const struct member members[] = {
    { TEXT("orted"), "orted|mpirun", true, "the first" },
    { TEXT("mpirun"), "orted|mpirun", true, "the last" },
    { TEXT("mpi"), "orted|mpirun", false, "the beginning of one" },
    { TEXT("mpirun.mpich"), "orted|mpirun", false, "more than one" },
    { TEXT("orted|mpirun"), "orted|mpirun", false, "the whole list" },
    { TEXT(""), "orted||mpirun", false, "an empty name is none, also between two bars" },
    { TEXT(""), "", false, "an empty name in an empty list" },
    { TEXT("orted"), "", false, "an empty list" },
    { NO_TEXT, "orted", false, "no name" },
};

UNIT_ROWS(finds_members, "one of a list is", members)
{
    assert_int_equal(rc_str_which(unit_guard(row->input), row->list) > 0, row->is);
}

static const struct name options[] = {
    { TEXT("hydra_pmi_proxy\0--proxy-id\0"
           "3\0"),
      "3", "the word after it" },
    { TEXT("p\0--proxy-id\0"
           "3\0--proxy-id\0"
           "4\0"),
      "3", "the first of two" },
    { TEXT("p\0--proxy-id-x\0"
           "3\0"),
      NULL, "a longer option" },
    { TEXT("p\0--proxy-id=3\0"), NULL, "with its value in one word" },
    { TEXT("p\0--proxy-id\0"), "", "nothing after it" },
    { TEXT("p\0--proxy-id"), NULL, "cut short" },
    { TEXT("p\0"), NULL, "not there" },
    { NO_TEXT, NULL, "nothing was read" },
};

UNIT_ROWS(finds_options, "the option in", options)
{
    struct rc_str found = rc_ancestor_option(unit_guard(row->input), "--proxy-id");

    assert_int_equal(found.n, row->name ? strlen(row->name) : 0);
    if (found.n)
        assert_memory_equal(found.p, row->name, found.n);
}

static const struct member scripts[] = {
    { TEXT("slurmstepd: [42.batch]"), NULL, true, "a batch script's" },
    { TEXT("slurmstepd: [42.batch]\0"), NULL, true, "with its NUL" },
    { TEXT("slurmstepd:\0[42.extern]\0"), NULL, true, "as it is recorded" },
    { TEXT("slurmstepd: [42.interactive]"), NULL, true, "salloc's shell" },
    { TEXT("slurmstepd: [42.0]"), NULL, false, "a step's" },
    { TEXT("slurmstepd: [42.batch2]"), NULL, false, "no such step" },
    { TEXT("slurmstepd"), NULL, false, "it has not said yet" },
    { TEXT("bash\0[42.batch]\0"), NULL, false, "another program" },
    { NO_TEXT, NULL, false, "nothing was read" },
};

UNIT_ROWS(knows_scripts, "a batch script's process is", scripts)
{
    assert_int_equal(rc_ancestor_is_batch(unit_guard(row->input)), row->is);
}

/* Whether a task of Open MPI's and of Flux's is taken for Flux's; of two processes so many are there. */
static bool is_of_flux(unsigned count)
{
    static const char *const env[] = { "OMPI_COMM_WORLD_RANK=0", "FLUX_TASK_RANK=0", "FLUX_JOB_ID=f1", NULL };
    static struct rc_result result;
    struct rc_here here = {
        .learned = ~0u,
        .ancestor = { RC_STR("bash"), RC_STR("flux-shell") },
        .ancestor_count = count,
    };
    struct rc_context context = { .env = env, .here = &here };

    rc_resolve(&context, &result);
    return strcmp(result.launcher->id, "flux") == 0;
}

UNIT_TEST(counts_ancestors, "the last process that is there is looked at, and none after it")
{
    assert_true(is_of_flux(2));
    assert_false(is_of_flux(1));
}
