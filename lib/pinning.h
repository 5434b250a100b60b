/* pinning.h - what a placement does to the environment of a task.
 *
 * Binding itself is a system call of the caller's. Here are the variables that go
 * with it: threads for the cores of a worker, and for a launcher (torchrun,
 * Lightning) the cores of each worker that it is going to start, which the preload
 * library binds when LOCAL_RANK is known (shim/pin.h).
 */
#ifndef ROLLCALL_PINNING_H
#define ROLLCALL_PINNING_H

#include "resolve.h"

/* The hardware threads of each worker that a launcher starts, by local rank:
 * "0-7,64-71 8-15,72-79". */
#define RC_PINS "ROLLCALL_PINS"

/* Set by the preload in a worker that it has bound: its LOCAL_RANK. What that
 * one starts (data loaders) keeps the mask that it is started with. */
#define RC_PINNED "ROLLCALL_PINNED"

/* Whether a placement is asked about at all: for what is bound, or for the cards of nic=auto alone. */
bool rc_pins_wanted(const struct rc_options *options);

/* Adds to the plan of worker or launcher mode what context->pins say; takes an
 * outer launch's away. */
void rc_pinning_plan(const struct rc_context *context, struct rc_result *result);

#endif
