/* SPDX-License-Identifier: BSD-3-Clause */
/* arguments.h - what torchrun and accelerate were given, beside what rollcall tells them.
 *
 * An argument wins over the PET_* of the environment (torch's argparse_util.py), and
 * accelerate builds torchrun's arguments from its own (utils/launch.py). So what the
 * user names decides what rollcall may add.
 */
#ifndef ROLLCALL_RESOLVE_ARGUMENTS_H
#define ROLLCALL_RESOLVE_ARGUMENTS_H

#include "resolve/result.h"

struct rc_arguments {
    bool alone;           /* each node trains by itself: --standalone, or --nnodes=1 in a step of several */
    bool has_no_rank;     /* the backend numbers the nodes itself, and warns of a node rank (torch 2.7 and later) */
    bool meets_elsewhere; /* the endpoint or the backend is one of the user's: who hosts it is not for us to say */
    bool is_part;         /* of a launch of several steps, which share no run id of this step's */
    uint32_t least;       /* nodes, by --nnodes or --num_machines; RC_UNKNOWN: not given, or no number yet */
    uint32_t most;
};

/* Reads result->command and result->env; result->master is known. */
void rc_arguments_read(struct rc_result *result, struct rc_arguments *arguments);

/* Adds RC304 or RC305 where the arguments contradict the step. */
void rc_arguments_check(struct rc_result *result, const struct rc_arguments *arguments);

#endif
