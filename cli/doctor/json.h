/* SPDX-License-Identifier: BSD-3-Clause */
/* json.h - findings for programs: `rollcall doctor --json`. */
#ifndef ROLLCALL_CLI_DOCTOR_JSON_H
#define ROLLCALL_CLI_DOCTOR_JSON_H

#include "findings.h"

/* Prints one object, described in rollcall(1). */
void doctor_print_json(const struct findings *findings);

#endif
