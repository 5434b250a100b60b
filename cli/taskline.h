/* SPDX-License-Identifier: BSD-3-Clause */
/* taskline.h - what a task says of itself in one line of `rollcall show`, as text that another task can print.
 *
 *   task RANK\tCELL\tCELL...\n      its number for sorting, then a cell for each column
 *   note LEVEL ID\tTEXT\n           each of its warnings and errors
 *
 * Values are escaped: a cell has neither tabs nor newlines.
 */
#ifndef ROLLCALL_CLI_TASKLINE_H
#define ROLLCALL_CLI_TASKLINE_H

#include "rendezvous/gather.h"
#include "resolve/resolve.h"

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

const char *cli_column_title(enum cli_column column);

enum { CLI_TASKLINE_SIZE = RC_GATHER_SAID_MAX };

/* Writes this process's text, with a NUL behind it. Notes that do not fit are left out. False where the line itself
 * does not fit, or without memory. */
bool cli_taskline_write(const struct rc_result *result, char text[CLI_TASKLINE_SIZE]);

#endif
