/* SPDX-License-Identifier: BSD-3-Clause */
/* variables.h - the names of the variables that rollcall itself sets, for what starts later in the same job. */
#ifndef ROLLCALL_BASE_VARIABLES_H
#define ROLLCALL_BASE_VARIABLES_H

/* The stamp of a task that rollcall has set up; launcher/stamp.h writes it and takes it apart. */
#define RC_STAMP "ROLLCALL_SCOPE"

/* The job name that launcher mode hid. */
#define RC_KEPT_NAME "ROLLCALL_SLURM_JOB_NAME"

/* Set by the plugin in srun for an arbitrary distribution: host of each task. */
#define RC_TASK_HOSTS "SLURM_ROLLCALL_TASK_HOSTS"

/* Set by the plugin in srun, for the step's tasks: "TOKEN PORT JOB.STEP" of its
 * server. The host is where srun runs, which Slurm itself tells them. Names that
 * begin with SLURM_ pass through --export=NONE. */
#define RC_SERVER "SLURM_ROLLCALL_SERVER"

#endif
