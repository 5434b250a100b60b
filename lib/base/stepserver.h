/* SPDX-License-Identifier: BSD-3-Clause */
/* stepserver.h - how the tasks of a step learn of srun's rendezvous server.
 *
 *   SLURM_ROLLCALL_SERVER=TOKEN PORT JOB.STEP
 *
 * The plugin in srun sets it. The host is where srun runs, which Slurm itself tells
 * the tasks. shim/watch/rollcall_watch.py reads the variable as well. Pure.
 */
#ifndef ROLLCALL_BASE_STEPSERVER_H
#define ROLLCALL_BASE_STEPSERVER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/env.h"
#include "base/text.h"
#include "base/variables.h"

/* Slices of the variable, not checked. */
struct rc_step_server {
    struct rc_str token;
    struct rc_str port;
    struct rc_str step; /* "JOB.STEP" */
};

/* False, with *server untouched, where the environment names no server. */
bool rc_step_server_read(const struct rc_env *env, struct rc_step_server *server);

/* The variable's value; see arena->full. */
const char *rc_step_server_write(struct rc_arena *arena, const char *token, uint16_t port, uint32_t job, uint32_t step);

#endif
