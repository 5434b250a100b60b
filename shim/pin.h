/* SPDX-License-Identifier: BSD-3-Clause */
/* pin.h - a launcher's worker goes to its own cores, without libc.
 *
 * torchrun and Lightning start their workers after rollcall has done its part, so
 * the task carries the cores of each (pinning.h, ROLLCALL_PINS) and the worker goes
 * there by itself, before its main. On any doubt it stays where it is:
 *
 * - LOCAL_RANK must be a number of the list, and the launcher's other numbers must
 *   tell of as many workers as the list has.
 * - Its present mask must hold the cores of all workers. One that does not was given
 *   to it since (torchrun --numa-binding, taskset), by somebody who had a reason. So
 *   it never gets wider. (A mask may hold more than the list: cores that are near
 *   nobody's GPU are nobody's.)
 * - Shells, numactl and the like are no workers: who they start is one. numactl
 *   would be refused what its command line says, were it bound before.
 * - A worker that has been bound is marked. What it starts keeps the mask that it
 *   is started with, also where the worker has gone elsewhere since.
 */
#ifndef ROLLCALL_SHIM_PIN_H
#define ROLLCALL_SHIM_PIN_H

#include "base/cpuset.h"
#include "base/env.h"
#include "table.h"

struct shim_pin {
    uint32_t local_rank;
    struct rc_str cpus; /* as ROLLCALL_PINS has them */
    struct rc_cpuset own;
    struct rc_cpuset all;    /* those of all workers */
    struct rc_cpuset before; /* the mask that the process has had so far */
    struct rc_plan plan;
};

/* Binds this process, if it is to be bound, and marks it in environ, of which env is
 * the index. argv is NULL where it is not known. *pin is scratch; *table becomes
 * the environment, perhaps: once in a process. */
void shim_pin(struct shim_pin *pin, const struct rc_env *env, const char *const *argv, struct shim_table *table);

#endif
