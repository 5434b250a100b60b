/* SPDX-License-Identifier: BSD-3-Clause */
/* affinity.h - the hardware threads that this process may run on. */
#ifndef ROLLCALL_SYSTEM_AFFINITY_H
#define ROLLCALL_SYSTEM_AFFINITY_H

#include "base/cpuset.h"

/* Reads and sets the mask of the calling thread. False, with nothing changed, where the
 * kernel refuses. They need no libc. */
bool rc_affinity_get(struct rc_cpuset *set);
bool rc_affinity_set(const struct rc_cpuset *set);

/* The widest set that the process may give itself: its cgroup's cpuset, from a
 * scheduler or a container. To find out, it takes that set for a moment. */
bool rc_affinity_widest(struct rc_cpuset *set);

#endif
