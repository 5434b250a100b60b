/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "step.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "bind.h"
#include "meet.h"
#include "once.h"
#include "options.h"
#include "outside.h"
#include "resolve/guard.h"
#include "resolve/pinning.h"
#include "system/beside.h"
#include "system/node.h"

/* slurm.h: SLURM_MAX_NORMAL_STEP_ID; batch, extern, interactive and pending are above */
static const uint32_t first_special_step = 0xfffffff0u;

enum { SYNTHETIC_MAX = 9, TEXT_SIZE = 4608, GPUS_SIZE = 8192 };

static struct rc_spank_step step;
static struct rc_result result;
static char wrong_text[TEXT_SIZE];

/* Shared by the tasks: whether one of them has spoken for the node, and what one
 * of them has looked up for all. */
struct step_memory {
    atomic_int spoken;
    struct rc_once looked;
    struct rc_lookup lookup;
};

static struct step_memory *shared;

/* A resolver with two dead servers gives up after some 20 s. */
enum { LOOKUP_MS = 30000 };

const struct rc_spank_step *rc_spank_step(void)
{
    return &step;
}

struct rc_result *rc_spank_result(void)
{
    return &result;
}

const char *const *rc_spank_environment(spank_t spank)
{
    char **block = NULL;

    if (spank_get_item(spank, S_JOB_ENV, &block) != ESPANK_SUCCESS)
        return NULL;
    return (const char *const *)block;
}

const char *const *rc_spank_command(spank_t spank)
{
    char **argv = NULL;
    int argc = 0;

    if (spank_get_item(spank, S_JOB_ARGV, &argc, &argv) != ESPANK_SUCCESS || argc <= 0 || !argv)
        return NULL;
    return (const char *const *)argv;
}

static bool get_number(spank_t spank, spank_item_t item, uint32_t *value)
{
    return spank_get_item(spank, item, value) == ESPANK_SUCCESS;
}

/* What Slurm puts into the environment only when a task starts. It stands in
 * front of the step's own block, where it wins over what srun was started with:
 * an outer step's rank, for example. */
struct block {
    const char **entry;
    size_t count;
    struct rc_arena arena;
};

static void put(struct block *block, const char *name, uint32_t value)
{
    block->entry[block->count++] = rc_format(&block->arena, "%s=%u", name, value);
}

static void put_missing(spank_t spank, struct block *block, struct rc_str name, spank_item_t item)
{
    uint32_t value;

    if (!rc_env_find(&result.env, name).p && get_number(spank, item, &value))
        put(block, name.p, value);
}

/* This node's first task, as the core would see it in task_init. Its local id
 * is the only one that is asked for: Slurm's own check of it reads one too far. */
static bool put_first_task(spank_t spank, struct block *block)
{
    uint32_t count, rank, node;

    if (!get_number(spank, S_JOB_LOCAL_TASK_COUNT, &count) || count == 0 ||
        spank_get_item(spank, S_JOB_LOCAL_TO_GLOBAL_ID, (uint32_t)0, &rank) != ESPANK_SUCCESS ||
        !get_number(spank, S_JOB_NODEID, &node))
        return false;
    put(block, "SLURM_PROCID", rank);
    put(block, "SLURM_LOCALID", 0);
    put(block, "SLURM_NODEID", node);
    /* an outer step's would contradict them */
    block->entry[block->count++] = "SLURM_GTIDS=";
    block->entry[block->count++] = "SLURMD_NODENAME=";
    put_missing(spank, block, RC_STR("SLURM_JOB_ID"), S_JOB_ID);
    put_missing(spank, block, RC_STR("SLURM_STEP_ID"), S_JOB_STEPID);
    put_missing(spank, block, RC_STR("SLURM_STEP_NUM_TASKS"), S_JOB_TOTAL_TASK_COUNT);
    put_missing(spank, block, RC_STR("SLURM_STEP_NUM_NODES"), S_JOB_NNODES);
    return !block->arena.full;
}

/* The mode is the node's decision, because here the GPUs of all its tasks are
 * to be seen: a task sees only its own where they are bound. In a step of several
 * het components this node's place is not right, as the items count within the
 * component and the environment over all; the mode does not depend on it. */
static enum rc_mode decide(spank_t spank, const char *const *env)
{
    char text[TEXT_SIZE];
    struct block block = { .arena = { .base = text, .size = sizeof(text) } };
    struct rc_context context = {
        .argv = rc_spank_command(spank),
        .options = step.options,
        .local_port_first = step.local_port_first,
        .local_port_last = step.local_port_last,
        .slurm_certain = true,
    };
    enum rc_mode mode = RC_MODE_AUTO;
    size_t n = 0;

    while (env[n])
        n++;
    block.entry = malloc((SYNTHETIC_MAX + n + 1) * sizeof(*block.entry));
    if (!block.entry)
        return RC_MODE_AUTO;
    if (put_first_task(spank, &block)) {
        for (size_t i = 0; i <= n; i++)
            block.entry[block.count + i] = env[i];
        context.env = block.entry;
        /* a contradiction is for the tasks to say, who see the whole of it */
        if (rc_resolve(&context, &result) == RC_RESOLVED && result.launcher)
            mode = result.mode;
        if (mode != RC_MODE_AUTO && result.mode_reason) {
            struct rc_arena reason = { .base = step.reason, .size = sizeof(step.reason) };

            rc_format(&reason, "%s", result.mode_reason);
        }
    }
    free(block.entry);
    return mode;
}

static void find_watch(void)
{
    static char path[4096];

    step.here.learned |= RC_LEARN_WATCH;
    step.here.watch = rc_beside_watch(ROLLCALL_WATCH_FROM_PLUGIN, path, sizeof(path));
}

static void find_guard(void)
{
    static char path[4096];

    step.here.learned |= RC_LEARN_GUARD;
    step.here.guard = rc_beside_library(ROLLCALL_PRELOAD_FROM_PLUGIN, RC_GUARD_LIBRARY, path, sizeof(path));
}

void rc_spank_step_look_again(void)
{
    if (step.here.learned & RC_LEARN_WATCH)
        find_watch();
    if (step.here.learned & RC_LEARN_GUARD)
        find_guard();
}

static struct rc_str copy(struct rc_str text, struct rc_arena *arena)
{
    return text.p ? rc_str(rc_format(arena, "%S", &text)) : RC_ABSENT;
}

/* The step's GPUs, as no task of it may see them: Slurm binds a task, or takes
 * the variables away (--gpu-bind=none), between here and task_init. */
static void find_gpus(const struct rc_env *env)
{
    static char text[GPUS_SIZE];
    static struct rc_step_gpus gpus;
    struct rc_arena arena = { .base = text, .size = sizeof(text) };

    for (unsigned i = 0; i < RC_GPU_LISTS; i++)
        gpus.list[i] = copy(rc_env_find(env, rc_gpu_list_name((enum rc_gpu_list_index)i)), &arena);
    step.gpus = arena.full ? NULL : &gpus;
}

static bool is_first_node(spank_t spank, const struct rc_env *env)
{
    struct rc_str leader = rc_env_get(env, "SLURM_JOB_ID");
    uint32_t node, job, leader_job;

    if (!get_number(spank, S_JOB_NODEID, &node) || node != 0)
        return false;
    /* items count within a het component (measured), so every one has a node 0;
     * the first one's job id is the leader's */
    return !rc_env_get(env, "SLURM_HET_SIZE").p || !get_number(spank, S_JOB_ID, &job) ||
           !rc_parse_u32(leader, UINT32_MAX, &leader_job) || leader_job == job;
}

bool rc_spank_step_begin(spank_t spank)
{
    struct rc_arena arena = { .base = wrong_text, .size = sizeof(wrong_text) };
    const char *const *env;
    uint32_t id;

    if (step.begun)
        return false;
    step.begun = true;
    if (!get_number(spank, S_JOB_STEPID, &id) || id >= first_special_step)
        return true;
    env = rc_spank_environment(spank);
    if (!env)
        return true;
    rc_env_index(&result.env, env);
    step.understood = rc_spank_asked(rc_env_get(&result.env, "ROLLCALL"), &step.options, &step.wrong, &arena);
    step.active = step.options.given && step.options.mode != RC_MODE_OFF;
    if (!step.active)
        return true;
    rc_spank_outside_remember();
    step.first_node = is_first_node(spank, &result.env);
    find_gpus(&result.env);
    shared = rc_once_memory(sizeof(*shared));
    rc_spank_meet_prepare();
    if (rc_pins_wanted(&step.options))
        rc_spank_bind_prepare(&result.env);
    rc_node_port_range(&step.local_port_first, &step.local_port_last);
    if (step.options.watch == RC_WATCH_ON)
        find_watch();
    if (step.options.guard == RC_GUARD_NCCL)
        find_guard();
    step.mode = RC_MODE_AUTO;
    if (step.understood)
        step.mode = decide(spank, env);
    return true;
}

bool rc_spank_step_speaks(spank_t spank)
{
    int local;

    if (shared)
        return atomic_exchange(&shared->spoken, 1) == 0;
    return spank_get_item(spank, S_TASK_ID, &local) == ESPANK_SUCCESS && local == 0;
}

const struct rc_lookup *rc_spank_step_lookup(const struct rc_result *found, const char *outcome)
{
    static struct rc_lookup own;

    if (shared && rc_once_begin(&shared->looked)) {
        rc_lookup_master(found, outcome, &shared->lookup);
        rc_once_done(&shared->looked);
        return &shared->lookup;
    }
    if (shared && rc_once_wait(&shared->looked, LOOKUP_MS))
        return &shared->lookup;
    rc_lookup_master(found, outcome, &own);
    return &own;
}

void rc_spank_step_end(void)
{
    rc_once_free(shared, sizeof(*shared));
    shared = NULL;
    rc_spank_meet_forget();
    rc_spank_bind_forget();
    rc_spank_outside_forget();
}
