/* SPDX-License-Identifier: BSD-3-Clause */
/* submit.c - sbatch, salloc and srun that a task calls, before they read their options.
 *
 * sbatch copies its environment into the new job (src/sbatch/sbatch.c, _fill_job_desc_from_opts), and srun takes
 * SLURM_NTASKS_PER_NODE for an option (src/srun/libsrun/opt.c, both seen in 22.05 to 26.05): `#SBATCH -N2 -n6` started
 * 4 tasks. So what rollcall has set in the task is removed here, if the value is still rollcall's.
 * OMP_NUM_THREADS stays: it may be the user's. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "launcher/stamp.h"
#include "rendezvous/discovery.h"
#include "resolve/pins.h"
#include "spank.h"

enum { TOLD_LOCAL_SIZE = 3, LIST_SIZE = 8192 };

static void remove_equal(const char *name, struct rc_str value)
{
    if (value.p && rc_str_eq(rc_str(getenv(name)), value))
        unsetenv(name);
}

static void remove_tasks_per_node(const struct rc_stamp *stamp)
{
    struct rc_str rest = stamp->told;

    for (int i = 0; i < TOLD_LOCAL_SIZE && rest.p; i++)
        rc_str_split(rest, '/', &rest);
    remove_equal("SLURM_NTASKS_PER_NODE", rc_str_split(rest, '/', &rest));
}

static bool is_ours(struct rc_str file)
{
    struct rc_str name = rc_str_base_name(file);

    return rc_str_is(name, RC_PINS_LIBRARY) || rc_str_is(name, RC_REVERSE_LIBRARY) ||
           rc_str_ends(file, "/rollcall/watch");
}

/* Takes rollcall's entries out of a list of files. */
static void filter_list(const char *name, const char *separators)
{
    char list[LIST_SIZE] = "";
    size_t n = 0;
    const char *from = getenv(name);
    const char *item = from;
    bool found = false;

    while (item && strlen(from) < sizeof(list)) {
        size_t length = strcspn(item, separators);

        if (is_ours((struct rc_str){ item, length }))
            found = true;
        else
            n += (size_t)snprintf(list + n, sizeof(list) - n, "%s%.*s", n ? ":" : "", (int)length, item);
        item = item[length] ? item + length + 1 : NULL;
    }
    if (found && n)
        setenv(name, list, 1);
    else if (found)
        unsetenv(name);
}

static void apply(const struct rc_plan *plan)
{
    for (unsigned i = 0; i < plan->count; i++)
        if (plan->entry[i].action == RC_UNSET)
            unsetenv(plan->entry[i].name.p);
}

void rc_spank_submit_begin(bool takes_environment)
{
    struct rc_result *result = rc_spank_result();
    struct rc_context context = { .env = (const char *const *)environ, .options.mode = RC_MODE_OFF };
    const char *name = getenv(RC_KEPT_NAME);
    const char *pmix = getenv("PMIX_VERSION");

    if (!getenv(RC_STAMP) || rc_resolve(&context, result) != RC_RESOLVED || !result->stamp.scope.p)
        return;
    /* the index of the environment is good until the first change */
    rc_leftover_plan(result, "slurm:0");
    remove_tasks_per_node(&result->stamp);
    if (!takes_environment)
        return;
    filter_list("LD_PRELOAD", ": ");
    filter_list("PYTHONPATH", ":");
    if (pmix)
        remove_equal(RC_PMIX_GDS, rc_str(rc_pmix_server_gds(rc_str(pmix))));
    if (name)
        setenv("SLURM_JOB_NAME", name, 1);
    apply(&result->plan);
}
