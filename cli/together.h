/* SPDX-License-Identifier: BSD-3-Clause */
/* together.h - the tasks of a launch, each of which runs the same command, have one of them print for all.
 *
 * The tasks of a node bring their texts to its first one (lib/rendezvous/gather.h), the nodes' first ones theirs to
 * that of node 0, through the launch's store (discovery.h): srun's, or with srun --mpi=pmix one that the PMIx server
 * leads to. No other launcher lets some tasks ask its PMIx server while others do not; there each node prints its own.
 * Who finds nobody to print for it does so itself: a task that runs alone waits for some seconds, no longer.
 */
#ifndef ROLLCALL_CLI_TOGETHER_H
#define ROLLCALL_CLI_TOGETHER_H

#include "resolve/resolve.h"

enum cli_part {
    CLI_PART_ALONE,  /* print for this task */
    CLI_PART_SPEAKS, /* print for all tasks that have come */
    CLI_PART_SILENT, /* another task prints for this one */
};

/* Whether this process is one of several tasks that may meet so. */
bool cli_together_is_possible(const struct rc_result *result);

/* Brings this task's text to the one that prints. `own` is of less than RC_GATHER_SAID_MAX bytes. Returns this task's
 * part; where it SPEAKS, *all is the texts of those who have come, its own first, to be freed. */
enum cli_part cli_together(const struct rc_result *result, const char *own, char **all);

#endif
