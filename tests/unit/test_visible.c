/* SPDX-License-Identifier: BSD-3-Clause */
/* Which GPUs a task sees: every way in which Slurm and others hand them out, by more, as many and fewer tasks. */
#include "resolve/options.h"
#include "resolve/resolve.h"
#include "resolve/steps.h"
#include "unit.h"

#define ALL4                    "CUDA_VISIBLE_DEVICES=0,1,2,3 SLURM_GPUS_ON_NODE=4 SLURM_STEP_GPUS=0,1,2,3 "
#define ALL2                    "CUDA_VISIBLE_DEVICES=0,1 SLURM_GPUS_ON_NODE=2 SLURM_STEP_GPUS=0,1 "
#define BOUND                   "SLURMD_TRES_BIND=gres/gpu:per_task:1 SLURM_GPUS_ON_NODE=4 "
#define BOUND_TO(list, numbers) BOUND "CUDA_VISIBLE_DEVICES=" list " SLURM_STEP_GPUS=" numbers
#define TWO_EACH(list, numbers, of) \
    "SLURMD_TRES_BIND=gpu:per_task:2 CUDA_VISIBLE_DEVICES=" list " SLURM_STEP_GPUS=" numbers " SLURM_GPUS_ON_NODE=" of
#define MIGS         "CUDA_VISIBLE_DEVICES=MIG-a,MIG-b SLURM_GPUS_ON_NODE=2 SLURM_STEP_GPUS=0,1 "
#define OF_JOB(list) "SLURMD_NODENAME=n1 SLURM_JOB_NODELIST=n[1-2] SLURM_JOB_GPUS=" list " "
#define FOUR(list) \
    "CUDA_VISIBLE_DEVICES=" list " ROCR_VISIBLE_DEVICES=" list " ZE_AFFINITY_MASK=" list " GPU_DEVICE_ORDINAL=" list " "
#define ALONE "LOCAL_RANK=0 "
#define PCI   " CUDA_DEVICE_ORDER=PCI_BUS_ID"
#define JAX   " JAX_LOCAL_DEVICE_IDS=0"

struct row {
    struct rc_str input; /* variables, blanks between */
    uint32_t rank;
    uint32_t tasks;
    const char *files; /* "4/1": device files, and those that may be opened; a third, "amd"; NULL: nobody can look */
    const char *step;  /* CUDA_VISIBLE_DEVICES in user_init; NULL: no plugin */
    const char *options;
    const char *expected; /* LOCAL_RANK, and what changes of the GPUs' variables; then the messages */
    const char *why;
};

static const struct row rows[] = {
    /* no GPUs */
    { TEXT(""), 1, 2, NULL, NULL, "", "LOCAL_RANK=1", "no variable" },
    { TEXT("CUDA_VISIBLE_DEVICES="), 1, 2, NULL, NULL, "", "LOCAL_RANK=1", "none" },
    { TEXT("CUDA_VISIBLE_DEVICES=-1"), 1, 2, NULL, NULL, "", "LOCAL_RANK=1", "none, as Flux says it" },
    { TEXT("CUDA_VISIBLE_DEVICES=NoDevFiles"), 1, 2, NULL, NULL, "", "LOCAL_RANK=1", "none, as old Slurms say it" },
    { TEXT("CUDA_VISIBLE_DEVICES= ROCR_VISIBLE_DEVICES=0"), 1, 2, NULL, NULL, "", "LOCAL_RANK=1", "hidden on purpose" },

    /* all of them in every task */
    { TEXT(ALL4), 3, 4, NULL, "0,1,2,3", "", "LOCAL_RANK=3", "the last" },
    { TEXT(ALL4), 3, 4, NULL, NULL, "", "LOCAL_RANK=3", "without the plugin" },
    { TEXT(ALL4 "SLURMD_TRES_BIND=gpu:none"), 3, 4, NULL, NULL, "", "LOCAL_RANK=3", "told not to bind" },
    { TEXT("CUDA_VISIBLE_DEVICES=0,1 SLURM_GPUS_ON_NODE=2 SLURM_STEP_GPUS=4,5"), 1, 2, "8/2", "0,1", "", "LOCAL_RANK=1",
      "numbered anew by the step's cgroup" },
    { TEXT("CUDA_VISIBLE_DEVICES=GPU-a,GPU-b SLURM_GPUS_ON_NODE=2"), 1, 2, NULL, NULL, "", "LOCAL_RANK=1", "UUIDs" },
    { TEXT("CUDA_VISIBLE_DEVICES=0,1,2,3 SLURM_GPUS_ON_NODE=2"), 3, 4, NULL, NULL, "", "LOCAL_RANK=3", "more by hand" },

    /* more tasks than GPUs */
    { TEXT(ALL2), 0, 4, NULL, "0,1", "", ALONE "CUDA_VISIBLE_DEVICES=0" PCI JAX " RC902", "the first of two" },
    { TEXT(ALL2), 3, 4, NULL, "0,1", "", ALONE "CUDA_VISIBLE_DEVICES=1" PCI JAX " RC902", "in turn" },
    { TEXT(ALL2 "CUDA_DEVICE_ORDER=FASTEST_FIRST"), 3, 4, NULL, NULL, "", ALONE "CUDA_VISIBLE_DEVICES=1" JAX " RC902",
      "an order of the user's own" },
    { TEXT(ALL2 "CUDA_MPS_PIPE_DIRECTORY=/tmp/mps"), 3, 4, NULL, NULL, "", ALONE "CUDA_VISIBLE_DEVICES=1" PCI JAX,
      "with MPS" },
    { TEXT("CUDA_VISIBLE_DEVICES=0 SLURM_GPUS_ON_NODE=1"), 1, 2, NULL, NULL, "", "LOCAL_RANK=0" JAX " RC902",
      "one for two" },
    { TEXT("CUDA_VISIBLE_DEVICES=0"), 1, 2, NULL, NULL, "", "LOCAL_RANK=0" JAX, "one, and nobody says whose" },
    { TEXT("CUDA_VISIBLE_DEVICES=0 SLURM_SHARDS_ON_NODE=4"), 1, 2, NULL, NULL, "", "LOCAL_RANK=0" JAX, "shards" },
    { TEXT(FOUR("0,1") "SLURM_GPUS_ON_NODE=2"), 3, 4, "2/2", NULL, "",
      ALONE "CUDA_VISIBLE_DEVICES=1 ROCR_VISIBLE_DEVICES=1 GPU_DEVICE_ORDINAL=1 ZE_AFFINITY_MASK=1" PCI JAX " RC902",
      "all four of Slurm's" },
    { TEXT(FOUR("0,1") "SLURM_GPUS_ON_NODE=2"), 3, 4, "2/2 amd", NULL, "",
      ALONE "-CUDA_VISIBLE_DEVICES ROCR_VISIBLE_DEVICES=1 -GPU_DEVICE_ORDINAL ZE_AFFINITY_MASK=1" JAX " RC902",
      "AMD's: what would count what ROCR left" },
    { TEXT("ROCR_VISIBLE_DEVICES=4,5 HIP_VISIBLE_DEVICES=0,1 SLURM_GPUS_ON_NODE=2"), 3, 4, "8/8 amd", NULL, "",
      ALONE "HIP_VISIBLE_DEVICES=1" JAX " RC902", "AMD's with two lists that know of each other" },
    { TEXT("SLURMD_TRES_BIND=gpu:single:2 CUDA_VISIBLE_DEVICES=1 SLURM_GPUS_ON_NODE=2 SLURM_STEP_GPUS=1"), 3, 4, "2/2",
      "0,1", "", "LOCAL_RANK=0" JAX, "--ntasks-per-gpu=2: the one that Slurm chose" },
    { TEXT("SLURMD_TRES_BIND=gpu:map_gpu:0,0,1 CUDA_VISIBLE_DEVICES=1 SLURM_GPUS_ON_NODE=2 SLURM_STEP_GPUS=1"), 2, 3,
      "2/2", "0,1", "", "LOCAL_RANK=0" JAX " RC902", "a map for three" },

    /* and the job has more */
    { TEXT(ALL2 OF_JOB("0,1,2,3")), 0, 4, NULL, NULL, "", ALONE "CUDA_VISIBLE_DEVICES=0" PCI JAX " RC906",
      "two of its four for four tasks" },
    { TEXT(ALL2 OF_JOB("3,2,1,0")), 0, 4, NULL, NULL, "", ALONE "CUDA_VISIBLE_DEVICES=0" PCI JAX " RC906",
      "in another order" },
    { TEXT(ALL2 OF_JOB("0,1,2,3")), 1, 2, NULL, NULL, "", "LOCAL_RANK=1", "two of its four for two tasks" },
    { TEXT(ALL2 OF_JOB("0,1,2,3")), 0, 1, NULL, NULL, "launcher,nproc=4", "JAX_LOCAL_DEVICE_IDS=0,1 RC906",
      "for four workers" },
    { TEXT(ALL2 OF_JOB("0,1,2,3")), 0, 1, NULL, NULL, "launcher,nproc=2", "JAX_LOCAL_DEVICE_IDS=0,1", "for two" },
    { TEXT(ALL2 OF_JOB("0,1,2,3")), 0, 1, NULL, NULL, "launcher", "JAX_LOCAL_DEVICE_IDS=0,1",
      "for as many as there are" },
    { TEXT(ALL2 OF_JOB("0,1")), 0, 4, NULL, NULL, "", ALONE "CUDA_VISIBLE_DEVICES=0" PCI JAX " RC902", "no more" },
    { TEXT(ALL2 OF_JOB("1,2,3")), 0, 4, NULL, NULL, "", ALONE "CUDA_VISIBLE_DEVICES=0" PCI JAX " RC902",
      "another job's: one of the step's is not among them" },
    { TEXT(ALL2 OF_JOB("")), 0, 4, NULL, NULL, "", ALONE "CUDA_VISIBLE_DEVICES=0" PCI JAX " RC902", "not said" },
    { TEXT(ALL2 "SLURMD_NODENAME=n1 SLURM_JOB_NODELIST=n[0-1] SLURM_JOB_GPUS=0,1,2,3"), 0, 4, NULL, NULL, "",
      ALONE "CUDA_VISIBLE_DEVICES=0" PCI JAX " RC902", "the numbers of the job's first node" },
    { TEXT(ALL2 OF_JOB("0,1,2,3") "CUDA_MPS_PIPE_DIRECTORY=/tmp/mps"), 0, 4, NULL, NULL, "",
      ALONE "CUDA_VISIBLE_DEVICES=0" PCI JAX, "with MPS" },
    { TEXT(BOUND_TO("2", "2") " " OF_JOB("0,1,2,3,4,5,6,7")), 2, 4, "4/4", NULL, "", "LOCAL_RANK=0" JAX,
      "bound: the step's own are not known without the plugin" },

    /* one by variable */
    { TEXT(BOUND_TO("2", "2")), 2, 4, "4/4", "0,1,2,3", "", "LOCAL_RANK=2 CUDA_VISIBLE_DEVICES=0,1,2,3" PCI,
      "the step's list" },
    { TEXT(BOUND_TO("0", "0")), 0, 4, "8/8", "0,1,2,3", "", "LOCAL_RANK=0 CUDA_VISIBLE_DEVICES=0,1,2,3" PCI,
      "the first; other jobs' may be opened as well" },
    { TEXT(BOUND_TO("3", "3")), 0, 4, "4/4", "0,1,2,3", "", "LOCAL_RANK=0 CUDA_VISIBLE_DEVICES=3,1,2,0" PCI,
      "another one than its place: they change places" },
    { TEXT(BOUND_TO("1", "1")), 1, 4, "8/4", "0,1,2,3", "", "LOCAL_RANK=1 CUDA_VISIBLE_DEVICES=0,1,2,3" PCI,
      "--gres-flags=allow-task-sharing: the step's cgroup alone" },
    { TEXT(BOUND "CUDA_VISIBLE_DEVICES=GPU-b"), 0, 4, "4/4", "GPU-a,GPU-b,GPU-c,GPU-d", "",
      "LOCAL_RANK=0 CUDA_VISIBLE_DEVICES=GPU-b,GPU-a,GPU-c,GPU-d", "UUIDs" },
    { TEXT(BOUND_TO("7", "7")), 2, 4, "8/8", "0,1,2,3", "", "LOCAL_RANK=0" JAX, "none of the step's" },
    { TEXT(BOUND_TO("2", "2")), 2, 4, "4/4", NULL, "", "LOCAL_RANK=0" JAX, "without the plugin" },
    { TEXT(BOUND_TO("2", "2")), 2, 4, "1/1", "0,1,2,3", "", "LOCAL_RANK=0" JAX, "a container's" },
    { TEXT(BOUND_TO("2", "2")), 2, 4, "4/4", "0,1,2,3", "gpus=own", "LOCAL_RANK=0" JAX, "as asked for" },
    { TEXT("CUDA_VISIBLE_DEVICES=2 SLURM_GPUS_ON_NODE=4 SLURM_STEP_GPUS=0,1,2,3"), 2, 4, "4/4", NULL, "",
      "LOCAL_RANK=0" JAX, "by a script of the user's" },
    { TEXT(FOUR("1") BOUND "SLURM_STEP_GPUS=1"), 0, 4, "4/4", "0,1,2,3", "",
      "LOCAL_RANK=0 CUDA_VISIBLE_DEVICES=1,0,2,3 ROCR_VISIBLE_DEVICES=1,0,2,3 GPU_DEVICE_ORDINAL=1,0,2,3 "
      "ZE_AFFINITY_MASK=1,0,2,3" PCI,
      "all four of Slurm's" },
    { TEXT("CUDA_VISIBLE_DEVICES=2 ZE_AFFINITY_MASK=0.1 " BOUND "SLURM_STEP_GPUS=2"), 2, 4, "4/4", "0,1,2,3", "",
      "LOCAL_RANK=2 CUDA_VISIBLE_DEVICES=0,1,2,3" PCI, "another list than Slurm's is left alone" },
    { TEXT("SLURMD_TRES_BIND=gpu:single:1 SLURM_GPUS_ON_NODE=4 CUDA_VISIBLE_DEVICES=0"), 0, 1, "4/4", "0,1,2,3",
      "worker", "LOCAL_RANK=0", "one task: nobody is its peer" },

    /* taken away */
    { TEXT("SLURMD_TRES_BIND=gpu:none SLURM_GPUS_ON_NODE=4"), 2, 4, "4/4", "0,1,2,3", "",
      "LOCAL_RANK=2 CUDA_VISIBLE_DEVICES=0,1,2,3", "Slurm up to 23.02" },
    { TEXT("SLURMD_TRES_BIND=gpu:none SLURM_GPUS_ON_NODE=2"), 2, 4, "4/4", "0,1", "",
      ALONE "CUDA_VISIBLE_DEVICES=0" PCI JAX " RC902", "and more tasks than GPUs" },
    { TEXT("SLURMD_TRES_BIND=gpu:none SLURM_GPUS_ON_NODE=4"), 2, 4, "4/4", NULL, "", "LOCAL_RANK=2",
      "without the plugin" },
    { TEXT(""), 2, 4, "4/4", "0,1,2,3", "", "LOCAL_RANK=2", "by another hand" },

    /* one by cgroup */
    { TEXT(BOUND_TO("0", "3")), 3, 4, "4/1", "0,1,2,3", "", "LOCAL_RANK=0" JAX " RC901", "the last" },
    { TEXT(BOUND_TO("0", "3")), 3, 4, "4/1", NULL, "", "LOCAL_RANK=0" JAX " RC901", "without the plugin" },
    { TEXT(BOUND_TO("0", "3")), 3, 4, "4/1", "0,1,2,3", "gpus=own", "LOCAL_RANK=0" JAX " RC901", "own" },
    { TEXT(BOUND_TO("0", "3")), 3, 4, "0/0", NULL, "", "LOCAL_RANK=0" JAX " RC901",
      "no device files, but Slurm's numbers tell" },
    { TEXT(BOUND_TO("0", "4")), 0, 2, "1/1", NULL, "", "LOCAL_RANK=0" JAX " RC901", "a container's" },
    { TEXT(BOUND "CUDA_VISIBLE_DEVICES=0"), 0, 1, "4/1", NULL, "worker", "LOCAL_RANK=0", "one task has no peers" },

    /* MIG: a process uses the first of its list */
    { TEXT(MIGS), 1, 2, "1/1", "MIG-a,MIG-b", "", ALONE "CUDA_VISIBLE_DEVICES=MIG-b" JAX, "as many as tasks" },
    { TEXT(MIGS), 0, 1, "1/1", "MIG-a,MIG-b", "worker", "LOCAL_RANK=0", "for one task" },
    { TEXT("CUDA_VISIBLE_DEVICES=MIG-b " BOUND), 1, 4, "1/1", "MIG-a,MIG-b,MIG-c,MIG-d", "", "LOCAL_RANK=0" JAX,
      "bound" },

    /* each its own */
    { TEXT(ALL4), 2, 4, NULL, "0,1,2,3", "gpus=own", ALONE "CUDA_VISIBLE_DEVICES=2" PCI JAX, "gpus=own" },
    { TEXT(ALL4), 0, 1, NULL, "0,1,2,3", "worker,gpus=own", ALONE "CUDA_VISIBLE_DEVICES=0" PCI, "of one task" },

    /* several each */
    { TEXT(TWO_EACH("0,1", "0,1", "4")), 0, 2, "4/4", "0,1,2,3", "", "LOCAL_RANK=0", "left as they are" },
    { TEXT(TWO_EACH("4,5", "4,5", "8")), 2, 4, "8/8", "0,1,2,3,4,5,6,7", "", "LOCAL_RANK=2",
      "without one that LOCAL_RANK names" },
    { TEXT(TWO_EACH("4,5", "4,5", "8")), 2, 4, "8/8", "0,1,2,3,4,5,6,7", "gpus=own", "LOCAL_RANK=0", "gpus=own" },
    { TEXT(TWO_EACH("0,1", "2,3", "4")), 1, 2, "4/2", "0,1,2,3", "", "LOCAL_RANK=1 RC901", "by cgroup" },
};

struct find {
    const char *env[64];
    struct rc_context context;
    struct rc_here here;
    struct rc_step_gpus gpus;
    char option[256];
};

static void start(struct find *f, const struct row *row)
{
    static const char head[] = "SLURM_JOB_ID=42 SLURM_STEP_ID=0 SLURM_NODEID=0 SLURM_STEP_NUM_NODES=1 "
                               "SLURM_STEP_NODELIST=n1 SLURM_PROCID=%u SLURM_LOCALID=%u SLURM_STEP_NUM_TASKS=%u "
                               "SLURM_STEP_TASKS_PER_NODE=%u %.*s";
    char text[2048];

    memset(f, 0, sizeof(*f));
    snprintf(text, sizeof(text), head, row->rank, row->rank, row->tasks, row->tasks, (int)row->input.n, row->input.p);
    unit_words(text, f->env, UNIT_COUNT(f->env));
    f->context = (struct rc_context){ .env = f->env, .here = &f->here };
    if (row->files) {
        char end[8] = "";

        assert_true(sscanf(row->files, "%u/%u %7s", &f->here.gpu_files, &f->here.gpu_files_open, end) >= 2);
        f->here.gpu_files_amd = end[0];
        f->here.learned = RC_LEARN_GPU_FILES;
    }
    if (row->step) {
        /* the other lists of the step as the task has them: all of them, or CUDA's alone */
        for (unsigned i = 0; i < RC_GPU_LISTS; i++)
            if (i == RC_GPU_LIST_CUDA || (strstr(row->input.p, "ORDINAL") && i != RC_GPU_LIST_HIP))
                f->gpus.list[i] = rc_str(row->step);
        f->context.step_gpus = &f->gpus;
    }
    if (row->options[0]) {
        struct rc_arena arena = { .base = f->option, .size = sizeof(f->option) };
        struct rc_messages messages = { .arena = &arena };

        assert_true(rc_options_parse(rc_str(row->options), "--ddp", &f->context.options, &messages));
    }
}

static bool is_shown(struct rc_str name)
{
    return rc_str_is(name, "LOCAL_RANK") || rc_str_is(name, "CUDA_DEVICE_ORDER") ||
           rc_str_is(name, "JAX_LOCAL_DEVICE_IDS") || rc_str_starts(name, "GPU_") ||
           strstr(name.p, "VISIBLE_DEVICES") || rc_str_is(name, "ZE_AFFINITY_MASK");
}

static void put(char *text, size_t size, const char *sign, const char *name, const char *value)
{
    size_t n = strlen(text);

    snprintf(text + n, size - n, "%s%s%s%s%s", n ? " " : "", sign, name, value ? "=" : "", value ? value : "");
}

static void describe(const struct rc_result *result, char *text, size_t size)
{
    text[0] = '\0';
    for (unsigned i = 0; i < result->plan.count; i++) {
        const struct rc_plan_entry *entry = &result->plan.entry[i];

        if (is_shown(entry->name) && (entry->changes || rc_str_is(entry->name, "LOCAL_RANK")))
            put(text, size, entry->action == RC_UNSET ? "-" : "", entry->name.p, entry->value);
    }
    for (unsigned i = 0; i < result->messages.count; i++)
        put(text, size, "", rc_message_entry(result->messages.list[i].id)->id, NULL);
}

/* What the plan makes of the environment, as another program finds it. */
static void apply(struct find *f, const struct rc_result *result, char *room, size_t size)
{
    for (unsigned i = 0; i < result->plan.count; i++) {
        const struct rc_plan_entry *entry = &result->plan.entry[i];
        size_t at = 0;
        int n;

        while (f->env[at] && (strncmp(f->env[at], entry->name.p, entry->name.n) || f->env[at][entry->name.n] != '='))
            at++;
        if (entry->action == RC_UNSET)
            f->env[at] = "X=";
        else if (entry->action == RC_SET) {
            n = snprintf(room, size, "%s=%s", entry->name.p, entry->value);
            assert_true(at < UNIT_COUNT(f->env) - 1 && (size_t)n < size);
            f->env[at] = room;
            room += n + 1;
            size -= (size_t)n + 1;
        }
    }
}

UNIT_ROWS(decides, "the GPUs that a task sees", rows)
{
    static struct rc_result result;
    char room[4096];
    char local[16];
    char found[1024];
    struct find f;

    start(&f, row);
    assert_int_equal(rc_resolve(&f.context, &result), RC_RESOLVED);
    describe(&result, found, sizeof(found));
    assert_string_equal(found, row->expected);
    if (strstr(row->options, "launcher"))
        return;
    assert_int_equal(result.identity.field[RC_LOCAL_RANK], row->rank);
    /* whoever looks again, without the plugin's knowledge and without its option, finds it so */
    apply(&f, &result, room, sizeof(room));
    snprintf(local, sizeof(local), "%.12s", found);
    f.context.step_gpus = NULL;
    f.context.ignore_stamp = true;
    f.context.explain = true;
    if (strstr(row->options, "own"))
        return;
    f.context.options = (struct rc_options){ .mode = RC_MODE_WORKER };
    assert_int_equal(rc_resolve(&f.context, &result), RC_RESOLVED);
    describe(&result, found, sizeof(found));
    assert_memory_equal(found, local, strlen(local));
    assert_null(strchr(found, '-'));
    assert_null(strstr(found, "VISIBLE"));
    assert_null(strstr(found, "RC5"));
    for (unsigned i = 0; i < result.plan.rejected_count; i++)
        assert_string_not_equal(result.plan.rejected[i].name, "LOCAL_RANK");
}

/* Somebody's own numbers, and another launcher's. */
UNIT_TEST(of_others, "somebody's own numbers are believed, and another launcher's lists left alone")
{
    static struct rc_result result;
    const char *env[8];
    struct rc_context context = { .env = env };
    char found[1024];

    unit_words("RANK=1 WORLD_SIZE=2 LOCAL_RANK=1 LOCAL_WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 MASTER_PORT=29500 "
               "CUDA_VISIBLE_DEVICES=0",
               env, UNIT_COUNT(env));
    assert_int_equal(rc_resolve(&context, &result), RC_RESOLVED);
    describe(&result, found, sizeof(found));
    assert_memory_equal(found, "LOCAL_RANK=1", 12);
    /* two for each of four, or two for all? */
    unit_words("OMPI_COMM_WORLD_RANK=3 OMPI_COMM_WORLD_SIZE=4 OMPI_COMM_WORLD_LOCAL_RANK=3 "
               "OMPI_COMM_WORLD_LOCAL_SIZE=4 PMIX_NAMESPACE=1 CUDA_VISIBLE_DEVICES=0,1",
               env, UNIT_COUNT(env));
    assert_int_equal(rc_resolve(&context, &result), RC_RESOLVED);
    describe(&result, found, sizeof(found));
    assert_string_equal(found, "LOCAL_RANK=3");
    env[5] = "CUDA_VISIBLE_DEVICES=3";
    assert_int_equal(rc_resolve(&context, &result), RC_RESOLVED);
    describe(&result, found, sizeof(found));
    assert_memory_equal(found, "LOCAL_RANK=3" JAX, sizeof("LOCAL_RANK=3" JAX) - 1);
    context.options.gpus = RC_GPUS_OWN;
    assert_int_equal(rc_resolve(&context, &result), RC_RESOLVED);
    describe(&result, found, sizeof(found));
    assert_memory_equal(found, ALONE, 13);
}

/* Lightning counts from LOCAL_RANK where the job's name says that it is interactive. */
UNIT_TEST(of_interactive_jobs, "an interactive job's name does not keep Lightning from its ranks")
{
    static struct rc_result result;
    static const struct {
        const char *name, *kept, *shown;
    } jobs[] = {
        { "SLURM_JOB_NAME=interactive", "X=1", "srun" },
        { "SLURM_JOB_NAME=bash", "X=1", "srun" },
        { "SLURM_JOB_NAME=bash", RC_KEPT_NAME "=interactive", "srun" },
        { "SLURM_JOB_NAME=bash", RC_KEPT_NAME "=train", "train" },
        { "SLURM_JOB_NAME=train", "X=1", NULL },
    };

    for (size_t i = 0; i < UNIT_COUNT(jobs); i++) {
        const char *env[18];
        struct rc_context context = { .env = env, .pid = 7 };
        const struct rc_plan_entry *entry;

        unit_words("SLURM_JOB_ID=1 SLURM_STEP_ID=0 SLURM_PROCID=1 SLURM_LOCALID=1 SLURM_NODEID=0 SLURM_GTIDS=0,1 "
                   "SLURM_STEP_NUM_TASKS=2 SLURM_NTASKS=2 SLURM_STEP_NUM_NODES=1 SLURM_NNODES=1 "
                   "SLURM_STEP_TASKS_PER_NODE=2 SLURM_STEP_NODELIST=n1 SLURM_TASK_PID=7 CUDA_VISIBLE_DEVICES=0",
                   env, UNIT_COUNT(env));
        env[14] = jobs[i].name;
        env[15] = jobs[i].kept;
        env[16] = NULL;
        assert_int_equal(rc_resolve(&context, &result), RC_RESOLVED);
        entry = rc_plan_find(&result.plan, RC_STR("SLURM_JOB_NAME"));
        assert_non_null(result.gpus.why);
        assert_int_equal(entry != NULL, jobs[i].shown != NULL);
        if (entry)
            assert_string_equal(entry->value, jobs[i].shown);
    }
}

/* torchrun has all; a list that was taken away is put back, and AMD's are put right. */
UNIT_TEST(of_launchers, "a launcher's task sees all, once")
{
    static struct rc_result result;
    static const struct row taken = {
        TEXT("SLURMD_TRES_BIND=gpu:none SLURM_GPUS_ON_NODE=4"), 0, 1, NULL, "0,1,2,3", "launcher", "", ""
    };
    static const struct row amd = {
        TEXT(FOUR("2,3") "SLURM_GPUS_ON_NODE=2"), 0, 1, "4/4 amd", NULL, "launcher", "", ""
    };
    char found[1024];
    struct find f;

    start(&f, &taken);
    assert_int_equal(rc_resolve(&f.context, &result), RC_RESOLVED);
    describe(&result, found, sizeof(found));
    assert_string_equal(found, "CUDA_VISIBLE_DEVICES=0,1,2,3 JAX_LOCAL_DEVICE_IDS=0,1,2,3");
    start(&f, &amd);
    assert_int_equal(rc_resolve(&f.context, &result), RC_RESOLVED);
    describe(&result, found, sizeof(found));
    assert_string_equal(found, "-CUDA_VISIBLE_DEVICES -GPU_DEVICE_ORDINAL JAX_LOCAL_DEVICE_IDS=0,1");
}

static bool look(struct rc_here *here, enum rc_learn what, struct rc_str path)
{
    (void)here;
    (void)path;
    return what == RC_LEARN_GPU_FILES;
}

/* Nothing is asked of the node where nothing depends on it. */
UNIT_TEST(asks, "device files are looked at only where they decide something")
{
    static struct rc_result result;
    static const struct {
        struct row row;
        bool looks;
    } cases[] = {
        { { TEXT(BOUND "CUDA_VISIBLE_DEVICES=1"), 1, 2, NULL, "0,1", "", "", "which of the step's is it" }, true },
        { { TEXT(ALL2), 1, 2, NULL, "0,1", "", "", "these may be MIG slices" }, true },
        { { TEXT(ALL2 "SLURM_GPUS_PER_NODE=1g.10gb:2"), 1, 2, NULL, "0,1", "", "", "these are MIG slices" }, false },
        { { TEXT(MIGS), 1, 2, NULL, "MIG-a,MIG-b", "", "", "and these" }, false },
        { { TEXT("CUDA_VISIBLE_DEVICES=GPU-a,GPU-b"), 1, 2, NULL, NULL, "", "", "these are whole GPUs" }, false },
        { { TEXT(ALL2), 0, 1, NULL, "0,1", "worker", "", "one task" }, false },
        { { TEXT(ALL2), 0, 1, NULL, "0,1", "launcher", "", "one launcher" }, false },
        { { TEXT(ALL2), 3, 4, NULL, "0,1", "", "", "two tasks for each" }, false },
        { { TEXT(ALL2), 1, 2, NULL, "0,1", "gpus=own", "", "the user has decided" }, false },
    };
    struct find f;

    for (size_t i = 0; i < UNIT_COUNT(cases); i++) {
        start(&f, &cases[i].row);
        f.here.look = look;
        rc_resolve(&f.context, &result);
        if (f.here.learned != (cases[i].looks ? RC_LEARN_GPU_FILES : 0))
            fail_msg("%s: %#x", cases[i].row.why, (unsigned)f.here.learned);
    }
}

/* After the nodes have met, the roll call has named the tasks that share a GPU. */
UNIT_TEST(says_it_once, "a shared GPU is said once")
{
    static struct rc_result result;
    static const struct row row = { TEXT(ALL2), 3, 4, NULL, NULL, "", "", "" };
    struct find f;

    start(&f, &row);
    for (size_t i = 0; f.env[i]; i++) {
        if (!strcmp(f.env[i], "SLURM_STEP_NUM_NODES=1"))
            f.env[i] = "SLURM_STEP_NUM_NODES=2";
        else if (!strcmp(f.env[i], "SLURM_STEP_NODELIST=n1"))
            f.env[i] = "SLURM_STEP_NODELIST=n1,n2";
        else if (!strcmp(f.env[i], "SLURM_STEP_NUM_TASKS=4"))
            f.env[i] = "SLURM_STEP_NUM_TASKS=8";
        else if (!strcmp(f.env[i], "SLURM_STEP_TASKS_PER_NODE=4"))
            f.env[i] = "SLURM_STEP_TASKS_PER_NODE=4(x2)";
    }
    assert_int_equal(rc_resolve(&f.context, &result), RC_RESOLVED);
    assert_int_equal(result.messages.count, 1);
    f.context.told.port = 29500;
    assert_int_equal(rc_resolve(&f.context, &result), RC_RESOLVED);
    assert_int_equal(result.messages.count, 0);
}
