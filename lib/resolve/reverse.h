/* SPDX-License-Identifier: BSD-3-Clause */
/* reverse.h - lookup=numeric: torch's stores do not look up names.
 *
 * A store's server, in RANK 0's process or in the launcher's on that node (torchrun), looks up each client, one after
 * the other. Each client looks up the server, and with a name server that never answers waits 10 s. So all tasks get
 * a library in LD_PRELOAD (shim/lookup.c), which answers torch's calls of getnameinfo with the address. This file
 * plans that LD_PRELOAD.
 */
#ifndef ROLLCALL_RESOLVE_REVERSE_H
#define ROLLCALL_RESOLVE_REVERSE_H

#include "resolve/result.h"

#define RC_REVERSE_LIBRARY "librollcall-lookup.so"

/* Adds to the plan of worker or launcher mode what lookup=numeric needs. Asks for RC_LEARN_REVERSE.
 * What keeps the library away is a warning, no more. */
void rc_reverse_plan(const struct rc_context *context, struct rc_result *result);

#endif
