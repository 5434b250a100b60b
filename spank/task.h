/* SPDX-License-Identifier: BSD-3-Clause */
/* task.h - task_init, once a task: its plan, applied, and the master port held. */
#ifndef ROLLCALL_SPANK_TASK_H
#define ROLLCALL_SPANK_TASK_H

#include <stdint.h>
#include <sys/types.h>

#include <slurm/spank.h>

/* Runs in the process that becomes the task, as the user. Returns 0, or does
 * not return: a task that the user asked rollcall to number and that cannot be
 * numbered ends here. */
int rc_spank_task_begin(spank_t spank);

#endif
