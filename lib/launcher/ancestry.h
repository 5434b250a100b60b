/* SPDX-License-Identifier: BSD-3-Clause */
/* ancestry.h - the program behind a command line as /proc/PID/cmdline shows it.
 *
 * Two launchers leave the same variables whichever of them is inside the other.
 * The processes that a task descends from tell which is. They run already: a
 * command that a wrapper or a shell is yet to run does not count here, as it does
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

/* Whether the name is one of a list, parted by blanks. */
bool rc_ancestor_is_one_of(struct rc_str name, const char *names);

/* Whether it is the slurmstepd of a batch script, an extern or an interactive
 * step, which are no tasks: "slurmstepd: [42.batch]". */
bool rc_ancestor_is_batch(struct rc_str cmdline);

/* The word behind an option ("--proxy-id"), absent where there is none. */
struct rc_str rc_ancestor_option(struct rc_str cmdline, const char *option);

#endif
