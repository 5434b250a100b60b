/* SPDX-License-Identifier: BSD-3-Clause */
/* report.h - words for a result, as show and explain print them. */
#ifndef ROLLCALL_CLI_REPORT_H
#define ROLLCALL_CLI_REPORT_H

#include "console/table.h"
#include "resolve/resolve.h"

enum { REPORT_CUT = 64 }; /* bytes that are shown of a value that is not rollcall's own */

const char *cli_report_field_name(enum rc_field field);
const char *cli_report_field_key(enum rc_field field); /* in JSON */
const char *cli_report_field_meaning(enum rc_field field);

/* The variable that a number comes from; "" where the number is not known or not meant. */
const char *cli_report_field_source(const struct rc_result *result, enum rc_field field);

bool cli_report_has_identity(const struct rc_result *result);

/* "set", "same" (set, but right already), "unset", "keep" */
const char *cli_report_verb(const struct rc_plan_entry *entry);

enum paint cli_report_level_paint(enum rc_level level);

/* "    from    SLURM_PROCID": one fact about what stands above it; nothing
 * without a text. -1 without memory. */
int cli_report_detail(const char *label, const char *text);

/* Prints launcher, mode and master: the first lines. -1 without memory. */
int cli_report_head(const struct rc_result *result);

#endif
