/* SPDX-License-Identifier: BSD-3-Clause */
/* findprogram.h - finds programs as a shell does. */
#ifndef ROLLCALL_CLI_FINDPROGRAM_H
#define ROLLCALL_CLI_FINDPROGRAM_H

#include <limits.h>
#include <stdbool.h>

/* Writes the first executable file of that name on PATH. False where there is none. */
bool cli_find_program(const char *name, char path[PATH_MAX]);

#endif
