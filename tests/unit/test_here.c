/* SPDX-License-Identifier: BSD-3-Clause */
/* What the process tree of this machine tells: with real processes. */
#include "effects/look.h"
#include "unit.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>

/* Two launchers in one environment: the core has to ask for the processes. */
#define BOTH                                                                                                       \
    "OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_LOCAL_RANK=1 OMPI_COMM_WORLD_LOCAL_SIZE=2 "     \
    "PMIX_NAMESPACE=77 PMIX_RANK=1 SLURM_JOB_ID=42 SLURM_STEP_ID=0 SLURM_PROCID=0 SLURM_LOCALID=0 SLURM_NODEID=0 " \
    "SLURM_STEP_NUM_TASKS=1 SLURM_STEP_NUM_NODES=1 SLURM_STEP_TASKS_PER_NODE=1 SLURM_STEP_NODELIST=n1 SLURM_GTIDS=0"

static struct rc_here_storage storage;
static struct rc_result result;

static const struct rc_here *look(const char *variables, pid_t pid)
{
    const char *env[32];
    struct rc_context context = { .env = env, .pid = (uint32_t)pid };

    unit_words(variables, env, UNIT_COUNT(env));
    rc_here_resolve(&context, &storage, &result);
    return &storage.here;
}

/* A child at the end of a chain of `depth` processes that all wait; its id, and *alive ends them when closed. */
static pid_t chain(unsigned depth, const char *name, int *alive)
{
    int life[2];
    int tell[2];
    pid_t last;

    assert_int_equal(pipe(life), 0);
    assert_int_equal(pipe(tell), 0);
    for (unsigned i = 0; i < depth; i++) {
        pid_t child = fork();

        assert_true(child >= 0);
        if (child == 0) {
            char end;

            close(life[1]);
            if (name)
                prctl(PR_SET_NAME, name);
            if (i + 1 < depth)
                continue;
            last = getpid();
            if (write(tell[1], &last, sizeof(last)) != sizeof(last))
                _exit(1);
            _exit(read(life[0], &end, 1) == 0 ? 0 : 1);
        }
        if (i > 0) {
            waitpid(child, NULL, 0);
            _exit(0);
        }
        break;
    }
    assert_int_equal(read(tell[0], &last, sizeof(last)), sizeof(last));
    close(tell[0]);
    close(tell[1]);
    close(life[0]);
    *alive = life[1];
    return last;
}

static void end(int alive)
{
    close(alive);
    while (wait(NULL) > 0)
        continue;
}

UNIT_TEST(is_not_asked, "outside of every launcher nothing is looked at")
{
    assert_int_equal(look("PATH=/bin", getpid())->learned, 0);
}

/* Slurm wrote this very process's id: who else's task it may look like is of no interest. */
UNIT_TEST(is_certain, "a task that Slurm proves does not read the process tree for Hydra")
{
    char env[1024];

    snprintf(env, sizeof(env), "PMI_RANK=0 PMI_SIZE=2 MPI_LOCALRANKID=0 SLURM_TASK_PID=%d " BOTH, (int)getpid());
    assert_int_equal(look(env, getpid())->learned & RC_LEARN_ANCESTORS, 0);
    assert_string_equal(result.launcher->id, "slurm");
    assert_int_not_equal(look(env, 1)->learned & RC_LEARN_ANCESTORS, 0);
}

/* As the plugin, which has it from Slurm who the task is. */
UNIT_TEST(is_kept_from_it, "what is not to be looked at is not")
{
    storage.only = RC_LEARN_WATCH;
    assert_int_equal(look(BOTH, getpid())->learned, 0);
    storage.only = 0;
    assert_int_not_equal(look(BOTH, getpid())->learned & RC_LEARN_ANCESTORS, 0);
}

static unsigned asked;

static struct rc_str answer_once(void)
{
    asked++;
    return RC_STR("rank=1\nsize=2\nlocal_rank=1\nnode=0\nmap=(vector,(0,1,2))\ntasks=2\nhost=n1\n");
}

/* Only a task that would be refused without. */
UNIT_TEST(asks_pmix_once, "a PMIx server is asked once, by whoever can, and by nobody who need not")
{
    static const char task[] = "PMIX_NAMESPACE=prterun-n1-4711@1 PMIX_RANK=1";

    assert_true(look(task, getpid())->learned & RC_LEARN_PMIX);
    assert_int_equal(result.status, RC_CONTRADICTION);
    storage.ask_pmix = answer_once;
    look("PMIX_NAMESPACE=slurm.pmix.42.0 PMIX_RANK=1", getpid());
    look(BOTH, getpid());
    assert_int_equal(asked, 0);
    look(task, getpid());
    assert_int_equal(result.status, RC_RESOLVED);
    assert_int_equal(result.identity.field[RC_WORLD_SIZE], 2);
    assert_int_equal(asked, 1);
    storage.ask_pmix = NULL;
}

UNIT_TEST(tells_parents, "the parent comes first, with its command line")
{
    char own[4096];
    int alive;
    pid_t child = chain(1, NULL, &alive);
    const struct rc_here *here = look(BOTH, child);
    int file = open("/proc/self/cmdline", O_RDONLY);
    ssize_t n = read(file, own, sizeof(own));

    close(file);
    assert_true(here->learned & RC_LEARN_ANCESTORS);
    assert_true(here->ancestor_count > 0);
    assert_true(n > 0);
    assert_memory_equal(here->ancestor[0].p, own, here->ancestor[0].n);
    assert_true(here->ancestor[0].n > 0);
    end(alive);
}

/* "PID (a) R 1 (b) S PPID": the last bracket ends the name. */
UNIT_TEST(reads_strange_names, "names full of brackets and blanks")
{
    static const char *const strange[] = { ") R 1 (", "a b) S 1", "((((", "))))", "\n) Z 1 1", " " };

    for (size_t i = 0; i < UNIT_COUNT(strange); i++) {
        int alive;
        pid_t child = chain(3, strange[i], &alive);
        const struct rc_here *here = look(BOTH, child);
        struct rc_str own = here->ancestor[0];

        /* two forks, and this program: the same command line thrice */
        assert_true(here->ancestor_count >= 3);
        for (unsigned k = 0; k < 3; k++) {
            assert_int_equal(here->ancestor[k].n, own.n);
            assert_memory_equal(here->ancestor[k].p, own.p, own.n);
        }
        end(alive);
    }
}

UNIT_TEST(ends_in_deep_trees, "a tree that is deeper than there is room for")
{
    int alive;
    pid_t child = chain(2 * RC_ANCESTORS_MAX, NULL, &alive);
    const struct rc_here *here = look(BOTH, child);

    assert_true(here->ancestor_count > 4);
    assert_true(here->ancestor_count <= RC_ANCESTORS_MAX);
    end(alive);
}

UNIT_TEST(survives_vanished_processes, "a process that is gone")
{
    pid_t gone = fork();

    if (gone == 0)
        _exit(0);
    waitpid(gone, NULL, 0);
    assert_int_equal(look(BOTH, gone)->ancestor_count, 0);
    assert_int_equal(look(BOTH, 1)->ancestor_count, 0);
    assert_int_equal(look(BOTH, 0x7ffffffe)->ancestor_count, 0);
    /* nothing told whose task it is: the order of families does, as without a process tree */
    assert_string_equal(result.launcher->id, "openmpi");
}
