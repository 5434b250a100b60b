/* SPDX-License-Identifier: BSD-3-Clause */
/* env.h - an index of an environment block, and the names of rollcall's own variables. */
#pragma once

#include "base/text.h"

/* An environment block that can be asked for names quickly.
 *
 * The launcher families ask for many names, and every task's first process waits for the answers: a scan for each
 * name would take several times as long. Beyond RC_ENV_INDEXED variables the answers are the same, from a scan. */

enum { RC_ENV_INDEXED = 512, RC_ENV_BUCKETS = 512 };

struct rc_env {
    const char *const *block; /* NULL-terminated "NAME=VALUE" strings, borrowed */
    unsigned count;           /* number of these strings */
    bool indexed;
    /* Places in the block: 1 for its first entry, 0 for none. A bucket has the last place of its names, and each
     * place has the one before it in the same bucket. */
    uint16_t bucket[RC_ENV_BUCKETS];
    uint16_t before[1 + RC_ENV_INDEXED];
};

/* block may be NULL (a program can have none). Entries without '=' are passed
 * over. Of a name that comes twice the first counts, as in getenv. */
void rc_env_index(struct rc_env *env, const char *const *block);

/* Two characters and the length tell launchers' variables apart as well as a hash of the whole name, which takes
 * several times as long. */
static inline unsigned rc_env_bucket(struct rc_str name)
{
    const unsigned char *c = (const unsigned char *)name.p;

    return name.n ? ((unsigned)name.n * 64 + c[name.n * 3 / 4] * 8u + c[name.n - 1]) % RC_ENV_BUCKETS : 0;
}

/* The value of a variable, or an absent slice. */
struct rc_str rc_env_find(const struct rc_env *env, struct rc_str name);

/* Whether the variable is there. If it is not, this is mostly one comparison: the compiler knows a literal's bucket. */
static inline bool rc_env_has(const struct rc_env *env, struct rc_str name)
{
    return (!env->indexed || env->bucket[rc_env_bucket(name)]) && rc_env_find(env, name).p;
}

/* The value of the first variable, or of the second where the first is absent or empty. */
struct rc_str rc_env_either(const struct rc_env *env, struct rc_str first, struct rc_str second);

/* Returns 1 + the place of the last entry with this name among the first `below` entries of the block, or 0 where none
 * has it. A caller that begins with env->count and goes on below each find sees all of them. */
unsigned rc_env_place(const struct rc_env *env, struct rc_str name, unsigned below);

/* For names that are literals. */
#define rc_env_get(env, literal) rc_env_find((env), RC_STR("" literal))

/* How much rollcall says of its work: a number, which the user sets. */
#define RC_DEBUG "ROLLCALL_DEBUG"

/* The stamp of a task that rollcall has set up; launcher/stamp.h writes it and takes it apart. */
#define RC_STAMP "ROLLCALL_SCOPE"

/* A sum over the launchers' variables and rollcall's, with which the preload library left a task's environment: if
 * it is the same, nothing is to be done (shim/settled.c). */
#define RC_SETTLED "ROLLCALL_SETTLED"

/* The job name that launcher mode hid. */
#define RC_KEPT_NAME "ROLLCALL_SLURM_JOB_NAME"

/* Where a task's node is in the order of the network, and Slurm's own numbers of
 * both; launcher/stamp.h writes it and takes it apart. */
#define RC_ORDERED "ROLLCALL_ORDER"

/* The variables that rollcall has set in this task, each with a digest of its value: "RANK=1234 WORLD_SIZE=77". A value
 * with another digest was set by somebody else since. resolve/plan.c writes and reads it. */
#define RC_OWN "ROLLCALL_OWN"

/* What the watch compares with. In worker mode "rank=3 size=4 node=1 nodes=2 master=n1:23456", and " other=1" if
 * another numbering of the same tasks has another rank for this one; in launcher mode "node=1 nodes=2". In a step with
 * a server of srun " task=3 tasks=4" follows, Slurm's number, and with watch=SECONDS " arrivals=1". In a script that
 * may have forgotten srun "script=JOB tasks=4", and " exec=1" if rollcall exec set it. */
#define RC_IDENTITY "ROLLCALL_IDENTITY"

/* The hardware threads of each worker that a launcher starts, by local rank: "0-7,64-71 8-15,72-79". */
#define RC_PINS "ROLLCALL_PINS"

/* Set in a worker that was bound: its LOCAL_RANK. The processes that it starts
 * (data loaders) keep the mask that they are started with. */
#define RC_PINNED "ROLLCALL_PINNED"

/* Set where an error was said: its id and a digest of its text, so that not every
 * program that the task's script starts says it again. */
#define RC_REPORTED "ROLLCALL_REPORTED"

/* Set by the plugin in srun where node order does not tell which task is where: "JOB.STEP MAP".
 * The map has runs of tasks, by the places of their nodes in SLURM_STEP_NODELIST
 * (launcher/layout.h); or this word, where they are too many for a variable. */
#define RC_TASK_HOSTS      "SLURM_ROLLCALL_TASK_HOSTS"
#define RC_TASK_HOSTS_LONG "long"

/* Set by the plugin in an srun that was started from a task: what SLURM_CPU_BIND becomes if this srun takes it over. */
#define RC_BIND_LEFT "SLURM_ROLLCALL_CPU_BIND"

/* Set by the plugin in srun, for the step's tasks: "TOKEN PORT JOB.STEP" of its server. The host is where srun runs,
 * which Slurm itself tells them. Names that begin with SLURM_ pass through --export=NONE. */
#define RC_SERVER "SLURM_ROLLCALL_SERVER"

/* Set by the plugin in srun --wait-for-children (26.05): the step lasts until its container is empty, and the monitor
 * (spank/ending.c) would be waited for. */
#define RC_NO_MONITOR "SLURM_ROLLCALL_NO_MONITOR"

/* The value of ROLLCALL in srun, for slurmstepd: srun --export=NONE hands on only names that begin with SLURM_. */
#define RC_WISH "SLURM_ROLLCALL_WISH"
