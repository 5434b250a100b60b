/* SPDX-License-Identifier: BSD-3-Clause */
/* Which GPUs a node's tasks use: of variables as Slurm writes them (22.05 and 26.05, recorded), and of a folder as
 * the NVIDIA driver has one. */
#include "inventorytree.h"
#include "resolve/steps.h"
#include "roll/entry.h"
#include "system/gpufiles.h"
#include "unit.h"

#define UUID(digit)      "GPU-1c6f0000-0000-4000-8000-00000000000" digit
#define FOUR(a, b, c, d) a " " UUID("0") "; " b " " UUID("0") "; " c " " UUID("0") "; " d " " UUID("0")
#define MIG(digit)       "MIG-1c6f0000-0000-4000-8000-00000000000" digit
#define LONG_MIG         "MIG-GPU-1c6f0000-0000-4000-8000-000000000000/1/0"
#define BOTH(list)       "SLURM_STEP_GPUS=" list " CUDA_VISIBLE_DEVICES=" list
#define FROM_ZERO        "SLURM_STEP_GPUS=2,3 CUDA_VISIBLE_DEVICES=0,1"

enum { WORKER = RC_MODE_WORKER, LAUNCHER = RC_MODE_LAUNCHER };

static const struct {
    struct rc_str input; /* variables, blanks between */
    const char *tasks;
    int mode;
    bool files; /* the driver's are there, of the four GPUs 0 to 3, and 2 has not been used yet */
    const char *expected;
    const char *why;
} rows[] = {
    { TEXT(BOTH("0,1")), "0-1", WORKER, false, "0 0 of node 1; 1 1 of node 1", "a GPU for each task" },
    { TEXT(BOTH("0")), "0-1", WORKER, false, "0 0 of node 1; 1 0 of node 1", "one GPU for two tasks" },
    { TEXT(BOTH("0,1")), "4-5,8", WORKER, false, "4 0 of node 1; 5 1 of node 1; 8 0 of node 1",
      "two GPUs for three tasks" },
    { TEXT(BOTH("0")), "0-1", WORKER, true, "0 " UUID("0") "; 1 " UUID("0"), "the same, by UUID" },
    { TEXT(FROM_ZERO), "0-1", WORKER, true, "0 2 of node 1; 1 " UUID("3"),
      "numbered anew in a cgroup; one that has not been used has no UUID" },
    { TEXT(FROM_ZERO), "0-1", WORKER, false, "0 2 of node 1; 1 3 of node 1", "the same without files" },
    { TEXT(BOTH("7")), "0", WORKER, true, "0 7 of node 1", "a GPU that the files do not have" },
    { TEXT("SLURM_STEP_GPUS=0,1 CUDA_VISIBLE_DEVICES=" MIG("0") "," LONG_MIG), "0-1", WORKER, true,
      "0 " MIG("0") "; 1 " LONG_MIG, "parts of GPUs" },
    { TEXT("SLURM_STEP_GPUS=0,1 CUDA_VISIBLE_DEVICES=" UUID("a") "," UUID("b")), "0-1", WORKER, true,
      "0 " UUID("a") "; 1 " UUID("b"), "a list of UUIDs" },
    { TEXT("SLURM_STEP_GPUS=0 CUDA_VISIBLE_DEVICES=GPU-1c"), "0-1", WORKER, true, "",
      "the beginning of a UUID may be another's, too" },
    { TEXT("SLURM_STEP_GPUS=0,1 ROCR_VISIBLE_DEVICES=0,1"), "0-1", WORKER, false, "0 0 of node 1; 1 1 of node 1",
      "AMD's alone" },
    { TEXT(BOTH("1") " SLURMD_TRES_BIND=gpu:per_task:1"), "0-1", WORKER, false, "0 1 of node 1",
      "bound tasks: the first speaks of itself" },
    { TEXT(BOTH("1") " SLURMD_TRES_BIND=gres/gpu:single:2"), "0-1", WORKER, true, "0 " UUID("1"),
      "the same with a newer Slurm" },
    { TEXT(BOTH("0") " SLURM_GPUS_ON_NODE=2 SLURMD_TRES_BIND=gpu:per_task:1"), "0-1", WORKER, false, "",
      "each task's own is 0 in a device cgroup" },
    { TEXT(BOTH("0,1") " SLURM_GPUS_ON_NODE=2 SLURMD_TRES_BIND=gpu:per_task:2"), "3", LAUNCHER, false,
      "3 0 of node 1; 3 1 of node 1", "and all of them are all of them" },
    { TEXT(BOTH("0") " SLURMD_TRES_BIND=gres/gpu:none"), "0-1", WORKER, false, "0 0 of node 1; 1 0 of node 1",
      "told not to bind" },
    { TEXT("SLURM_GPUS_ON_NODE=2 SLURMD_TRES_BIND=gpu:none"), "0-1", WORKER, true, "",
      "the same with Slurm 22.05, which sets nothing then" },
    { TEXT(BOTH("0,1")), "3", LAUNCHER, true, "3 " UUID("0") "; 3 " UUID("1"), "a launcher has all of them" },
    { TEXT(BOTH("0,1")), "3-4", LAUNCHER, true, "", "launchers side by side: who knows" },
    { TEXT(BOTH("0,1")), "3", WORKER, true, "3 " UUID("0"), "a worker has one" },
    { TEXT("SLURM_STEP_GPUS=0,1 CUDA_VISIBLE_DEVICES=1"), "0-1", WORKER, true, "", "another list than Slurm's" },
    { TEXT("SLURM_STEP_GPUS=0,1 CUDA_VISIBLE_DEVICES=1,0"), "0-1", WORKER, true, "", "in another order" },
    { TEXT("SLURM_STEP_GPUS=0 CUDA_VISIBLE_DEVICES="), "0-1", WORKER, true, "", "told to use none" },
    { TEXT("SLURM_STEP_GPUS=0 CUDA_VISIBLE_DEVICES=-1"), "0-1", WORKER, true, "", "none, as -1" },
    { TEXT("SLURM_JOB_GPUS=0,1"), "0-3", WORKER, true, "", "a step of a batch script, without GPUs" },
    { TEXT("SLURM_JOB_GPUS=0 CUDA_VISIBLE_DEVICES=0"), "0-3", WORKER, true, "", "a login file's word for it" },
    { TEXT("A=1"), "0-3", WORKER, true, "", "no GPU" },
    { TEXT(BOTH("0") " CUDA_MPS_ACTIVE_THREAD_PERCENTAGE=50"), "0-1", WORKER, true, "", "gres/mps" },
    { TEXT(BOTH("0") " CUDA_MPS_PIPE_DIRECTORY=/tmp/mps"), "0-1", WORKER, true, "", "MPS of the user's" },
    { TEXT(BOTH("0") " SLURM_SHARDS_ON_NODE=4"), "0-1", WORKER, true, "", "shards" },
    { TEXT(BOTH("0") " NCCL_MULTI_RANK_GPU_ENABLE=1"), "0-1", WORKER, true, "", "NCCL may" },
    { TEXT(BOTH("0") " NCCL_MULTI_RANK_GPU_ENABLE=0"), "0-1", WORKER, true, "0 " UUID("0") "; 1 " UUID("0"),
      "NCCL may not" },
    { TEXT(BOTH("0")), "0-19", WORKER, true,
      FOUR("0", "1", "2", "3") "; " FOUR("4", "5", "6", "7") "; " FOUR("8", "9", "10", "11") "; " FOUR("12", "13", "14",
                                                                                                       "15"),
      "as many as an entry has" },
};

static struct rc_result result;
static char folder[] = "/tmp/rollcall-devices.XXXXXX";
static const char *const addresses[] = { "0000:81:00.0", "10000:01:00.0", "0000:01:00.0", "0001:00:00.0" };

/* Fills in result.env; the text is the caller's. */
static void set_env(char *text)
{
    static const char *block[16];
    unsigned count = 0;

    for (char *word = strtok(text, " "); word && count < 15; word = strtok(NULL, " "))
        block[count++] = word;
    block[count] = NULL;
    rc_env_index(&result.env, block);
}

static void find(struct rc_str env, const char *files, struct rc_roll *roll, struct rc_arena *arena)
{
    static const struct rc_context context = { .env = NULL };
    static char text[4096];
    struct rc_str tasks = roll->tasks;
    uint32_t first, last;

    snprintf(text, sizeof(text), "%.*s", (int)env.n, env.p);
    set_env(text);
    result.launcher = rc_launcher_at(RC_LAUNCHER_INDEX_slurm);
    result.arena = (struct rc_arena){ .base = result.text, .size = sizeof(result.text) };
    result.messages.arena = &result.arena;
    result.identity.field[RC_LOCAL_RANK] = 0;
    result.identity.field[RC_LOCAL_WORLD_SIZE] = 0;
    while (rc_roll_next_range(&tasks, &first, &last))
        result.identity.field[RC_LOCAL_WORLD_SIZE] += last - first + 1;
    rc_gpus_decide(&context, &result);
    rc_devices_find(&result, files, roll, arena);
    assert_false(arena->full);
}

UNIT_ROWS(finds, "devices of", rows)
{
    UNIT_ARENA(arena, RC_DEVICES_TEXT);
    struct rc_roll roll = { .node = 1, .tasks = rc_str(row->tasks) };
    char found[RC_DEVICES_TEXT] = "";
    size_t used = 0;

    result.mode = (enum rc_mode)row->mode;
    find(row->input, row->files ? folder : "/nowhere", &roll, &arena);
    for (unsigned i = 0; i < roll.gpu_count; i++)
        used += (size_t)snprintf(found + used, sizeof(found) - used, "%s%u %.*s", i ? "; " : "", roll.gpu[i].rank,
                                 (int)roll.gpu[i].id.n, roll.gpu[i].id.p);
    assert_string_equal(found, row->expected);
}

static const struct {
    struct rc_str input;
    const char *expected;
    const char *why;
} sights[] = {
    { TEXT("CUDA_VISIBLE_DEVICES=0,1 ROCR_VISIBLE_DEVICES=0,1"), "CUDA_VISIBLE_DEVICES=0,1", "NVIDIA's first" },
    { TEXT("ROCR_VISIBLE_DEVICES=0 HIP_VISIBLE_DEVICES=1"), "HIP_VISIBLE_DEVICES=1", "what HIP makes of it" },
    { TEXT("ZE_AFFINITY_MASK=0.1"), "ZE_AFFINITY_MASK=0.1", "Intel's" },
    { TEXT("CUDA_VISIBLE_DEVICES="), "CUDA_VISIBLE_DEVICES=", "none" },
    { TEXT("SLURM_STEP_GPUS=0"), NULL, "no such variable" },
};

UNIT_ROWS(sees, "visible of", sights)
{
    UNIT_ARENA(arena, RC_DEVICES_TEXT);
    struct rc_roll roll = { .tasks = RC_STR("0") };

    find(row->input, "/nowhere", &roll, &arena);
    if (row->expected)
        assert_string_equal(roll.visible.p, row->expected);
    else
        assert_null(roll.visible.p);
    assert_int_equal(roll.gpu_count, 0);
}

/* Sixteen parts of GPUs, and a list that is longer than any. */
UNIT_TEST(has_room, "devices: there is room for all, and no more")
{
    static char list[20000] = "SLURM_STEP_GPUS=";
    UNIT_ARENA(arena, RC_DEVICES_TEXT);
    struct rc_roll roll = { .node = 16777215, .tasks = RC_STR("16777200-16777215") };
    size_t used = strlen(list);

    for (unsigned i = 0; i < 16; i++)
        used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%u", i ? "," : "", i);
    used += (size_t)snprintf(list + used, sizeof(list) - used, " CUDA_VISIBLE_DEVICES=");
    for (unsigned i = 0; i < 16; i++)
        used += (size_t)snprintf(list + used, sizeof(list) - used, "%sMIG-GPU-1c6f0000-0000-4000-8000-%012u/1/0",
                                 i ? "," : "", i);
    result.mode = RC_MODE_WORKER;
    find((struct rc_str){ list, used }, folder, &roll, &arena);
    assert_int_equal(roll.gpu_count, RC_ROLL_GPUS_MAX);
    memset(list, 'a', sizeof(list) - 1);
    memcpy(list, "CUDA_VISIBLE_DEVICES=", 21);
    arena.used = 0;
    find((struct rc_str){ list, 3000 }, folder, &roll, &arena);
    assert_in_range(roll.visible.n, RC_ROLL_TEXT_MAX, RC_ROLL_TEXT_MAX + 32);
}

UNIT_TEST(reads_files, "gpus: the driver's files, in the order of addresses")
{
    static struct rc_nvidia_gpu gpu[RC_NVIDIA_GPUS_MAX];

    assert_int_equal(rc_nvidia_read_gpus(folder, gpu), 4);
    assert_string_equal(gpu[0].address, "0000:01:00.0");
    assert_string_equal(gpu[0].uuid, UUID("0"));
    assert_string_equal(gpu[1].address, "0000:81:00.0");
    assert_string_equal(gpu[2].address, "0001:00:00.0");
    assert_string_equal(gpu[2].uuid, "");
    assert_string_equal(gpu[3].address, "10000:01:00.0");
    assert_int_equal(gpu[0].minor, 2);
    assert_int_equal(gpu[1].minor, 0);
    assert_int_equal(gpu[2].minor, 3);
    assert_int_equal(gpu[3].minor, 1);
    assert_int_equal(rc_nvidia_read_gpus("/nowhere", gpu), 0);
}

/* As driver 535 writes it. */
static void make_files(void)
{
    static const char *const uuids[] = { UUID("1"), UUID("3"), UUID("0"), TREE_NO_UUID };

    if (!mkdtemp(folder))
        abort();
    for (unsigned i = 0; i < 4; i++) {
        char name[64];
        char text[256];

        snprintf(name, sizeof(name), "%s/information", addresses[i]);
        snprintf(text, sizeof(text),
                 "Model: \t\t NVIDIA H100 80GB HBM3\nIRQ:   \t\t 42\nGPU UUID: \t %s\n"
                 "Video BIOS: \t 96.00.74.00.01\nBus Location: \t %s\nDevice Minor: \t %u",
                 uuids[i], addresses[i], i);
        tree_file(folder, name, text);
    }
}

int main(void)
{
    int status;

    make_files();
    status = unit_run();
    tree_remove(folder);
    return status;
}
