/* SPDX-License-Identifier: BSD-3-Clause */
/* textrules.h - what can be told of a script by its text alone, where no Python can parse it. */
#ifndef ROLLCALL_CLI_DOCTOR_TEXTRULES_H
#define ROLLCALL_CLI_DOCTOR_TEXTRULES_H

#include <stdbool.h>

#include "findings.h"

/* Adds what it finds in `text`, the content of a file, NUL-terminated; a job's
 * script is a shell's, else it is Python. Lines are changed. */
void doctor_text_rules(struct findings *findings, const char *path, char *text, bool job);

#endif
