/* SPDX-License-Identifier: BSD-3-Clause */
/* affinity.h - the hardware threads that this process may run on. */
#ifndef ROLLCALL_SYSTEM_AFFINITY_H
#define ROLLCALL_SYSTEM_AFFINITY_H

#include "base/cpuset.h"

/* Of the calling thread; each returns false, with what was there untouched,
 * where the kernel refuses. Without a libc, too. */
bool rc_affinity_get(struct rc_cpuset *set);
bool rc_affinity_set(const struct rc_cpuset *set);

/* As wide as the process could make itself: the cpuset of its cgroup, which a
 * scheduler or a container gave it. Asked by making it so for a moment. */
bool rc_affinity_widest(struct rc_cpuset *set);

#endif
