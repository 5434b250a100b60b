/* SPDX-License-Identifier: BSD-3-Clause */
/* endpoint.h - where the server of a launch is, and the token by which it knows its own. */
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
    struct rc_str hosts; /* names or addresses of one host, parted by blanks, in the order in which to try them */
};

/* "TOKEN PORT HOST..."; false, with *endpoint untouched, where it is not that. */
bool rc_endpoint_read(struct rc_str text, struct rc_endpoint *endpoint);

/* The server beside srun that the environment of a task names, and the step that
 * it is of, "JOB.STEP". The hosts are text in the arena. False, with nothing
 * written, where there is none. */
bool rc_endpoint_of_srun(const struct rc_env *env, struct rc_endpoint *endpoint, struct rc_str *step,
                         struct rc_arena *arena);

#endif
