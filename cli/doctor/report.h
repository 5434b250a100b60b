/* SPDX-License-Identifier: BSD-3-Clause */
/* report.h - findings as text, 80 columns wide; ends with a verdict. */
#ifndef ROLLCALL_CLI_DOCTOR_REPORT_H
#define ROLLCALL_CLI_DOCTOR_REPORT_H

#include "findings.h"

enum { DOCTOR_VERDICT = 576 };

/* Prints all findings. Returns 0, or -1 without memory. */
int doctor_print_text(const struct findings *findings);

/* Writes how many findings there are, and where to begin. */
void doctor_verdict(const struct findings *findings, char text[DOCTOR_VERDICT]);

#endif
