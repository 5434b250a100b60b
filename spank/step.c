/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "spank.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "node.h"
#include "rendezvous/wire.h"
#include "resolve/command.h"
#include "system/node.h"

enum { SYNTHETIC_MAX = 9, TEXT_SIZE = 4608 };

static struct rc_spank_step step;
static struct rc_result result;

/* Variables that Slurm sets when a task starts, placed first to override inherited ones. */
struct block {
    const char **entry;
    size_t count;
    struct rc_arena arena;
};

static void put_number(struct block *block, const char *name, uint32_t value)
{
    block->entry[block->count++] = rc_format(&block->arena, "%s=%u", name, value);
}

static void put_missing(spank_t spank, const struct rc_env *env, struct block *block, struct rc_str name,
                        spank_item_t item)
{
    uint32_t value;

    if (!rc_env_find(env, name).p && rc_spank_number(spank, item, &value))
        put_number(block, name.p, value);
}

/* Add the node's first task as it will be in task_init. Only local id 0 is safe: Slurm's check reads past the array. */
static bool put_first_task(spank_t spank, const struct rc_env *env, struct block *block)
{
    uint32_t count, rank, node;

    if (!rc_spank_number(spank, S_JOB_LOCAL_TASK_COUNT, &count) || count == 0 ||
        spank_get_item(spank, S_JOB_LOCAL_TO_GLOBAL_ID, (uint32_t)0, &rank) != ESPANK_SUCCESS ||
        !rc_spank_number(spank, S_JOB_NODEID, &node))
        return false;
    put_number(block, "SLURM_PROCID", rank);
    put_number(block, "SLURM_LOCALID", 0);
    put_number(block, "SLURM_NODEID", node);
    /* override an outer step's */
    block->entry[block->count++] = "SLURM_GTIDS=";
    block->entry[block->count++] = "SLURMD_NODENAME=";
    put_missing(spank, env, block, RC_STR("SLURM_JOB_ID"), S_JOB_ID);
    put_missing(spank, env, block, RC_STR("SLURM_STEP_ID"), S_JOB_STEPID);
    put_missing(spank, env, block, RC_STR("SLURM_STEP_NUM_TASKS"), S_JOB_TOTAL_TASK_COUNT);
    put_missing(spank, env, block, RC_STR("SLURM_STEP_NUM_NODES"), S_JOB_NNODES);
    return !block->arena.full;
}

/* Decide the mode for the node, because user_init sees the GPUs of all tasks: resolve its first task in the step's
 * environment (env, indexed by result.env); on failure each task decides. Overwrites result. With het components the
 * node's place is wrong, but does not affect the mode. */
static void decide_mode(spank_t spank, const char *const *env)
{
    char text[TEXT_SIZE];
    struct block block = { .arena = { .base = text, .size = sizeof(text) } };
    struct rc_arena reason = { .base = step.reason, .size = sizeof(step.reason) };
    struct rc_context context = {
        .command_read = true,
        .options = step.options,
        .slurm_certain = true,
    };
    size_t n = 0;

    step.mode = RC_MODE_AUTO;
    while (env[n])
        n++;
    block.entry = step.understood ? malloc((SYNTHETIC_MAX + n + 1) * sizeof(*block.entry)) : NULL;
    if (block.entry && put_first_task(spank, &result.env, &block)) {
        memcpy(block.entry + block.count, env, (n + 1) * sizeof(*env));
        context.env = block.entry;
        /* tasks report errors: they see the whole environment */
        if (rc_resolve_certain(&context, &result) == RC_RESOLVED && result.launcher) {
            step.mode = result.mode;
            rc_format(&reason, "%s", result.mode_reason);
        }
    }
    free(block.entry);
}

/* slurm.h: SLURM_MAX_NORMAL_STEP_ID; batch, extern, interactive and pending are above */
static const uint32_t first_special_step = 0xfffffff0u;

/* Shared: which task prints, and a look-up. */
struct step_memory {
    atomic_int spoken;
    struct rc_once looked;
    char found[RC_LOOKUP_SIZE];
};

static struct step_memory *shared;

/* The step's environment in user_init, unlike a task's; or NULL. */
static const char **block;

/* Two dead servers take a resolver ~20 s. */
enum { LOOKUP_MS = 30000 };

const struct rc_spank_step *rc_spank_step(void)
{
    return &step;
}

struct rc_result *rc_spank_result(void)
{
    return &result;
}

/* The step's GPUs, which Slurm hides from tasks (binding, --gpu-bind=none). */
static void find_gpus(const struct rc_env *env)
{
    static struct rc_step_gpus gpus;

    for (unsigned i = 0; i < RC_GPU_LISTS; i++)
        gpus.list[i] = rc_env_find(env, rc_gpu_list_name((enum rc_gpu_list_index)i));
    gpus.numbers = rc_env_get(env, "SLURM_STEP_GPUS");
    step.gpus = &gpus;
}

static bool is_first_node(spank_t spank, const struct rc_env *env)
{
    struct rc_str leader = rc_env_get(env, "SLURM_JOB_ID");
    uint32_t node, job, leader_job;

    if (!rc_spank_number(spank, S_JOB_NODEID, &node) || node != 0)
        return false;
    /* items count within a het component (measured); the first has the leader's job id */
    return !rc_env_get(env, "SLURM_HET_SIZE").p || !rc_spank_number(spank, S_JOB_ID, &job) ||
           !rc_parse_u32(leader, UINT32_MAX, &leader_job) || leader_job == job;
}

bool rc_spank_is_step_of_tasks(spank_t spank)
{
    uint32_t id;

    return rc_spank_number(spank, S_JOB_STEPID, &id) && id < first_special_step;
}

/* Read the environment from srun: slurmstepd replaces these variables in a task. */
static enum rc_bound_by find_bound(const struct rc_env *env)
{
    struct rc_str bind = rc_env_get(env, "SLURM_CPU_BIND");
    struct rc_str type = rc_env_get(env, "SLURM_CPU_BIND_TYPE");

    /* only types ending in ":" have a list (22.05 has LIST=cores) */
    if (!rc_str_ends(type, ":"))
        return rc_str_starts(type, "rank") ? RC_BOUND_BY_USER : RC_BOUND_BY_SLURM;
    return rc_str_eq(bind, rc_env_get(env, RC_BIND_LEFT)) ? RC_BOUND_BY_LEFTOVER : RC_BOUND_BY_USER;
}

/* Return false if rollcall has nothing to do. */
static bool read_wish(const char *const *env)
{
    static char text[TEXT_SIZE];
    static struct rc_arena arena; /* lives as long as step.wrong, which uses it */
    struct rc_str wish, of_srun;

    arena = (struct rc_arena){ .base = text, .size = sizeof(text) };
    step.wrong.arena = &arena;
    rc_env_index(&result.env, env);
    wish = rc_env_get(&result.env, "ROLLCALL");
    of_srun = rc_env_get(&result.env, RC_WISH);
    if (!wish.p && of_srun.n)
        wish = of_srun;
    step.understood = rc_spank_asked(wish, of_srun.n > 0, &step.options, &step.wrong);
    return step.options.given && step.options.mode != RC_MODE_OFF;
}

/* Copy the block and its entries in one allocation. Return NULL without memory. */
static const char **copy_block(const char *const *env)
{
    size_t count = 0;
    size_t size = 0;
    const char **copy;
    char *text;

    for (; env[count]; count++)
        size += strlen(env[count]) + 1;
    copy = malloc((count + 1) * sizeof(*copy) + size);
    if (!copy)
        return NULL;
    text = (char *)(copy + count + 1);
    for (size_t i = 0; i < count; i++) {
        size = strlen(env[i]) + 1;
        copy[i] = memcpy(text, env[i], size);
        text += size;
    }
    copy[count] = NULL;
    return copy;
}

void rc_spank_step_prepare(spank_t spank)
{
    const char *const *env = rc_spank_environment(spank);

    if (block || !env || !rc_spank_is_step_of_tasks(spank) || !rc_spank_may_be_asked(env))
        return;
    block = copy_block(env);
    if (!block)
        return;
    rc_spank_programs_find();
    rc_spank_outside_remember();
    shared = rc_once_memory(sizeof(*shared));
    rc_spank_meet_prepare();
    rc_spank_bind_prepare();
    rc_spank_ending_prepare();
}

void rc_spank_step_task_ended(spank_t spank)
{
    if (block && rc_spank_may_be_asked(block))
        rc_spank_ending_task_ended(spank);
}

void rc_spank_step_begin(spank_t spank)
{
    const char *const *env = block ? block : rc_spank_environment(spank);

    if (!env || !rc_spank_is_step_of_tasks(spank) || !read_wish(env))
        return;
    step.active = true;
    step.first_node = is_first_node(spank, &result.env);
    step.bound_by = find_bound(&result.env);
    if (block)
        find_gpus(&result.env);
    else
        rc_spank_outside_remember();
    rc_command_read(rc_spank_command(spank), &result.command);
    decide_mode(spank, env);
}

bool rc_spank_step_speaks(spank_t spank)
{
    int local;

    if (shared)
        return atomic_exchange(&shared->spoken, 1) == 0;
    return spank_get_item(spank, S_TASK_ID, &local) == ESPANK_SUCCESS && local == 0;
}

static void say_lookup(const struct rc_result *found, const struct rc_lookup *lookup)
{
    char text[RC_LOOKUP_SIZE];
    struct rc_arena arena = { .base = text, .size = sizeof(text) };
    struct rc_messages messages = { .arena = &arena };

    rc_lookup_warn(&found->master, lookup, &messages);
    for (unsigned i = 0; i < messages.count; i++)
        rc_spank_say_alike(&found->env, messages.list[i].id, messages.list[i].text);
}

static const struct rc_lookup *look_up(const struct rc_result *found, char *answer)
{
    static struct rc_lookup lookup;
    struct rc_lookup_question question = rc_lookup_question_of(found, "nothing was set");

    question.leads = rc_spank_meet_leads();
    if (!*answer && !rc_lookup_find_known(&question, answer)) {
        rc_spank_outside_enter();
        rc_lookup_ask(rc_spank_program(RC_EXCHANGE), &question, RC_LOOKUP_MS, answer);
        rc_spank_outside_leave();
    }
    rc_lookup_read(rc_str(answer), &lookup);
    return &lookup;
}

const struct rc_lookup *rc_spank_step_lookup(const struct rc_result *found)
{
    static char own[RC_LOOKUP_SIZE];
    const struct rc_lookup *lookup;

    if (!shared)
        return look_up(found, own);
    if (!rc_once_begin(&shared->looked))
        return look_up(found, rc_once_wait(&shared->looked, LOOKUP_MS) ? shared->found : own);
    lookup = look_up(found, shared->found);
    /* before any program starts */
    say_lookup(found, lookup);
    rc_once_done(&shared->looked);
    return lookup;
}

bool rc_spank_step_is_elsewhere(const struct rc_result *found)
{
    static char own[RC_LOOKUP_SIZE];
    bool has_found = shared && shared->found[0];

    /* the look-up depends on the nodes' answer */
    return look_up(found, has_found ? shared->found : own)->elsewhere;
}
