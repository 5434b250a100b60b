/* SPDX-License-Identifier: BSD-3-Clause */
/* pins.h - where the tasks of a node go, as text: what rollcall-map answers and a task carries.
 *
 * One line for the node and one for each local rank, in their order:
 *
 *   node fabric=mlx5_0,mlx5_1 network=ib0,ib1
 *   pin cpus=0-7,64-71 cores=8 gpu=0 fabric=mlx5_0 network=ib0
 *   pin cpus=8-15,72-79 cores=8 gpu=1 fabric=mlx5_1 network=ib1
 *
 * A key that there is nothing to say for is left out; one that is not known is
 * skipped. gpu= counts in the list of GPUs that was asked about. */
#pragma once

#include "base/pairs.h"
#include "resolve/model.h"

enum { RC_PINS_TASKS_MAX = 4096 }; /* a node has no more, and an answer has no room for more */

enum rc_pins_bind { RC_PINS_CORES = 1, RC_PINS_NUMA };

/* The question, a line for each key:
 *
 *   tasks=4           of the node
 *   bind=cores        whole cores for each alone (default); numa: all that may be used of
 *                     their NUMA nodes
 *   cards=no          nobody wants to know the network cards, which takes longer to find out
 *   cpus=0-31,64-95   the hardware threads that may be used; without: rollcall-map's own
 *   gpus=0,1,2,3      of local rank 0, 1, ..., over again where there are more tasks: indices
 *                     by PCI bus id, bus ids or UUIDs; one that is none of these is no GPU;
 *                     or all: those of the vendor whose runtime a job uses */
struct rc_pins_question {
    uint32_t tasks;
    enum rc_pins_bind bind;
    bool no_cards;
    struct rc_str cpus;
    struct rc_str gpus;
};

extern const struct rc_form rc_pins_question_form;

/* Reads an answer of rollcall-map. False, with *pins untouched, where the text is no such answer. */
bool rc_pins_read(struct rc_str answer, struct rc_pins *pins);

/* Finds the pin of a local rank. False where it has none. */
bool rc_pins_at(const struct rc_pins *pins, uint32_t local_rank, struct rc_pin *pin);

/* What a placement does to the environment of a task.
 *
 * Binding a task is a system call of the caller's. Here are the variables that go with it: threads for the cores of a
 * worker, and for a launcher (torchrun, Lightning) the cores of each worker that it is going to start, which a library
 * in LD_PRELOAD binds when LOCAL_RANK is known (shim/shim.h). */

/* The library that binds workers by RC_PINS; it goes into LD_PRELOAD. The preload library
 * could bind them too, but would also give ranks to tasks of an mpirun inside the task. */
#define RC_PINS_LIBRARY "librollcall-pins.so"

/* Add that the tasks, or the workers that they start, are not bound: RC917 if rollcall-map fails on the node `broken`,
 * RC912 if the user asked for it by name, else RC911. */
void rc_pins_excuse(const struct rc_options *options, const char *broken, bool are_workers, const char *why,
                    struct rc_messages *messages);

/* Return how many workers this task's command is going to start here. Each needs a pin. 0: unknown. */
uint32_t rc_pinning_workers(const struct rc_context *context, const struct rc_result *result);
