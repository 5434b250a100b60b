/* SPDX-License-Identifier: BSD-3-Clause */
/* dispatch.h - what the callbacks call: srun's side, and the tasks'. */
#pragma once

#include <slurm/spank.h>
#include <stdint.h>
#include <sys/types.h>

#include "resolve/resolve.h"

/* In srun, once the step is made: where the user asked for rollcall and for no
 * other exchange, opens a socket in SrunPortRange, starts rollcall-exchange
 * with it, and names it to the tasks (RC_SERVER). Where the step needs it, sets RC_TASK_HOSTS. An outer step's
 * are emptied. Whatever fails leaves srun as it was. */
void rc_spank_srun_begin(spank_t spank);

/* In srun, before it opens a socket: where rollcall was asked for, puts /dev/null on each of the descriptors 0 to 2
 * that its caller has closed (`srun ... 2>&-`, as some daemons do). Else srun's own sockets get these numbers, the
 * first line of a task goes into one, and srun never ends: also without rollcall, whose findings are such lines
 * (22.05, measured). */
void rc_spank_open_standard(void);

/* In srun, before the step is made: false, with a line, where srun will not wait for a step that has --ddp. */
bool rc_spank_check_waiting(void);

/* Runs in the process that becomes the task, as the user. Returns 0, or does
 * not return: a task that the user asked rollcall to number and that cannot be
 * numbered ends here. */
int rc_spank_task_begin(spank_t spank);

/* In a job's script: takes away what sbatch handed on of a task that rollcall had set up. In that of a job of several
 * tasks whose user asked for rollcall: gives its environment what lets torch say that srun is missing (RC309).
 * Does nothing elsewhere; never fails. */
void rc_spank_batch_begin(spank_t spank);
