/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "rendezvous/pmixserver.h"

#include "launcher/slurmpmix.h"

bool rc_pmix_server_is_own(const struct rc_result *result)
{
    struct rc_str name = rc_env_get(&result->env, "PMIX_NAMESPACE");
    struct rc_str step = rc_slurmpmix_step(&result->env);
    uint32_t rank;

    if (!name.n || !(rc_env_get(&result->env, "PMIX_SERVER_URI2").n || rc_env_get(&result->env, "PMIX_SERVER_URI3").n ||
                     rc_env_get(&result->env, "PMIX_SERVER_URI4").n || rc_env_get(&result->env, "PMIX_SERVER_URI41").n))
        return false;
    if (!rc_parse_u32(rc_env_get(&result->env, "PMIX_RANK"), RC_MAX_TASKS, &rank) ||
        rank != result->facts.field[RC_RANK].value)
        return false;
    switch (result->launcher->pmix_server) {
    case RC_PMIX_SERVER_OWN:
        return !step.p;
    case RC_PMIX_SERVER_SLURM:
        /* steps of several het components share a namespace that is not called after each of them */
        return !rc_env_get(&result->env, "SLURM_HET_SIZE").p && rc_str_is(step, result->facts.run_id);
    case RC_PMIX_SERVER_NONE:
        break;
    }
    return false;
}

/* With PMIx 4's default store the second PMIx_Init of a task, which is the
 * command's own, finds nothing, and MPI_Init fails (measured with 4.2.2). */
const char *rc_pmix_server_gds(struct rc_str version)
{
    return rc_str_starts(version, "4.") ? "hash" : NULL;
}
