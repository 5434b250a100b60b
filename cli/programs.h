/* SPDX-License-Identifier: BSD-3-Clause */
/* programs.h - programs on PATH and rollcall's own; what rollcall-pmix answers. */
#pragma once

#include <limits.h>
#include <stdbool.h>

#include "base/text.h"

/* Writes the first executable file of that name on PATH. False where there is none. */
bool cli_find_program(const char *name, char path[PATH_MAX]);

/* Has rollcall-pmix ask the PMIx server of the launcher that started this process.
 *
 * For a process that has not connected itself, and whose children have not
 * either: the server takes rollcall-pmix for the task. */

/* Returns lines as in lib/launcher/families.h, in static storage that the next call
 * overwrites: for one thread only. Takes some hundredths of a second, at most
 * CLI_PMIXASK_DEADLINE milliseconds. Leaves no process, but the connection, which
 * the program that this one becomes keeps open: the server must not see its end while other ranks are in
 * MPI_Init (libexec/pmix/rollcall-pmix.c). */
struct rc_str cli_pmix_ask(void);

/* The path of one of rollcall's own programs, installed with this very command wherever
 * it is installed. 0, or -1 with errno. */
int cli_own_program(const char *name, char path[PATH_MAX]);

enum { CLI_PMIXASK_DEADLINE = 12000, CLI_PMIXASK_SIZE = 1 << 20 };
