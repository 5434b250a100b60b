/* SPDX-License-Identifier: BSD-3-Clause */
/* recording.h - what a recorded environment tells of the node that it comes from.
 *
 * Beside its variables a recording has lines (or, in a block, entries) of these kinds:
 *   @ancestor=COMMAND WORDS   a process that the task descends from, its parent first
 *   @host=NAME                the node's own name
 *   @host-file=LINE           a line of the launcher's file of hosts
 *   @gpus=N                   the GPUs that the task could find
 *   @watch=FOLDER             the folder of the watch (watch.h)
 *   @lookup=FILE              the library of lookup=numeric (reverse.h)
 *   @pmix=NAME=VALUE          a line of what its PMIx server says (families.h)
 * so that one that was taken on a cluster is answered like the task itself.
 */
#ifndef ROLLCALL_CONSOLE_RECORDING_H
#define ROLLCALL_CONSOLE_RECORDING_H

#include "launcher/launcher.h"

/* Reads such entries of a block of `size` bytes into *here. A fact without an entry
 * counts as looked for and not found. *here points into *storage, which the caller
 * frees. 0, or -1 without memory. */
int recording_read(const char *const *block, size_t size, struct rc_here *here, char **storage);

#endif
