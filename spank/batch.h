/* SPDX-License-Identifier: BSD-3-Clause */
/* batch.h - task_init of a batch script: no task, but it may inherit one, and srun may be forgotten. */
#ifndef ROLLCALL_SPANK_BATCH_H
#define ROLLCALL_SPANK_BATCH_H

#include <stdint.h>
#include <sys/types.h>

#include <slurm/spank.h>

/* In a job's script: takes away what sbatch handed on of a task that rollcall had set up. In that of a job of several
 * tasks whose user asked for rollcall: gives its environment what lets torch say that srun is missing (RC309).
 * Does nothing elsewhere; never fails. */
void rc_spank_batch_begin(spank_t spank);

#endif
