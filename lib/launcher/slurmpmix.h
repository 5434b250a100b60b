/* SPDX-License-Identifier: BSD-3-Clause */
/* slurmpmix.h - the PMIx namespace of a step of Slurm's: slurm.pmix.JOB.STEP. */
#ifndef ROLLCALL_LAUNCHER_SLURMPMIX_H
#define ROLLCALL_LAUNCHER_SLURMPMIX_H

#include "base/env.h"

#define RC_SLURMPMIX_PREFIX "slurm.pmix."

/* "JOB.STEP", which is the run id of Slurm's family; absent where PMIX_NAMESPACE
 * is not set, or is another server's. A slice of the environment. */
static inline struct rc_str rc_slurmpmix_step(const struct rc_env *env)
{
    enum { LENGTH = sizeof(RC_SLURMPMIX_PREFIX) - 1 };
    struct rc_str name = rc_env_get(env, "PMIX_NAMESPACE");

    return rc_str_starts(name, RC_SLURMPMIX_PREFIX) ? (struct rc_str){ name.p + LENGTH, name.n - LENGTH } : RC_ABSENT;
}

#endif
