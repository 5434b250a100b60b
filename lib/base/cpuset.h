/* SPDX-License-Identifier: BSD-3-Clause */
/* cpuset.h - sets of hardware threads in Linux's list format: "0-7,64-71". */
#pragma once

#include "base/text.h"

/* The kernel's limit: no distribution has a larger NR_CPUS. */
enum { RC_CPUS_MAX = 8192 };

/* The mask of sched_setaffinity(2) on a 64-bit machine: bit c % 64 of word c / 64 is the kernel's CPU c. */
struct rc_cpuset {
    uint64_t word[RC_CPUS_MAX / 64];
};

/* Parse the format of cpuset(7): numbers and ranges in any order. Return false, with *set unchanged, for other text, an
 * empty list or a number that is too large. */
bool rc_cpuset_read(struct rc_str list, struct rc_cpuset *set);

/* Return the shortest sorted list in the arena; "" for an empty set. */
const char *rc_cpuset_write(const struct rc_cpuset *set, struct rc_arena *arena);

unsigned rc_cpuset_count(const struct rc_cpuset *set);

bool rc_cpuset_is_equal(const struct rc_cpuset *a, const struct rc_cpuset *b);

/* Return true if `outer` contains every thread of `inner`. */
bool rc_cpuset_is_within(const struct rc_cpuset *inner, const struct rc_cpuset *outer);

void rc_cpuset_add(struct rc_cpuset *set, const struct rc_cpuset *more);
