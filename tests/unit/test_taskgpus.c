/* SPDX-License-Identifier: BSD-3-Clause */
/* Whose GPU is whose: by variables as Slurm writes them (22.05, 24.11 and 26.05, recorded), and by device files. */
#include "resolve/resolve.h"
#include "resolve/steps.h"
#include "unit.h"

#define STEP2                   "SLURM_GPUS_ON_NODE=2 "
#define ALL(list, numbers)      STEP2 "CUDA_VISIBLE_DEVICES=" list " SLURM_STEP_GPUS=" numbers
#define ONE_EACH(list, numbers) "SLURMD_TRES_BIND=gpu:per_task:1 " ALL(list, numbers)
#define TWO_EACH(list, numbers) \
    "SLURMD_TRES_BIND=gpu:per_task:2 SLURM_GPUS_ON_NODE=4 CUDA_VISIBLE_DEVICES=" list " SLURM_STEP_GPUS=" numbers

static const struct {
    struct rc_str input; /* variables of the task, blanks between */
    uint32_t rank;
    uint32_t tasks;
    const char *step;    /* CUDA_VISIBLE_DEVICES in user_init; NULL: no plugin */
    const char *numbers; /* SLURM_STEP_GPUS there */
    const char *files;   /* "2/1 0x2": device files, how many of them may be opened, and which GPUs these are */
    const char *expected;
    const char *why;
} rows[] = {
    /* all see the same */
    { TEXT(ALL("4,6", "4,6")), 1, 2, "4,6", "4,6", NULL, "all=4,6 own=6 place=1 first=1", "cuda:LOCAL_RANK" },
    { TEXT(ALL("0,1", "4,6")), 1, 2, "0,1", "4,6", NULL, "all=4,6 own=6 place=1 first=1",
      "numbered anew in the step's cgroup" },
    { TEXT(ALL("4,6", "4,6")), 3, 4, "4,6", "4,6", NULL, "all=4,6 own=6 place=1 first=1", "more tasks than GPUs" },
    { TEXT(ALL("0,1", "4,6")), 1, 2, NULL, NULL, NULL, "all=4,6 own=6 place=1 first=1", "without the plugin" },
    { TEXT("CUDA_VISIBLE_DEVICES=0,1 SLURM_JOB_GPUS=4,6"), 1, 2, NULL, NULL, NULL, "all=4,6 own=6 place=1 first=1 hand",
      "the job's numbers" },
    { TEXT("CUDA_VISIBLE_DEVICES=1,3"), 1, 2, NULL, NULL, NULL, "all=1,3 own=3 place=1 first=1 hand", "no Slurm's" },
    { TEXT("CUDA_VISIBLE_DEVICES=1,0"), 1, 2, NULL, NULL, NULL, "place=? first=1", "perhaps another task's is 0,1" },
    { TEXT("CUDA_VISIBLE_DEVICES=0"), 1, 2, NULL, NULL, NULL, "place=? first=0", "of one for two tasks nobody knows" },
    { TEXT("HIP_VISIBLE_DEVICES=0,1"), 1, 2, NULL, NULL, NULL, "all=0,1 own=1 place=1 first=1 hand", "AMD's" },
    { TEXT("GPU_DEVICE_ORDINAL=0,1"), 1, 2, NULL, NULL, NULL, "all=0,1 own=1 place=1 first=1 hand", "OpenCL's" },
    { TEXT(STEP2 "SLURMD_TRES_BIND=gpu:none"), 1, 2, "4,6", "4,6", NULL, "all=4,6 own=6 place=1 first=1",
      "taken away by --gpu-bind=none" },
    { TEXT(STEP2 "SLURM_STEP_GPUS=0,1"), 1, 2, NULL, "0,1", NULL, "", "an outer step's: this one has none" },
    { TEXT("CUDA_VISIBLE_DEVICES= SLURM_STEP_GPUS=0,1"), 1, 2, "", "0,1", NULL, "", "told to use none" },

    /* bound by variable */
    { TEXT(ONE_EACH("6", "6")), 0, 2, "4,6", "4,6", NULL, "all=4,6 own=6 place=1 first=0",
      "map_gpu:1,0: a list that starts at 4 is never numbered anew" },
    { TEXT(ONE_EACH("1", "1")), 0, 2, "0,1", "0,1", "2/2 0x3", "all=0,1 own=1 place=1 first=0", "the files are open" },
    { TEXT(ONE_EACH("0", "0")), 1, 2, "0,1", "0,1", "2/2 0x3", "all=0,1 own=0 place=0 first=0",
      "and the other task's" },
    { TEXT(ONE_EACH("1", "5")), 0, 2, "0,1", "4,5", "8/2 0x30", "all=4,5 own=5 place=1 first=0",
      "allow-task-sharing: the step's cgroup alone" },
    { TEXT(TWO_EACH("2,3", "2,3")), 0, 2, "0,1,2,3", "0,1,2,3", "4/4 0xf", "all=0,1,2,3 own=2,3 place=2 first=0",
      "two each" },
    { TEXT(ONE_EACH("1", "1")), 0, 2, NULL, NULL, NULL, "own=1 place=? first=0",
      "without the plugin it knows its own one, but not its neighbours'" },
    { TEXT(ONE_EACH("7", "7")), 0, 2, "4,6", "4,6", NULL, "all=4,6 place=? first=0", "none of the step's" },

    /* by a device cgroup: SLURM_STEP_GPUS is the step's first one */
    { TEXT(ONE_EACH("0", "0")), 0, 2, "0,1", "0,1", "2/1 0x2", "all=0,1 own=1 place=1 first=0",
      "map_gpu:1,0: the file says it" },
    { TEXT(ONE_EACH("0", "0")), 1, 2, "0,1", "0,1", "2/1 0x1", "all=0,1 own=0 place=0 first=0",
      "and the other task's" },
    { TEXT(ONE_EACH("0", "4")), 0, 2, "0,1", "4,6", "8/1 0x40", "all=4,6 own=6 place=1 first=0",
      "of a part of the node" },
    { TEXT(TWO_EACH("0,1", "0,1")), 0, 2, "0,1,2,3", "0,1,2,3", "4/2 0xc", "all=0,1,2,3 own=2,3 place=2 first=0",
      "two each" },
    { TEXT(ONE_EACH("0", "0")), 0, 2, NULL, NULL, "2/1 0x2", "own=1 place=? first=0", "without the plugin" },
    { TEXT(ONE_EACH("0", "0")), 0, 2, "0,1", "0,1", "2/1 0x0", "all=0,1 place=? first=0",
      "which of them is open is not known" },
    { TEXT(ONE_EACH("0", "0")), 0, 2, "0,1", "0,1", "8/1 0x20", "all=0,1 own=5 place=? first=0",
      "one that is none of the step's" },
    { TEXT(ONE_EACH("0", "0")), 0, 2, "0,1", "0,1", "0/0 0x0", "all=0,1 place=? first=0",
      "no device files: by variable, or by a cgroup?" },
    { TEXT(ONE_EACH("1", "1")), 1, 2, "0,1", "0,1", "0/0 0x0", "all=0,1 own=1 place=? first=0",
      "then its neighbour stays unbound, and so does this one" },
};

UNIT_ROWS(finds, "own GPUs of", rows)
{
    static struct rc_result result;
    const char *env[16];
    char found[256] = "";
    size_t n = 0;
    struct rc_step_gpus step = { .numbers = rc_str(row->numbers) };
    struct rc_here here = { .learned = RC_LEARN_GPU_FILES };
    struct rc_context context = { .here = row->files ? &here : NULL, .step_gpus = row->numbers ? &step : NULL };
    const struct rc_gpus *gpus = &result.gpus;

    memset(&result, 0, sizeof(result));
    step.list[RC_GPU_LIST_CUDA] = rc_str(row->step);
    unit_words(row->input.p, env, UNIT_COUNT(env));
    rc_env_index(&result.env, env);
    if (row->files) {
        unsigned long open;

        assert_int_equal(sscanf(row->files, "%u/%u %lx", &here.gpu_files, &here.gpu_files_open, &open), 3);
        here.gpus_open = open;
    }
    result.launcher = rc_launcher_at(RC_LAUNCHER_INDEX_slurm);
    result.mode = RC_MODE_WORKER;
    result.arena = (struct rc_arena){ .base = result.text, .size = sizeof(result.text) };
    result.messages.arena = &result.arena;
    result.identity.field[RC_LOCAL_RANK] = row->rank;
    result.identity.field[RC_LOCAL_WORLD_SIZE] = row->tasks;
    rc_gpus_decide(&context, &result);
    if (gpus->all.p)
        n += (size_t)snprintf(found, sizeof(found), "all=%.*s ", (int)gpus->all.n, gpus->all.p);
    if (gpus->own.p)
        n += (size_t)snprintf(found + n, sizeof(found) - n, "own=%.*s ", (int)gpus->own.n, gpus->own.p);
    if (gpus->usable && gpus->place == RC_UNKNOWN)
        n += (size_t)snprintf(found + n, sizeof(found) - n, "place=? first=%u", gpus->first);
    else if (gpus->usable)
        n += (size_t)snprintf(found + n, sizeof(found) - n, "place=%u first=%u", gpus->place, gpus->first);
    if (gpus->all.p && !gpus->by_slurm)
        snprintf(found + n, sizeof(found) - n, " hand");
    assert_string_equal(found, row->expected);
}

/* A launcher's workers have all that it sees, in the order in which it sees them. */
UNIT_TEST(of_launchers, "own GPUs of a launcher: all that it sees")
{
    static struct rc_result result;
    static const char *const env[] = { "CUDA_VISIBLE_DEVICES=3,1", NULL };
    struct rc_context context = { .env = NULL };
    const struct rc_gpus *gpus = &result.gpus;

    rc_env_index(&result.env, env);
    result.launcher = rc_launcher_at(RC_LAUNCHER_INDEX_slurm);
    result.mode = RC_MODE_LAUNCHER;
    result.identity.field[RC_LOCAL_RANK] = RC_UNKNOWN;
    result.identity.field[RC_LOCAL_WORLD_SIZE] = 1;
    rc_gpus_decide(&context, &result);
    assert_true(rc_str_is(gpus->all, "3,1"));
    assert_true(rc_str_is(gpus->own, "3,1"));
    assert_false(rc_task_gpus_are_bound(gpus));
}
