/* SPDX-License-Identifier: BSD-3-Clause */
/* pin.h - binds a launcher's worker to its own cores, without libc.
 *
 * torchrun and Lightning start their workers after rollcall has done its part. So
 * the task carries the cores of each (pinning.h, ROLLCALL_PINS), and the worker binds
 * itself before its main. In any doubt it stays as it is:
 *
 * - LOCAL_RANK must be a number of the list, and the launcher's other numbers must
 *   give as many workers as the list has.
 * - Its present mask must hold the cores of all workers. A smaller mask was set since,
 *   on purpose (torchrun --numa-binding, taskset). So a mask never gets wider. (It may
 *   hold more than the list: cores that are near no GPU are in no worker's part.)
 * - Shells, numactl and the like are no workers, but start one. The kernel would refuse
 *   what numactl's command line says if numactl were bound before.
 * - A worker that has been bound is marked. The programs that it starts keep the mask
 *   that they start with, even if the worker has bound itself elsewhere since.
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

/* Binds this process if it is such a worker, and marks it in environ. env is the index
 * of environ; argv is NULL where it is not known; *pin is scratch. *table may become the
 * environment, so it must be static. Call it once in a process. */
void shim_pin(struct shim_pin *pin, const struct rc_env *env, const char *const *argv, struct shim_table *table);

#endif
