/* SPDX-License-Identifier: BSD-3-Clause */
/* report.h - what the shim says, which is nothing unless it must.
 *
 * Outside of a task: nothing at any time (a program's standard error must be
 * the same with and without the shim). Inside: an error, once for the program
 * that the launcher started and not again by the programs that this one
 * starts; and with ROLLCALL_DEBUG what was done.
 */
#ifndef ROLLCALL_SHIM_REPORT_H
#define ROLLCALL_SHIM_REPORT_H

#include "resolve/resolve.h"
#include "say.h"

/* Writes the first error of messages, unless `reported` names it already.
 * Returns what to put into RC_REPORTED (it lives in arena), or NULL where it
 * has been said before, or could not be said: the next program tries again. */
const char *shim_report_error(const struct rc_messages *messages, struct rc_str reported, struct rc_arena *arena);

/* ROLLCALL_DEBUG for a task whose plan has been carried out. */
void shim_report_result(const struct rc_result *result, uint32_t level);

/* ROLLCALL_DEBUG for a task that could not be helped. */
void shim_report_nothing(const char *reason);

#endif
