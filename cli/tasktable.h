/* SPDX-License-Identifier: BSD-3-Clause */
/* tasktable.h - the lines of several tasks (taskline.h) as one table. */
#ifndef ROLLCALL_CLI_TASKTABLE_H
#define ROLLCALL_CLI_TASKTABLE_H

#include "resolve/resolve.h"

/* Prints the tasks of `text`, which is changed, in order, with a head for the launch that `result` is a task of: how
 * many there are, and what is missing. 0, or -1 without memory. */
int cli_tasktable_print(const struct rc_result *result, char *text);

/* Prints one task's line by itself, as a sentence that begins with its rank, so that lines of several tasks can be told
 * apart. 0, or -1 without memory. */
int cli_tasktable_print_alone(const struct rc_result *result, char *text);

#endif
