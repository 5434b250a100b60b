/* SPDX-License-Identifier: BSD-3-Clause */
/* htmltimes.h - the start-up of a step on the page: a bar for each node, the slowest first. */
#ifndef ROLLCALL_CLI_HTMLTIMES_H
#define ROLLCALL_CLI_HTMLTIMES_H

#include "times.h"

/* Prints a section, none where no task has told anything. False without memory. */
bool cli_html_times(const struct cli_times *times);

#endif
