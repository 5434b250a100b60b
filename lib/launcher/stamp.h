/* SPDX-License-Identifier: BSD-3-Clause */
/* stamp.h - rollcall's variables: the task's launch, node order, and srun's server. */
#pragma once

#include "base/env.h"

/* ROLLCALL_SCOPE (RC_STAMP), set in each task: SCOPE/RANK/MODE/PORT[ =TOLD][ OUTER-SCOPE]...
 *
 * "slurm:42.0/3/worker/29512 =3/8/1/2/1": task 3 of step 42.0, with master port 29512
 * "openmpi:7/0/launcher/29512 slurm:42.0": mpirun's task 0 inside a step
 * SCOPE is rc_facts.scope, RANK the launcher's, MODE "worker", "by-node" (order=node) or "launcher". TOLD is a worker's
 * RANK, WORLD_SIZE, LOCAL_RANK, LOCAL_WORLD_SIZE and NODE_RANK, which a script may since have overwritten. A scope has
 * no blank or slash and does not begin with `=`.
 * A later rollcall that finds its scope and rank changes nothing; a launcher whose scope is missing started later,
 * inside. */

enum rc_stamp_mode { RC_STAMP_NONE, RC_STAMP_WORKER, RC_STAMP_BY_NODE, RC_STAMP_LAUNCHER };

struct rc_stamp {
    struct rc_str text;  /* the variable's value */
    struct rc_str scope; /* RC_ABSENT if text is invalid, then all below is empty */
    uint32_t rank;
    enum rc_stamp_mode mode;
    uint16_t port;       /* the task's MASTER_PORT */
    struct rc_str told;  /* RC_ABSENT unless RC_STAMP_TOLD numbers, rank < size */
    struct rc_str outer; /* separated by blanks */
};

/* Parse a value into slices of `text`. */
struct rc_stamp rc_stamp_read(struct rc_str text);

/* Return true if the stamp is of this launch and rank. scope may be NULL. */
bool rc_stamp_is_of(const struct rc_stamp *stamp, const char *scope, uint32_t rank);

/* Return true if `scope` is an outer one, or false if NULL. */
bool rc_stamp_has_outer(const struct rc_stamp *stamp, const char *scope);

/* The same for steps of a job, "slurm:42". */
bool rc_stamp_has_outer_job(const struct rc_stamp *stamp, const char *job);

/* Return true if any scope is of this job. */
bool rc_stamp_is_in_job(const struct rc_stamp *stamp, const char *job);

/* Count of numbers in TOLD. */
enum { RC_STAMP_TOLD = 5 };

/* Return a value in the arena. told[] has RC_STAMP_TOLD numbers or is NULL. */
const char *rc_stamp_write(struct rc_arena *arena, const char *scope, uint32_t rank, enum rc_stamp_mode mode,
                           uint16_t port, const uint32_t *told, const char *const *outer, unsigned outer_count);

/* ROLLCALL_ORDER: SCOPE/RANK/NODE/PLACE/BEFORE/HOST. "slurm:42.0/4/2/0/0/n3" is task 4 of step 42.0 on SLURM_NODEID 2,
 * whose node n3 is now first.
 *
 * order=topology replaces SLURM_PROCID and SLURM_NODEID, because programs read them; a later rollcall gets Slurm's
 * numbers here. */

struct rc_ordered {
    uint32_t rank; /* the launcher's numbers of task and node */
    uint32_t node;
    uint32_t place;     /* the node's index in the order */
    uint32_t before;    /* tasks on earlier nodes */
    struct rc_str host; /* node of rank 0; RC_ABSENT: no order was set */
};

/* Read this launch's value; the host is a slice. Return false, with *ordered unchanged, if there is none. */
bool rc_ordered_read(const struct rc_env *env, const char *scope, struct rc_ordered *ordered);

/* Return the variable's value in the arena. */
const char *rc_ordered_write(const struct rc_ordered *ordered, const char *scope, struct rc_arena *arena);

/* SLURM_ROLLCALL_SERVER=TOKEN PORT JOB.STEP: srun's server, set by the plugin in srun. Also read by
 * shim/watch/rollcall_watch_report.py. */

/* Slices, not validated. */
struct rc_step_server {
    struct rc_str token;
    struct rc_str port;
    struct rc_str step; /* "JOB.STEP" */
};

/* Return false, with *server unchanged, if unset. */
bool rc_step_server_read(const struct rc_env *env, struct rc_step_server *server);

/* Return the value; see arena->full. */
const char *rc_step_server_write(struct rc_arena *arena, const char *token, uint16_t port, uint32_t job, uint32_t step);
