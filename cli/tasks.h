/* SPDX-License-Identifier: BSD-3-Clause */
/* tasks.h - a line for each task, and one task that prints for all. */
#pragma once

#include "rendezvous/local.h"
#include "resolve/resolve.h"

/* What a task says of itself in one line of `rollcall show`, as text that another task can print.
 *
 *   task RANK\tCELL\tCELL...\n      its number for sorting, then a cell for each column
 *   note LEVEL ID\tTEXT\n           each of its warnings and errors
 *
 * Values are escaped: a cell has neither tabs nor newlines. */

enum cli_column {
    CLI_COLUMN_RANK, /* in launcher mode, where tasks have none, the node rank */
    CLI_COLUMN_NODE,
    CLI_COLUMN_LOCAL_RANK,
    CLI_COLUMN_GPU,   /* the task's own; in launcher mode those of its workers */
    CLI_COLUMN_CORES, /* hardware threads that it may run on now */
    CLI_COLUMN_MASTER,
    CLI_COLUMN_VERDICT, /* "ok", or the ids of what is wrong */
    CLI_COLUMN_COUNT
};

enum { CLI_TASKLINE_SIZE = RC_GATHER_SAID_MAX };

/* Writes this process's text, with a NUL after it. Notes that do not fit are left out. False where the line itself
 * does not fit, or without memory. */
bool cli_taskline_write(const struct rc_result *result, char text[CLI_TASKLINE_SIZE]);

/* Prints the tasks of `text`, which is changed, in order, with a head for the launch that `result` is a task of: how
 * many there are, and what is missing. 0, or -1 without memory. */
int cli_tasktable_print(const struct rc_result *result, char *text);

/* Prints one task's line by itself, as a sentence that begins with its rank, so that lines of several tasks can be told
 * apart. 0, or -1 without memory. */
int cli_tasktable_print_alone(const struct rc_result *result, char *text);

/* The tasks of a launch, each of which runs the same command, have one of them print for all.
 *
 * The tasks of a node bring their texts to its first one (lib/rendezvous/local.h), the nodes' first ones theirs to
 * that of node 0, through the launch's store (discovery.h): srun's, or with srun --mpi=pmix one that the PMIx server
 * leads to. No other launcher lets some tasks ask its PMIx server while others do not; there each node prints its own.
 * Who finds nobody to print for it does so itself: a task that runs alone waits for some seconds, no longer. */

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
