/* SPDX-License-Identifier: BSD-3-Clause */
/* submit.c - sbatch, salloc and srun in a task, before they read their options.
 *
 * They copy their environment into the new job or step (sbatch: src/sbatch/sbatch.c, _fill_job_desc_from_opts). srun
 * also reads SLURM_NTASKS_PER_NODE and SLURM_JOB_NAME (src/srun/libsrun/opt.c; both in 22.05 to 26.05): `#SBATCH -N2
 * -n6` started 4 tasks. So remove variables that still have rollcall's value. */
#include "config.h"

#include <stdlib.h>
#include <unistd.h>

#include "rendezvous/discovery.h"
#include "spank.h"

/* --ddp of the enclosing job (SPANK_OPTION_ENV_PREFIX of Slurm 22.05 to 26.05). */
#define OPTION "_SLURM_SPANK_OPTION_rollcall_ddp"

static void apply(const struct rc_plan *plan)
{
    for (unsigned i = 0; i < plan->count; i++)
        if (plan->entry[i].action == RC_SET)
            setenv(plan->entry[i].name.p, plan->entry[i].value, 1);
        else
            unsetenv(plan->entry[i].name.p);
}

void rc_spank_submit_begin(bool submits)
{
    struct rc_result *result = rc_spank_result();
    struct rc_context context = { .env = (const char *const *)environ, .options.mode = RC_MODE_OFF };
    const char *pmix = getenv("PMIX_VERSION");
    const char *store = getenv(RC_PMIX_GDS);

    if (rc_resolve_certain(&context, result) != RC_RESOLVED)
        return;
    rc_submission_plan(result);
    apply(&result->plan);
    if (submits) {
        unsetenv(OPTION);
        unsetenv("SLURM_SPANK_" OPTION);
    }
    if (result->stamp.text.p && pmix && store && rc_str_is(rc_str(rc_pmix_server_gds(rc_str(pmix))), store))
        unsetenv(RC_PMIX_GDS);
}
