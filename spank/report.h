/* SPDX-License-Identifier: BSD-3-Clause */
/* report.h - which of a task's messages the user reads, and from which task: columns of messages.def. */
#ifndef ROLLCALL_SPANK_REPORT_H
#define ROLLCALL_SPANK_REPORT_H

#include <stdint.h>
#include <sys/types.h>

#include <slurm/spank.h>

#include "resolve/resolve.h"

/* Prints the first error: once a step if it is the same on all nodes, else once a node.
 * False if another task prints it. */
bool rc_spank_report_error(spank_t spank, const struct rc_messages *messages);

/* Prints warnings, if this is the task of RANK 0. With ROLLCALL_DEBUG also notes, the
 * mode and the master's address. */
void rc_spank_report_warnings(const struct rc_result *result);

#endif
