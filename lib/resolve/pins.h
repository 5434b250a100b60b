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
 * skipped. gpu= counts in the list of GPUs that was asked about.
 */
#ifndef ROLLCALL_RESOLVE_PINS_H
#define ROLLCALL_RESOLVE_PINS_H

#include "base/numbers.h"
#include "base/text.h"

struct rc_pins {
    struct rc_str text; /* the lines of the local ranks; borrowed, and checked */
    uint32_t count;
    uint32_t least_cores; /* the smallest number of cores of a local rank */
    struct rc_str fabric; /* of the node's cards that a job uses; absent without */
    struct rc_str network;
};

struct rc_pin {
    struct rc_str cpus; /* a list as rc_cpuset_read takes it */
    uint32_t cores;
    uint32_t gpu; /* RC_UNKNOWN where it has no GPU */
    struct rc_str fabric;
    struct rc_str network;
    bool shared; /* "shared=yes": other local ranks have these cores, too */
};

/* Reads an answer of rollcall-map. False, with *pins untouched, where the text is no such
 * answer. */
bool rc_pins_read(struct rc_str answer, struct rc_pins *pins);

/* Finds the pin of a local rank. False where it has none. */
bool rc_pins_at(const struct rc_pins *pins, uint32_t local_rank, struct rc_pin *pin);

#endif
