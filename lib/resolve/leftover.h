/* SPDX-License-Identifier: BSD-3-Clause */
/* leftover.h - what sbatch handed on of a task that rollcall had set up.
 *
 * sbatch, called in a task, gives that task's environment to the new job's script: its RANK, its MASTER_ADDR, its
 * stamp. Training that is started there would wait for tasks of a step that has ended.
 */
#ifndef ROLLCALL_RESOLVE_LEFTOVER_H
#define ROLLCALL_RESOLVE_LEFTOVER_H

#include "resolve/result.h"

/* Adds to the plan that all this goes, where result->stamp was made outside of this job. job is the job's
 * scope, "slurm:42", or NULL. Ranks and master that somebody has set since stay. Does nothing where there
 * is no stamp, or one that does not say what its task was told. */
void rc_leftover_plan(struct rc_result *result, const char *job);

#endif
