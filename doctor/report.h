/* report.h - findings as text, 80 columns wide, or as JSON; both end with a verdict. */
#ifndef ROLLCALL_DOCTOR_REPORT_H
#define ROLLCALL_DOCTOR_REPORT_H

#include "findings.h"

/* 0, or -1 without memory. */
int doctor_print_text(const struct findings *findings);
int doctor_print_json(const struct findings *findings);

#endif
