/* SPDX-License-Identifier: BSD-3-Clause */
/* errorlog.h - what a job has printed, explained. */
#pragma once

#include <stdio.h>

#include "console/json.h"

/* Print what docs/symptoms.md and the catalogue of messages know of the lines of these files; "-" is standard input.
 * With json, write an object for each into the array that is open. Use no memory that grows with a file. Return an exit
 * status, after one line on standard error if a file cannot be read. Not thread-safe. */
int errorlog_explain(FILE *out, char *const *paths, size_t count, struct json *json);
