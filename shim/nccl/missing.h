/* SPDX-License-Identifier: BSD-3-Clause */
/* missing.h - who has not come to a communicator of all processes.
 *
 * A process that has waited for half of its time leaves a note of that which does
 * not depend on the id, so that who misses its rank finds it with another one:
 *
 *   guard/late/r3     counter of guard/late/r3/0, 1, ...: "ID made TIME RECORD" or "ID got ..."
 */
#ifndef ROLLCALL_SHIM_NCCL_MISSING_H
#define ROLLCALL_SHIM_NCCL_MISSING_H

#include "talk.h"

/* Waits until "done" stands at the server, as guard_get does, for the member's deadline. */
int guard_await(struct guard_talk *talk, char *done, size_t room, size_t *size);

/* Who has not come by then: one line, if this is the lowest of the ranks that wait. */
void guard_say_missing(struct guard_talk *talk);

#endif
