/* SPDX-License-Identifier: BSD-3-Clause */
/* cpuset.h - sets of hardware threads, as Linux writes and takes them: "0-7,64-71". */
#pragma once

#include "base/text.h"

/* The kernel's own limit (NR_CPUS of every distribution is that or less). */
enum { RC_CPUS_MAX = 8192 };

/* What sched_setaffinity(2) takes on a 64-bit machine: bit c % 64 of word c / 64
 * is hardware thread c, by the kernel's number. */
struct rc_cpuset {
    uint64_t word[RC_CPUS_MAX / 64];
};

/* The format of cpuset(7): numbers and ranges, in any order. False, with *set
 * untouched, for anything else, an empty list or a number that is too large. */
bool rc_cpuset_read(struct rc_str list, struct rc_cpuset *set);

/* Writes a set into the arena in the same format, sorted and as short as possible; "" for an empty set. */
const char *rc_cpuset_write(const struct rc_cpuset *set, struct rc_arena *arena);

unsigned rc_cpuset_count(const struct rc_cpuset *set);

bool rc_cpuset_is_equal(const struct rc_cpuset *a, const struct rc_cpuset *b);

/* Whether the outer set has all threads of the inner one. */
bool rc_cpuset_is_within(const struct rc_cpuset *inner, const struct rc_cpuset *outer);

void rc_cpuset_add(struct rc_cpuset *set, const struct rc_cpuset *more);
