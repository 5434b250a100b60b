/* SPDX-License-Identifier: BSD-3-Clause */
/* hosts.h - srun's side: which task is on which host, where the step's node list does not tell.
 *
 * The tasks' environment tells cyclic and plane distributions, and block up to Slurm 25.11.
 * Under an arbitrary distribution (also SLURM_HOSTFILE, --nodefile), and from 26.05 on with
 * switches or blocks, RANK 0 may be on any node of the list. srun has made the step when this
 * is called, so slurmctld is asked, once, and the answer goes to the tasks in RC_TASK_HOSTS.
 */
#ifndef ROLLCALL_SPANK_HOSTS_H
#define ROLLCALL_SPANK_HOSTS_H

#include <stdint.h>
#include <sys/types.h>

#include <slurm/spank.h>

/* Sets RC_TASK_HOSTS in srun's environment where the step needs it, and empties
 * an outer step's. Does nothing where rollcall was not asked for. */
void rc_spank_name_hosts(spank_t spank);

#endif
