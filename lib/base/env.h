/* SPDX-License-Identifier: BSD-3-Clause */
/* env.h - an index of an environment block, and the names of rollcall's variables. */
#pragma once

#include "base/text.h"

/* Launcher families look up many names before a task starts: hash them. Lookups scan a block of more than
 * RC_ENV_INDEXED variables. */

enum { RC_ENV_INDEXED = 512, RC_ENV_BUCKETS = 512 };

struct rc_env {
    const char *const *block; /* NULL-terminated "NAME=VALUE" strings, borrowed */
    unsigned count;
    bool indexed;
    /* Positions in the block, from 1; 0 is none. A bucket has the last position of its names; before[] links to the
     * previous one in the same bucket. */
    uint16_t bucket[RC_ENV_BUCKETS];
    uint16_t before[1 + RC_ENV_INDEXED];
};

/* Index `block`, which may be NULL. Skip entries without '='. The first of duplicates counts, as in getenv(). */
void rc_env_index(struct rc_env *env, const char *const *block);

/* Separates launchers' variables as well as a hash of the whole name, several times faster. */
static inline unsigned rc_env_bucket(struct rc_str name)
{
    const unsigned char *c = (const unsigned char *)name.p;

    return name.n ? ((unsigned)name.n * 64 + c[name.n * 3 / 4] * 8u + c[name.n - 1]) % RC_ENV_BUCKETS : 0;
}

/* Return the value of a variable, or RC_ABSENT if it is unset. */
struct rc_str rc_env_find(const struct rc_env *env, struct rc_str name);

/* Return true if the variable is set; a miss is usually one comparison, as the compiler computes a literal's bucket. */
static inline bool rc_env_has(const struct rc_env *env, struct rc_str name)
{
    return (!env->indexed || env->bucket[rc_env_bucket(name)]) && rc_env_find(env, name).p;
}

/* Return the value of `first`, or of `second` if that is unset or empty. */
struct rc_str rc_env_either(const struct rc_env *env, struct rc_str first, struct rc_str second);

/* Return 1 + the index of the last entry with this name among the first `below`, or 0. Continue below each result to
 * visit all. */
unsigned rc_env_place(const struct rc_env *env, struct rc_str name, unsigned below);

#define rc_env_get(env, literal) rc_env_find((env), RC_STR("" literal))

/* Set by the user: the level of rc_debug_level(). */
#define RC_DEBUG "ROLLCALL_DEBUG"

/* The stamp of a task that rollcall has set up (launcher/stamp.h). */
#define RC_STAMP "ROLLCALL_SCOPE"

/* The preload library's checksum of the launchers' variables and rollcall's: if it matches, there is nothing to do
 * (shim/settled.c). */
#define RC_SETTLED "ROLLCALL_SETTLED"

/* The job name that launcher mode hid. */
#define RC_KEPT_NAME "ROLLCALL_SLURM_JOB_NAME"

/* A node's position in network order, and Slurm's numbers of node and task (launcher/stamp.h). */
#define RC_ORDERED "ROLLCALL_ORDER"

/* Variables that rollcall set in this task, each with a digest that shows later changes: "RANK=1234 WORLD_SIZE=77"
 * (resolve/plan.c). */
#define RC_OWN "ROLLCALL_OWN"

/* The identity that the watch checks. Worker mode: "rank=3 size=4 node=1 nodes=2 master=n1:23456", and " other=1" if
 * another numbering gives another rank. Launcher mode: "node=1 nodes=2". With a server in srun also " task=3 tasks=4"
 * (Slurm's), and " arrivals=1" with watch=SECONDS. If a script may lack srun: "script=JOB tasks=4", and " exec=1" from
 * rollcall exec. */
#define RC_IDENTITY "ROLLCALL_IDENTITY"

/* The hardware threads of each worker, by local rank: "0-7,64-71 8-15,72-79". */
#define RC_PINS "ROLLCALL_PINS"

/* Set in a bound worker: its LOCAL_RANK. Its children (data loaders) keep the mask they inherit. */
#define RC_PINNED "ROLLCALL_PINNED"

/* Id and digest of a printed error, so that other programs of the task do not repeat it. */
#define RC_REPORTED "ROLLCALL_REPORTED"

/* Set by the plugin in srun if node order does not determine each task's node: "JOB.STEP MAP". The map lists runs of
 * tasks by node index in SLURM_STEP_NODELIST (launcher/layout.h), or is RC_TASK_HOSTS_LONG. */
#define RC_TASK_HOSTS      "SLURM_ROLLCALL_TASK_HOSTS"
#define RC_TASK_HOSTS_LONG "long"

/* Set by the plugin in a task's srun: the value of SLURM_CPU_BIND if this srun replaces it. */
#define RC_BIND_LEFT "SLURM_ROLLCALL_CPU_BIND"

/* Set by the plugin in srun for the step's tasks: "TOKEN PORT JOB.STEP" of its server on srun's host. */
#define RC_SERVER "SLURM_ROLLCALL_SERVER"

/* Set by the plugin in srun --wait-for-children (26.05): the step would wait for the monitor (spank/ending.c). */
#define RC_NO_MONITOR "SLURM_ROLLCALL_NO_MONITOR"

/* The value of ROLLCALL in srun, for slurmstepd: srun --export=NONE passes only names that begin with SLURM_. */
#define RC_WISH "SLURM_ROLLCALL_WISH"
