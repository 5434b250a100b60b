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

/* Returns why tasks whose GPUs are not known are not to be bound, or NULL. Their cores
 * might be near another task's GPU. */
const char *rc_binding_doubt(const struct rc_result *result);

/* Returns what is wrong where Open MPI's daemon, and so each of its tasks, has fewer of
 * this node's cores than the job has; else NULL. Only for one task of a job: the first
 * one on the first node with a daemon of its own. The text is in the arena. */
const char *rc_binding_starved(const struct rc_result *result, struct rc_arena *arena);

/* The GPU of each local rank, as a list: every `each`-th entry of `list`. In the arena. */
const char *rc_binding_gpus(struct rc_str list, uint32_t each, struct rc_arena *arena);

/* Asks the rollcall-map at `path`; *pins stands in the answer, RC_BINDING_ANSWER
 * bytes. gpus may be NULL. NULL, or why there is none: static, or in the arena. */
const char *rc_binding_ask(const char *path, const struct rc_binding *binding, uint32_t tasks, const char *gpus,
                           char *answer, struct rc_pins *pins, struct rc_arena *arena);

/* Returns why these pins are not to be used, or NULL. */
const char *rc_binding_reject(const struct rc_binding *binding, const struct rc_pins *pins);

/* Binds the calling thread. False where the kernel would not set exactly the pin's
 * threads; the mask then stays as it was. */
bool rc_binding_bind(const struct rc_binding *binding, const struct rc_pin *pin);

/* Whether rollcall-map is asked although no task is bound: for the cards of nic=auto.
 * *tasks is then a number that it can be asked about. */
bool rc_binding_asks_for_cards(const struct rc_options *options, uint32_t *tasks);

/* Brings the pins into the plan and adds RC913. Worker mode: context->pin. Launcher
 * mode: the cores of all workers, and the library that binds them, at `relative` from
 * the folder of this code. If `why` says why no task is bound, only the cards of
 * nic=auto. */
void rc_binding_plan(const struct rc_binding *binding, const struct rc_pins *pins, const char *why,
                     const char *relative, struct rc_context *context, struct rc_result *result);

/* Adds RC911, or RC912 where the user asked for binding by name. */
void rc_binding_excuse(enum rc_bind wish, const char *why, struct rc_messages *messages);
