/* SPDX-License-Identifier: BSD-3-Clause */
/* world.h - whether a process may join an NCCL communicator of all processes with the rank that it passes.
 *
 * NCCL itself notices a rank that is there twice, or a size that differs, in the
 * process that made the id, which then stops listening: the others wait for ever.
 * So before NCCL is called, each process puts a record of itself into the store of its
 * step's server, under the id and its rank. It waits until all have done so (the last
 * one says so), or until one has found an error. An error ends the call in all of
 * them, and one of them prints the line.
 *
 *   guard/ID/size   "4 3 RECORD" of the first process that joins, as rank 3 of 4 (record: member.h)
 *   guard/ID/r3     record of the process that joins as rank 3
 *   guard/ID/n      counter of those
 *   guard/ID/done   "ok" if all have joined; "no" if one has found an error;
 *                   "some" if one uses the id for a communicator of some processes
 *   guard/ID/said   counter of those that found an error
 *   guard/ID/gpu-U  record of the process on that GPU
 *   guard/ID/gpus   counter of those that found another process on their GPU
 */
#ifndef ROLLCALL_SHIM_NCCL_WORLD_H
#define ROLLCALL_SHIM_NCCL_WORLD_H

#include <stdbool.h>

#include "nccl.h"

/* Takes the arguments of ncclCommInitRank and its relatives; `ids` has `count` ids, and
 * config may be NULL. False where the call must not go on: this process or another one
 * has printed why. True where the check itself fails. Thread safe. */
bool guard_admits(const nccl_id *ids, int count, int nranks, int rank, const struct nccl_config *config);

/* Remembers that this process has made an id. */
void guard_made(const nccl_id *id);

/* Returns how often guard_admits was called. */
unsigned guard_calls(void);

/* Says once, if notes are asked for, why nothing is checked. */
void guard_say_inert(const char *why);

#endif
