/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "batch.h"

#include "apply.h"
#include "items.h"
#include "options.h"
#include "resolve/forgotten.h"
#include "resolve/leftover.h"
#include "step.h"
#include "system/beside.h"

#include <slurm/slurm.h>

enum { TEXT_SIZE = 4608 };

/* Only users who asked by themselves have tasks in mind that the script may have forgotten to start. */
static bool is_asked_for(const struct rc_env *env, struct rc_options *options)
{
    char text[TEXT_SIZE];
    struct rc_arena arena = { .base = text, .size = sizeof(text) };
    struct rc_messages wrong = { .count = 0 };
    bool understood = rc_spank_asked(rc_env_get(env, "ROLLCALL"), options, &wrong, &arena);

    options->addr = NULL;
    return understood && options->given && options->by_user && options->mode != RC_MODE_OFF &&
           options->watch != RC_WATCH_OFF;
}

/* Lets torch say that srun was forgotten (RC309). */
static void plan_forgotten(struct rc_context *context, struct rc_result *result)
{
    static char path[4096];
    static struct rc_here here;

    here.learned = RC_LEARN_WATCH;
    here.watch = rc_beside_watch(ROLLCALL_WATCH_FROM_PLUGIN, path, sizeof(path));
    context->here = &here;
    rc_forgotten_plan(context, result);
}

void rc_spank_batch_begin(spank_t spank)
{
    struct rc_result *result = rc_spank_result();
    struct rc_context context = { .env = rc_spank_environment(spank) };
    struct rc_str job;
    uint32_t step;
    bool asked;

    if (!context.env || !rc_spank_number(spank, S_JOB_STEPID, &step) || step != SLURM_BATCH_SCRIPT)
        return;
    rc_env_index(&result->env, context.env);
    asked = is_asked_for(&result->env, &context.options);
    if (!asked && !rc_env_get(&result->env, RC_STAMP).p)
        return;
    /* a script that was submitted from a task inherits what looks like one: it is none, whatever it inherits */
    context.options.mode = RC_MODE_OFF;
    if (rc_resolve(&context, result) != RC_RESOLVED)
        return;
    job = rc_env_get(&result->env, "SLURM_JOB_ID");
    if (job.n)
        rc_leftover_plan(result, rc_format(&result->arena, "slurm:%S", &job));
    if (asked)
        plan_forgotten(&context, result);
    rc_spank_apply(spank, &result->plan);
}
