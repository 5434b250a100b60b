/* SPDX-License-Identifier: BSD-3-Clause */
/* slurmcomponents.h - the components of a heterogeneous job (srun A : B) and their nodes, as Slurm's variables have
 * them. */
#ifndef ROLLCALL_LAUNCHER_SLURMCOMPONENTS_H
#define ROLLCALL_LAUNCHER_SLURMCOMPONENTS_H

#include "base/env.h"

enum { RC_SLURMCOMPONENTS_MAX = 128 }; /* MAX_HET_JOB_COMPS of slurmctld */

struct rc_slurmcomponents {
    struct rc_str hosts[RC_SLURMCOMPONENTS_MAX]; /* lists that hostlist.h reads */
    uint32_t count;
};

/* Where a node stands among those of all components. */
struct rc_slurmposition {
    uint32_t component;
    uint32_t index; /* in that one's list */
};

/* Whether the environment is of a job of several components. */
bool rc_slurmcomponents_are_there(const struct rc_env *env);

/* Reads the list of each component of this job; the texts stay the environment's. False where they are another
 * job's, or where one is missing or cannot be read. */
bool rc_slurmcomponents_read(const struct rc_env *env, struct rc_slurmcomponents *components);

/* False for a name that is in no component or in several; *position then has no meaning. */
bool rc_slurmcomponents_find(const struct rc_slurmcomponents *components, struct rc_str name,
                             struct rc_slurmposition *position);

#endif
