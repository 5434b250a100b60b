/* SPDX-License-Identifier: BSD-3-Clause */
/* errorlog.h - explain the output of a job. */
#pragma once

#include <stdio.h>

#include "console/json.h"

/* Print the entries of docs/symptoms.md and the message catalogue that match lines of these files ("-": standard
 * input). With json, write objects into the open array. Memory use is constant. Return the exit status, after a line on
 * standard error if a file cannot be read. Not thread safe. */
int errorlog_explain(FILE *out, char *const *paths, size_t count, struct json *json);
