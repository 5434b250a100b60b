/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "rendezvous/pmixserver.h"

bool rc_has_own_server(const struct rc_result *result)
{
    struct rc_str name = rc_env_get(&result->env, "PMIX_NAMESPACE");
    struct rc_str launcher = rc_str(result->launcher->id);
    uint32_t rank;

    if (!name.n || !(rc_env_get(&result->env, "PMIX_SERVER_URI2").n || rc_env_get(&result->env, "PMIX_SERVER_URI3").n ||
                     rc_env_get(&result->env, "PMIX_SERVER_URI4").n || rc_env_get(&result->env, "PMIX_SERVER_URI41").n))
        return false;
    if (!rc_parse_u32(rc_env_get(&result->env, "PMIX_RANK"), RC_MAX_TASKS, &rank) ||
        rank != result->facts.field[RC_RANK].value)
        return false;
    if (rc_str_is(launcher, "openmpi") || rc_str_is(launcher, "pmix"))
        return !rc_str_starts(name, "slurm.pmix.");
    /* steps of several het components share a namespace that is not called after each of them */
    if (!rc_str_is(launcher, "slurm") || rc_env_get(&result->env, "SLURM_HET_SIZE").p ||
        !rc_str_starts(name, "slurm.pmix."))
        return false;
    name.p += sizeof("slurm.pmix.") - 1;
    name.n -= sizeof("slurm.pmix.") - 1;
    return rc_str_is(name, result->facts.run_id);
}

/* With PMIx 4's default store the second PMIx_Init of a task, which is the
 * command's own, finds nothing, and MPI_Init fails (measured with 4.2.2). */
const char *rc_pmix_store(struct rc_str version)
{
    return rc_str_starts(version, "4.") ? "hash" : NULL;
}
