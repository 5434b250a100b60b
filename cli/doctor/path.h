/* SPDX-License-Identifier: BSD-3-Clause */
/* path.h - programs as a shell finds them. */
#ifndef ROLLCALL_CLI_DOCTOR_PATH_H
#define ROLLCALL_CLI_DOCTOR_PATH_H

#include <limits.h>
#include <stdbool.h>

/* The first file of that name on PATH that may be run. */
bool doctor_find_program(const char *name, char path[PATH_MAX]);

#endif
