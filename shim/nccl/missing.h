/* SPDX-License-Identifier: BSD-3-Clause */
/* missing.h - which ranks have not joined a communicator of all processes.
 *
 * A process that has waited for half of its time puts a value under a key that does
 * not depend on the id. So a process that misses this rank finds it with another id:
 *
 *   guard/late/r3     counter of guard/late/r3/0, 1, ...: "ID made TIME RECORD" or "ID got ..."
 */
#ifndef ROLLCALL_SHIM_NCCL_MISSING_H
#define ROLLCALL_SHIM_NCCL_MISSING_H

#include "talk.h"

/* Waits as guard_get does until the store has "done", for the member's deadline. */
int guard_await(struct guard_talk *talk, char *done, size_t room, size_t *size);

/* Names the ranks that have not joined, in one line, if this is the lowest of the ranks that wait. */
void guard_say_missing(struct guard_talk *talk);

#endif
