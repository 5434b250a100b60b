/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodemode.h"

#include <stdlib.h>

#include "items.h"

enum { SYNTHETIC_MAX = 9, TEXT_SIZE = 4608 };

/* The variables that Slurm sets only when a task starts. They are put in front of the
 * step's own block, so that they win over those that srun inherited, such as an outer
 * step's rank. */
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

/* Adds this node's first task as the core would see it in task_init. Asks only for
 * local id 0: Slurm's own check of the id reads one element too far. */
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
    /* the value of an outer step would contradict them */
    block->entry[block->count++] = "SLURM_GTIDS=";
    block->entry[block->count++] = "SLURMD_NODENAME=";
    put_missing(spank, env, block, RC_STR("SLURM_JOB_ID"), S_JOB_ID);
    put_missing(spank, env, block, RC_STR("SLURM_STEP_ID"), S_JOB_STEPID);
    put_missing(spank, env, block, RC_STR("SLURM_STEP_NUM_TASKS"), S_JOB_TOTAL_TASK_COUNT);
    put_missing(spank, env, block, RC_STR("SLURM_STEP_NUM_NODES"), S_JOB_NNODES);
    return !block->arena.full;
}

enum rc_mode rc_spank_node_mode(spank_t spank, const struct rc_context *step, struct rc_result *result,
                                struct rc_arena *reason)
{
    char text[TEXT_SIZE];
    struct block block = { .arena = { .base = text, .size = sizeof(text) } };
    struct rc_context context = *step; /* not indexed: of another block */
    enum rc_mode mode = RC_MODE_AUTO;
    size_t n = 0;

    while (step->env[n])
        n++;
    block.entry = malloc((SYNTHETIC_MAX + n + 1) * sizeof(*block.entry));
    if (!block.entry)
        return RC_MODE_AUTO;
    if (put_first_task(spank, &result->env, &block)) {
        for (size_t i = 0; i <= n; i++)
            block.entry[block.count + i] = step->env[i];
        context.env = block.entry;
        /* the tasks report errors, because they see the whole environment */
        mode = rc_resolve_mode(&context, result);
        if (mode != RC_MODE_AUTO && result->mode_reason)
            rc_format(reason, "%s", result->mode_reason);
    }
    free(block.entry);
    return mode;
}
