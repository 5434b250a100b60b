/* SPDX-License-Identifier: BSD-3-Clause */
/* pins.h - placement of a node's tasks as text, from rollcall-map. One line for the node, then one a local rank:
 *
 *   node fabric=mlx5_0,mlx5_1 network=ib0,ib1
 *   pin cpus=0-7,64-71 cores=8 gpu=0 fabric=mlx5_0 network=ib0
 *   pin cpus=8-15,72-79 cores=8 gpu=1 fabric=mlx5_1 network=ib1
 *
 * Unknown keys are skipped. gpu= is an index into the question's list. */
#pragma once

#include "base/pairs.h"
#include "resolve/model.h"

enum { RC_PINS_TASKS_MAX = 4096 }; /* limit of an answer; no node has more */

enum rc_pins_bind { RC_PINS_CORES = 1, RC_PINS_NUMA };

/* The question, one line a key:
 *
 *   tasks=4           of the node
 *   bind=cores        disjoint whole cores (default); numa: all usable ones of their NUMA nodes
 *   cards=no          skip network cards: faster
 *   cpus=0-31,64-95   usable hardware threads; default: rollcall-map's
 *   gpus=0,1,2,3      of local rank 0, 1, ..., repeated: indices by bus id, bus ids or UUIDs, else none; all: those of
 *                     the first vendor */
struct rc_pins_question {
    uint32_t tasks;
    enum rc_pins_bind bind;
    bool no_cards;
    struct rc_str cpus;
    struct rc_str gpus;
};

extern const struct rc_form rc_pins_question_form;

/* Read rollcall-map's answer. Return false, with *pins unchanged, if it is invalid. */
bool rc_pins_read(struct rc_str answer, struct rc_pins *pins);

/* Find the pin of a local rank. Return false if it has none. */
bool rc_pins_at(const struct rc_pins *pins, uint32_t local_rank, struct rc_pin *pin);

/* Binds a launcher's workers by RC_PINS when LOCAL_RANK is known (shim/shim.h). The preload library would also give
 * ranks to tasks of an inner mpirun. */
#define RC_PINS_LIBRARY "librollcall-pins.so"

/* Report tasks or workers that are not bound: RC917 if rollcall-map fails on the node `broken`, RC912 if the user
 * requested binding, else RC911. */
void rc_pins_excuse(const struct rc_options *options, const char *broken, bool are_workers, const char *why,
                    struct rc_messages *messages);

/* Return how many workers this task's command will start; 0: unknown. */
uint32_t rc_pinning_workers(const struct rc_context *context, const struct rc_result *result);
