/* SPDX-License-Identifier: BSD-3-Clause */
/* hosts.h - srun's side: which task is on which host, under `-m arbitrary`.
 *
 * The tasks' environment tells block, cyclic and plane distributions.
 * An arbitrary distribution (also SLURM_HOSTFILE, --nodefile) is not: Slurm
 * sorts the node list, and RANK 0 may be on any node of it. srun has made the
 * step when this is called, so slurmctld is asked, once, and the answer goes to
 * the tasks in RC_TASK_HOSTS.
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
