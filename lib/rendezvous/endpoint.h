/* SPDX-License-Identifier: BSD-3-Clause */
/* endpoint.h - where a rendezvous server listens, and the token that it wants to see. */
#ifndef ROLLCALL_RENDEZVOUS_ENDPOINT_H
#define ROLLCALL_RENDEZVOUS_ENDPOINT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/env.h"
#include "base/text.h"
#include "base/variables.h"

struct rc_endpoint {
    struct rc_str token;
    uint16_t port;
    struct rc_str hosts; /* names or addresses of one host, separated by blanks, in the order to try them */
};

/* "TOKEN PORT HOST..."; false, with *endpoint untouched, where it is not that. */
bool rc_endpoint_read(struct rc_str text, struct rc_endpoint *endpoint);

/* The same text, in the arena; see arena->full. */
const char *rc_endpoint_write(const struct rc_endpoint *endpoint, struct rc_arena *arena);

/* srun's rendezvous server, as the environment of a task names it, and the step
 * that it serves, "JOB.STEP". The hosts are text in the arena. False, with nothing
 * written, where the environment names none. */
bool rc_endpoint_of_srun(const struct rc_env *env, struct rc_endpoint *endpoint, struct rc_str *step,
                         struct rc_arena *arena);

/* Whether the process with this environment belongs to that step, "JOB.STEP". A step inside a task of another one has
 * that one's server in its environment, too. */
bool rc_endpoint_is_own_step(const struct rc_env *env, struct rc_str step);

#endif
