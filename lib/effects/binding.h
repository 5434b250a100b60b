/* SPDX-License-Identifier: BSD-3-Clause */
/* binding.h - whether the tasks of a node get cores of their own, and which: conditions, question, answer.
 *
 * For plugin and command alike. rollcall-map, a process of its own, knows the
 * machine (libexec/map/pins.c); here is nothing of hwloc.
 */
#pragma once

#include "base/cpuset.h"
#include "base/env.h"
#include "base/message.h"
#include "resolve/options.h"
#include "resolve/pins.h"
#include "resolve/resolve.h"
#include "system/node.h"

enum { RC_BINDING_ANSWER = 65536 };

/* What is known of a task before it is bound. */
struct rc_binding {
    enum rc_bind wish;
    bool cards;              /* nic=auto: the network cards are asked for, too */
    struct rc_cpuset mask;   /* where it may run now */
    struct rc_cpuset widest; /* and where its cgroup would let it */
    uint32_t given;          /* hardware threads of this node that Slurm gave the step; RC_UNKNOWN: not said */
    uint32_t online;         /* of the machine; RC_UNKNOWN likewise */
};

/* Fills in *binding. False where the kernel does not tell the masks. */
bool rc_binding_learn(const struct rc_options *options, const struct rc_env *env, struct rc_binding *binding);

/* Returns why `tasks` tasks are not to be bound, or NULL. Does not start rollcall-map. */
const char *rc_binding_refuse(const struct rc_binding *binding, uint32_t tasks);

/* Returns what is wrong where Open MPI's daemon, and so each of its tasks, has fewer of
 * this node's cores than the job has; else NULL. Only for one task of a job: the first
 * one on the first node with a daemon of its own. The text is in the arena. */
const char *rc_binding_starved(const struct rc_result *result, struct rc_arena *arena);

/* Who has bound a task of a Slurm step to CPUs. */
struct rc_bound {
    enum rc_bound_by {
        RC_BOUND_UNKNOWN,     /* not said: a task of rollcall exec */
        RC_BOUND_BY_SLURM,    /* nobody has told srun which CPUs: Slurm by itself, or nobody */
        RC_BOUND_BY_USER,     /* --cpu-bind has, or SLURM_CPU_BIND that a user has set */
        RC_BOUND_BY_LEFTOVER, /* SLURM_CPU_BIND has, as Slurm sets it in the task that this srun was started from */
    } by;
    uint32_t each; /* -c as srun took it; for BY_SLURM */
};

/* The CPUs that its job has promised a task of a Slurm step; 0 where it has promised none. */
uint32_t rc_binding_promised(const struct rc_result *result);

/* Returns what is wrong where a task of a Slurm step, not bound by rollcall, may use fewer CPUs than the job promised
 * it, and its cgroup allows more. NULL where no fact tells why. The text is in the arena. */
const char *rc_binding_short(const struct rc_result *result, const struct rc_bound *bound, struct rc_arena *arena);

/* Return what is wrong if a launcher's workers share fewer CPUs than the node has, or if mpirun bound each process to
 * one core. Else NULL. The text is in the arena. */
const char *rc_binding_crowded(const struct rc_context *context, const struct rc_result *result,
                               struct rc_arena *arena);

/* The GPU of each local rank, as a list: every `each`-th entry of `list`. In the arena. */
const char *rc_binding_gpus(struct rc_str list, uint32_t each, struct rc_arena *arena);

/* Ask the rollcall-map at `path`; *pins is a slice of the answer, RC_BINDING_ANSWER bytes. gpus may be NULL. Return
 * NULL, or why there is no answer: static, or in the arena. Set *broken if the program is there and fails. */
const char *rc_binding_ask(const char *path, const struct rc_binding *binding, uint32_t tasks, const char *gpus,
                           char *answer, struct rc_pins *pins, bool *broken, struct rc_arena *arena);

/* Return the name of this node for a message about a program that fails (`broken`); else NULL. */
const char *rc_binding_broken_on(bool broken, const struct rc_result *result, char name[RC_NODE_NAME_SIZE]);

/* Return why the rollcall-map at `path` fails, if this node's tasks are to be bound and are not; else NULL. The text is
 * static, or in the arena. */
const char *rc_binding_try(const char *path, const struct rc_context *context, const struct rc_result *result,
                           struct rc_arena *arena);

/* Returns why these pins are not to be used, or NULL. */
const char *rc_binding_reject(const struct rc_binding *binding, const struct rc_pins *pins);

/* Binds the calling thread. False where the kernel would not set exactly the pin's
 * threads; the mask then stays as it was. */
bool rc_binding_bind(const struct rc_binding *binding, const struct rc_pin *pin);

/* How a task is bound: what plugin and command do in different ways. */
struct rc_binder {
    uint32_t tasks;       /* tasks, or workers, to place on this node */
    uint32_t local;       /* this one's number among them */
    uint32_t gpu;         /* the place of its own GPU in gpus; RC_UNKNOWN: not known, or it has none */
    const char *gpus;     /* the GPUs that rollcall-map is asked about, the same in all tasks; NULL: none */
    const char *relative; /* from the folder of this code to that of the library that binds workers */
    struct rc_arena *arena;
    bool *broken; /* set by `ask`: true if the reason of rc_binding_run is a rollcall-map that fails */
    /* As rc_binding_ask. */
    const char *(*ask)(const struct rc_binder *binder, const struct rc_binding *binding, struct rc_pins *pins);
    /* Chooses the pin of this task. RC_UNKNOWN: none is left. NULL: the pin of its number. */
    uint32_t (*take)(const struct rc_binder *binder, const struct rc_pins *pins);
};

/* Whether the task is one that may be bound, or have cards. */
bool rc_binding_is_wanted(const struct rc_context *context, const struct rc_result *result);

/* Binds this task, which becomes the command, or plans the cores of the workers that it will start; puts the cards of
 * nic=auto into the plan, also where no task is bound. This is the last plan: the pins go with this call.
 * Returns NULL, or why the task is not bound. */
const char *rc_binding_run(const struct rc_binder *binder, struct rc_context *context, struct rc_result *result);
