/* SPDX-License-Identifier: BSD-3-Clause */
/* step.h - what holds for the step, and the mode of the node. */
#pragma once

#include <slurm/spank.h>
#include <stdint.h>
#include <sys/types.h>

#include "effects/lookup.h"
#include "resolve/resolve.h"

/* What holds for all tasks of the step on this node.
 *
 * user_init, where slurmstepd can have root back, only keeps copies; each task reads them, and comes to the same
 * result. */

struct rc_spank_step {
    bool active;     /* rollcall was asked for, and this is a step of tasks */
    bool understood; /* false: what the user asked for cannot be read */
    bool first_node; /* of the step; of its first component if it has several */
    struct rc_options options;
    struct rc_messages wrong;        /* of options that cannot be read */
    enum rc_mode mode;               /* decided for the node, or RC_MODE_AUTO: each task decides */
    char reason[128];                /* of that decision */
    const struct rc_step_gpus *gpus; /* of the step on this node; NULL where user_init did not see them */
    uint16_t local_port_first;
    uint16_t local_port_last;
};

/* In user_init, once a node: keeps what a task cannot see, and the memory that tasks share. Parses nothing of the
 * user's, never fails. */
void rc_spank_step_prepare(spank_t spank);

/* In task_init, once a task: builds the node's plan. Where user_init did not run, the tasks share no
 * memory, so what one task would keep for all is each one's own. */
void rc_spank_step_begin(spank_t spank);

/* What step_begin found. */
const struct rc_spank_step *rc_spank_step(void);

/* True for the first task of this node that calls it, false for all others. */
bool rc_spank_step_speaks(spank_t spank);

/* What rc_lookup_ask says for result->master: asked by the first task of this
 * node, which the others wait for, because it may ask the site's DNS. Until the next call. */
const struct rc_lookup *rc_spank_step_lookup(const struct rc_result *result);

/* Whether all addresses that MASTER_ADDR resolves to are surely other nodes', by the same look-up. */
bool rc_spank_step_is_elsewhere(const struct rc_result *result);

/* Scratch for one resolution at a time; 45 KiB are too much for a stack. */
struct rc_result *rc_spank_result(void);
