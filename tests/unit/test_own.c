/* SPDX-License-Identifier: BSD-3-Clause */
/* What rollcall sets in a task, a job that is submitted there does not inherit: the plan is taken back. */
#include "resolve/options.h"
#include "resolve/pins.h"
#include "resolve/resolve.h"
#include "unit.h"

#define TASK                                                                                                \
    "SLURM_JOB_ID=42 SLURM_STEP_ID=0 SLURM_LOCALID=0 SLURM_PROCID=0 SLURM_NODEID=0 SLURM_STEP_NUM_TASKS=2 " \
    "SLURM_STEP_NUM_NODES=2 SLURM_NTASKS=2 SLURM_STEP_TASKS_PER_NODE=1(x2) SLURM_STEP_NODELIST=n[1-2] "     \
    "SLURM_JOB_NAME=train PATH=/bin "
#define PAIR                                                                                                \
    "SLURM_JOB_ID=42 SLURM_STEP_ID=0 SLURM_LOCALID=1 SLURM_PROCID=1 SLURM_NODEID=0 SLURM_STEP_NUM_TASKS=2 " \
    "SLURM_STEP_NUM_NODES=1 SLURM_NTASKS=2 SLURM_STEP_TASKS_PER_NODE=2 SLURM_STEP_NODELIST=n1 PATH=/bin "
#define OUTER "'ROLLCALL_SCOPE=slurm:41.0/0/worker/23456 =1/4/0/2/0' "

enum { ROOM = 96, PLACES = 128 };

static struct rc_here here = { .learned = RC_LEARN_WATCH | RC_LEARN_REVERSE | RC_LEARN_GPUS,
                               .watch = RC_STR("/r/rollcall/watch"),
                               .reverse = RC_STR("/r/librollcall-lookup.so"),
                               .gpus = 2 };
static struct rc_result result;

/* As setenv and unsetenv do it. */
static void apply(const char **env)
{
    static char text[2][32768];
    static unsigned turn;
    UNIT_ARENA(arena, 1);
    unsigned count = 0;

    turn = !turn;
    arena = (struct rc_arena){ .base = text[turn], .size = sizeof(text[turn]) };
    for (unsigned i = 0; i < result.plan.count; i++) {
        const struct rc_plan_entry *entry = &result.plan.entry[i];
        unsigned left = 0;

        if (entry->action == RC_KEEP)
            continue;
        for (count = 0; env[count]; count++)
            if (strncmp(env[count], entry->name.p, entry->name.n) != 0 || env[count][entry->name.n] != '=')
                env[left++] = env[count];
        if (entry->action == RC_SET)
            env[left++] = rc_format(&arena, "%s=%s", entry->name.p, entry->value);
        env[left] = NULL;
        assert_true(left < PLACES);
    }
    assert_false(arena.full);
}

static void set_up(struct rc_str options, const char **env, const char *interface)
{
    static const char pins[] = "node fabric=mlx5_0 network=ib0\npin cpus=0-3 cores=4 fabric=mlx5_0 network=ib0\n"
                               "pin cpus=4-7 cores=4 fabric=mlx5_0 network=ib0\n";
    struct rc_context context = { .env = env, .here = &here, .slurm_certain = true, .pid = 7, .called = true };
    UNIT_ARENA(arena, 64);
    struct rc_messages messages = { .arena = &arena };
    struct rc_pins read;

    assert_true(rc_pins_read(RC_STR(pins), &read));
    assert_true(rc_options_parse(options, "--ddp", &context.options, &messages));
    context.options = rc_options_combine(&context.options, NULL, NULL);
    context.told = (struct rc_told){
        .interface = *interface ? interface : NULL,
        .pins = &read,
        .pins_library = RC_STR("/r/librollcall-pins.so"),
    };
    assert_int_equal(rc_resolve(&context, &result), RC_RESOLVED);
    assert_true(result.plan.count > 0);
    rc_plan_own(&result);
    apply(env);
}

static void submit(const char **env)
{
    struct rc_context context = { .env = env, .options.mode = RC_MODE_OFF };

    assert_int_equal(rc_resolve(&context, &result), RC_RESOLVED);
    rc_submission_plan(&result);
    apply(env);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static const char *join(const char **env)
{
    static char text[2][32768];
    static unsigned turn;
    size_t count = 0, at = 0;

    turn = !turn;
    while (env[count])
        count++;
    qsort(env, count, sizeof(*env), by_name);
    for (size_t i = 0; i < count; i++)
        at += (size_t)snprintf(text[turn] + at, sizeof(text[turn]) - at, "%s\n", env[i]);
    return text[turn];
}

static const struct {
    struct rc_str input;
    const char *env;
    const char *left; /* of the environment; NULL: all */
    const char *why;
} rows[] = {
    { TEXT("worker"), TASK, NULL, "a worker" },
    { TEXT("worker,nic=auto,bind=cores,watch,lookup=numeric"), TASK, NULL, "cards, cores and libraries" },
    { TEXT("worker,addr=ib0"), TASK, NULL, "an interface" },
    { TEXT("worker,watch,lookup=numeric,bind=cores"), TASK "PYTHONPATH=/a LD_PRELOAD=/x.so:/y.so OMP_NUM_THREADS=4",
      NULL, "the user's lists and threads" },
    { TEXT("launcher,nproc=2,nic=auto,watch,lookup=numeric"), TASK, NULL, "a launcher" },
    { TEXT("launcher,nproc=2,bind=cores,watch"), TASK "LD_PRELOAD=/x.so PET_NNODES=2 PET_RDZV_CONF=timeout=9", NULL,
      "a launcher with the user's own" },
    { TEXT("alone"), TASK "RANK=1",
      "SLURM_JOB_ID=42 SLURM_LOCALID=0 SLURM_PROCID=0 SLURM_NODEID=0 SLURM_STEP_NODELIST=n[1-2] SLURM_JOB_NAME=train "
      "PATH=/bin",
      "a job of one, but what was of the step" },
    { TEXT("worker,gpus=own"), PAIR "CUDA_VISIBLE_DEVICES=0,1", PAIR, "a list of GPUs" },
    { TEXT("worker"), PAIR "CUDA_VISIBLE_DEVICES=0,1 CUDA_DEVICE_ORDER=PCI_BUS_ID MASTER_ADDR=n1 MASTER_PORT=29500",
      NULL, "the user's master and order" },
    { TEXT("worker"),
      PAIR OUTER "RANK=1 OMP_NUM_THREADS=8 'ROLLCALL_OWN=RANK=100768508 OMP_NUM_THREADS=1 TP_SOCKET_IFNAME=100768508' "
                 "TP_SOCKET_IFNAME=1",
      PAIR "OMP_NUM_THREADS=8", "a launch inside another, whose threads the user replaced" },
};

UNIT_ROWS(takes_back, "sbatch inherits nothing of", rows)
{
    const char *env[PLACES], *left[PLACES];

    unit_words(row->env, env, ROOM);
    unit_words(row->left ? row->left : row->env, left, ROOM);
    set_up(row->input, env, strstr(row->input.p, "addr=") ? "ib0" : "");
    submit(env);
    assert_string_equal(join(env), join(left));
}

UNIT_TEST(keeps_changes, "what somebody has set since goes along, in a job of Slurm also Slurm's")
{
    const char *env[PLACES];
    struct rc_context context = { .env = env, .options.mode = RC_MODE_OFF };
    unsigned count = 0;

    unit_words(TASK, env, ROOM);
    set_up(RC_STR("launcher,nproc=2"), env, "");
    for (; env[count]; count++)
        if (rc_str_starts(rc_str(env[count]), "PET_NNODES="))
            env[count] = "PET_NNODES=1:2";
        else if (rc_str_starts(rc_str(env[count]), "MASTER_PORT="))
            env[count] = "MASTER_PORT=1";
    assert_int_equal(rc_resolve(&context, &result), RC_RESOLVED);
    rc_leftover_plan(&result, "slurm:43");
    apply(env);
    assert_non_null(strstr(join(env), "\nPET_NNODES=1:2\n"));
    assert_non_null(strstr(join(env), "\nSLURM_JOB_NAME=bash\n"));
    assert_non_null(strstr(join(env), "MASTER_PORT=1\n"));
    assert_null(strstr(join(env), "MASTER_ADDR"));
    assert_null(strstr(join(env), "ROLLCALL"));
    rc_resolve(&context, &result);
    rc_leftover_plan(&result, "slurm:43");
    assert_int_equal(result.plan.count, 0);
}
