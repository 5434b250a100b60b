/* SPDX-License-Identifier: BSD-3-Clause */
/* stamp.h - rollcall's own variables: who has set the environment, in which order, and where srun's server is. */
#pragma once

#include "base/env.h"

/* What rollcall leaves in a task that it has set up: the variable ROLLCALL_SCOPE (RC_STAMP).
 *
 *   SCOPE/RANK/MODE/PORT[ =TOLD][ OUTER-SCOPE]...
 *
 *   slurm:42.0/3/worker/29512 =3/8/1/2/1      task 3 of step 42.0, which was told master port 29512
 *   openmpi:7/0/launcher/29512 slurm:42.0     mpirun's task 0, in a step of Slurm's
 *
 * SCOPE is one launch (rc_facts.scope), RANK the launcher's number of the task, MODE "worker", "by-node" (a worker
 * whose RANK goes by node: order=node) or "launcher". TOLD is what a worker was told: RANK, WORLD_SIZE, LOCAL_RANK,
 * LOCAL_WORLD_SIZE and NODE_RANK, which a script may have overwritten since. The outer scopes are those of the
 * launchers that were found further outside. A scope has no blank and no slash, and does not begin with `=`.
 *
 * A later rollcall in the same process tree that finds its own scope and rank changes nothing; a launcher whose scope
 * the stamp does not have was started later, inside. */

enum rc_stamp_mode { RC_STAMP_NONE, RC_STAMP_WORKER, RC_STAMP_BY_NODE, RC_STAMP_LAUNCHER };

struct rc_stamp {
    struct rc_str text;  /* the variable's value; absent where it is not set */
    struct rc_str scope; /* absent where text has not the form above: then all below is empty too */
    uint32_t rank;
    enum rc_stamp_mode mode;
    uint16_t port;       /* the MASTER_PORT that the task was told */
    struct rc_str told;  /* without the sign; absent where it is not RC_STAMP_TOLD numbers, rank < size */
    struct rc_str outer; /* the outer scopes, separated by blanks; absent where there are none */
};

/* Takes a value apart. The slices are borrowed from text. */
struct rc_stamp rc_stamp_read(struct rc_str text);

/* True where the stamp was made for this task: the same launch and rank. scope may be NULL. */
bool rc_stamp_is_of(const struct rc_stamp *stamp, const char *scope, uint32_t rank);

/* True where the stamp has this scope among the outer ones. scope may be NULL. */
bool rc_stamp_has_outer(const struct rc_stamp *stamp, const char *scope);

/* The same for any step of a job: "slurm:42" is there in "slurm:42.0". */
bool rc_stamp_has_outer_job(const struct rc_stamp *stamp, const char *job);

/* True where the stamp was made inside of this job: its own scope is a step of it, or an outer one is. */
bool rc_stamp_is_in_job(const struct rc_stamp *stamp, const char *job);

/* How many numbers TOLD has. */
enum { RC_STAMP_TOLD = 5 };

/* The value for a task, in the arena. mode is not RC_STAMP_NONE; told[] are RC_STAMP_TOLD numbers, or NULL; outer[] are
 * outer_count scopes. */
const char *rc_stamp_write(struct rc_arena *arena, const char *scope, uint32_t rank, enum rc_stamp_mode mode,
                           uint16_t port, const uint32_t *told, const char *const *outer, unsigned outer_count);

/* Where a task's node is in an order that the nodes were told: the variable ROLLCALL_ORDER.
 *
 *   SCOPE/RANK/NODE/PLACE/BEFORE/HOST
 *   slurm:42.0/4/2/0/0/n3      task 4, on SLURM_NODEID 2, of step 42.0: its node n3 is now the first
 *
 * order=topology replaces SLURM_PROCID and SLURM_NODEID, because programs read them. Here they are kept for a later
 * rollcall in the same task, which goes by Slurm's numbers and has not met the other nodes. */

struct rc_ordered {
    uint32_t rank; /* the launcher's own numbers of task and node */
    uint32_t node;
    uint32_t place;     /* the node's number in the order */
    uint32_t before;    /* tasks on the nodes before it */
    struct rc_str host; /* the first node of all, on which RANK 0 is; absent: no order was told */
};

/* What the environment keeps of this launch; of another one nothing. False, with *ordered untouched, where it is not
 * there. The host is a slice of the environment. scope may be NULL. */
bool rc_ordered_read(const struct rc_env *env, const char *scope, struct rc_ordered *ordered);

/* The variable's value, in the arena. */
const char *rc_ordered_write(const struct rc_ordered *ordered, const char *scope, struct rc_arena *arena);

/* How the tasks of a step learn of srun's rendezvous server.
 *
 *   SLURM_ROLLCALL_SERVER=TOKEN PORT JOB.STEP
 *
 * The plugin in srun sets it. The host is where srun runs, which Slurm itself tells
 * the tasks. shim/watch/rollcall_watch_report.py reads the variable as well. Pure. */

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
