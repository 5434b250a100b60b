/* SPDX-License-Identifier: BSD-3-Clause */
/* binding.h - binds the tasks of a node to cores. For plugin and command.
 *
 * rollcall-map, a separate process, reads the machine (libexec/map/pins.c). Returned texts are static or in the
 * arena. */
#pragma once

#include "base/cpuset.h"
#include "base/env.h"
#include "base/message.h"
#include "resolve/options.h"
#include "resolve/pins.h"
#include "resolve/resolve.h"
#include "system/node.h"

enum { RC_BINDING_ANSWER = 65536 };

struct rc_binding {
    enum rc_bind wish;
    bool cards;              /* nic=auto: query network cards */
    struct rc_cpuset mask;   /* current */
    struct rc_cpuset widest; /* allowed by the cgroup */
    uint32_t given;          /* hardware threads of the step here, by Slurm, or RC_UNKNOWN */
    uint32_t online;         /* of the machine, or RC_UNKNOWN */
};

/* Set *binding. Return false if the kernel does not return the masks. */
bool rc_binding_learn(const struct rc_options *options, const struct rc_env *env, struct rc_binding *binding);

/* Return why `tasks` tasks must stay unbound, or NULL. Does not start rollcall-map. */
const char *rc_binding_refuse(const struct rc_binding *binding, uint32_t tasks);

/* Return what is wrong if Open MPI's daemon has fewer cores of this node than the job; else NULL. Only for the first
 * task on the first node with its daemon. */
const char *rc_binding_starved(const struct rc_result *result, struct rc_arena *arena);

/* How a task of a Slurm step was bound to CPUs. */
struct rc_bound {
    enum rc_bound_by {
        RC_BOUND_UNKNOWN,     /* a task of rollcall exec */
        RC_BOUND_BY_SLURM,    /* default, or unbound */
        RC_BOUND_BY_USER,     /* --cpu-bind, or SLURM_CPU_BIND of the user */
        RC_BOUND_BY_LEFTOVER, /* SLURM_CPU_BIND from the task that started this srun */
    } by;
    uint32_t each; /* BY_SLURM: srun's -c */
};

/* Return the CPUs that the job promised a Slurm task, or 0. */
uint32_t rc_binding_promised(const struct rc_result *result);

/* Return what is wrong if a Slurm task that rollcall did not bind has fewer CPUs than promised and than its cgroup
 * allows, and the cause is known; else NULL. */
const char *rc_binding_short(const struct rc_result *result, const struct rc_bound *bound, struct rc_arena *arena);

/* Return what is wrong if a launcher's workers share fewer CPUs than the node has, or mpirun bound each process to one
 * core; else NULL. */
const char *rc_binding_crowded(const struct rc_context *context, const struct rc_result *result,
                               struct rc_arena *arena);

/* Return each local rank's GPU as a list: every `each`-th entry of `list`. */
const char *rc_binding_gpus(struct rc_str list, uint32_t each, struct rc_arena *arena);

/* Query rollcall-map at `path`; *pins are slices of the answer, RC_BINDING_ANSWER bytes. Return NULL, or why it failed.
 * Set *broken if it is installed but fails. */
const char *rc_binding_ask(const char *path, const struct rc_binding *binding, uint32_t tasks, const char *gpus,
                           char *answer, struct rc_pins *pins, bool *broken, struct rc_arena *arena);

/* Return this node's name for a message if `broken`; else NULL. */
const char *rc_binding_broken_on(bool broken, const struct rc_result *result, char name[RC_NODE_NAME_SIZE]);

/* Return why rollcall-map at `path` fails, if this node's tasks should be bound; else NULL. */
const char *rc_binding_try(const char *path, const struct rc_context *context, const struct rc_result *result,
                           struct rc_arena *arena);

/* Return why these pins are unusable, or NULL. */
const char *rc_binding_reject(const struct rc_binding *binding, const struct rc_pins *pins);

/* Bind the calling thread. Return false, with the mask unchanged, if the kernel does not set it exactly. */
bool rc_binding_bind(const struct rc_binding *binding, const struct rc_pin *pin);

struct rc_binder {
    uint32_t tasks; /* or workers, here */
    uint32_t local;
    uint32_t gpu;         /* index of its GPU in `gpus`, or RC_UNKNOWN */
    const char *gpus;     /* the same in all tasks, or NULL */
    const char *relative; /* to the folder of the library that binds workers */
    struct rc_arena *arena;
    bool *broken; /* set if rollcall-map fails */
    /* As rc_binding_ask(). */
    const char *(*ask)(const struct rc_binder *binder, const struct rc_binding *binding, struct rc_pins *pins);
    /* Return this task's pin; RC_UNKNOWN: none left. NULL: by `local`. */
    uint32_t (*take)(const struct rc_binder *binder, const struct rc_pins *pins);
};

/* Return true if the task may be bound, or have cards. */
bool rc_binding_is_wanted(const struct rc_context *context, const struct rc_result *result);

/* Bind this task, or plan its workers' cores, and plan the cards of nic=auto. Plan last: pins do not outlive this call.
 * Return NULL, or why the task is unbound. */
const char *rc_binding_run(const struct rc_binder *binder, struct rc_context *context, struct rc_result *result);
