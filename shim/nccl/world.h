/* SPDX-License-Identifier: BSD-3-Clause */
/* world.h - whether a process may join an NCCL communicator of all processes as the rank that it says.
 *
 * NCCL itself notices a rank that is there twice, or a size that differs, in the
 * process that made the id, which then stops listening: the others wait for ever.
 * So before NCCL is called, each process puts a note of itself at the server of its
 * step, under the id and its rank, and waits until all have (the last says so), or
 * until somebody has found what cannot be. What is found ends the call in all of
 * them, with one line from one of them.
 *
 *   guard/ID/size   "4 3 RECORD" of the first that joins: as rank 3 of 4 (record: member.h)
 *   guard/ID/r3     record of the process that joins as rank 3
 *   guard/ID/n      counter of those
 *   guard/ID/done   "ok" where all have come; "no" where somebody has found something;
 *                   "some" where one has come for whom these are not all
 *   guard/ID/said   counter of those that found something
 *   guard/ID/gpu-U  record of the process on that GPU
 *   guard/ID/gpus   counter of those that found one there before them
 */
#ifndef ROLLCALL_SHIM_NCCL_WORLD_H
#define ROLLCALL_SHIM_NCCL_WORLD_H

#include <stdbool.h>

#include "nccl.h"

/* What is passed to ncclCommInitRank and its relatives; ids holds `count`, config
 * may be NULL. False where the call must not go on: a line was printed by this
 * process or by another one. Any trouble of its own makes it true. Thread safe. */
bool guard_admits(const nccl_id *ids, int count, int nranks, int rank, const struct nccl_config *config);

/* This process has made an id itself. */
void guard_made(const nccl_id *id);

/* How often guard_admits was called. */
unsigned guard_calls(void);

/* Says once, where notes are asked for, why nobody is checked. */
void guard_say_inert(const char *why);

#endif
