/* SPDX-License-Identifier: BSD-3-Clause */
/* ancestry.h - the program behind a command line as /proc/PID/cmdline shows it.
 *
 * Two launchers leave equal variables whichever of them is inside the other:
 * the processes that a task descends from tell. They are real ones, so the
 * command that a wrapper or a shell is going to run does not count here, unlike
 * in command.h.
 */
#ifndef ROLLCALL_LAUNCHER_ANCESTRY_H
#define ROLLCALL_LAUNCHER_ANCESTRY_H

#include "base/text.h"

/* The words of cmdline end with a NUL each; a process that has written its own
 * title may have one word with blanks. Base name of the program; of Python, that
 * of its script or the module behind -m: "torchrun". A title is cut at its colon:
 * "slurmstepd" of "slurmstepd: [42.0]". Absent for an empty one (a kernel
 * thread, a zombie). The result is a piece of cmdline. */
struct rc_str rc_ancestor_name(struct rc_str cmdline);

/* Whether one of the names in a list that is parted by blanks. */
bool rc_ancestor_is_one_of(struct rc_str name, const char *names);

/* Slurm's, of a batch script, an extern or an interactive step, which are no
 * tasks: "slurmstepd: [42.batch]". */
bool rc_ancestor_is_batch(struct rc_str cmdline);

/* The word behind an option ("--proxy-id"), absent where there is none. */
struct rc_str rc_ancestor_option(struct rc_str cmdline, const char *option);

#endif
