/* report.h - what the shim says, which is nothing unless it must.
 *
 * Outside of a task: nothing at any time (a program's standard error must be
 * the same with and without the shim). Inside: an error, once for the program
 * that the launcher started and not again by the programs that this one
 * starts; and with ROLLCALL_DEBUG what was done.
 * Whatever is said is one write of less than 512 bytes, which a pipe keeps in
 * one piece (POSIX: PIPE_BUF is at least 512).
 */
#ifndef ROLLCALL_SHIM_REPORT_H
#define ROLLCALL_SHIM_REPORT_H

#include "resolve.h"

/* Set where an error was said: its id and a digest of its text. The same text
 * is not said again by every program that the task's script starts. */
#define SHIM_REPORTED "ROLLCALL_REPORTED"

/* ROLLCALL_DEBUG: 1 what was set and every message, 2 and 3 also each variable,
 * and why a task is left alone. What is no number counts as 1. */
enum { SHIM_DEBUG_MAX = 3 };
uint32_t shim_debug_level(struct rc_str text);

/* Writes the first error of messages, unless `reported` names it already.
 * Returns what to put into SHIM_REPORTED (it lives in arena), or NULL where it
 * has been said before, or could not be said: the next program tries again. */
const char *shim_report_error(const struct rc_messages *messages, struct rc_str reported,
                              struct rc_arena *arena);

/* ROLLCALL_DEBUG for a task whose plan has been carried out. */
void shim_report_result(const struct rc_result *result, uint32_t level);

/* ROLLCALL_DEBUG for a launcher's worker that has gone to its cores (pin.h). */
void shim_report_pin(uint32_t local_rank, struct rc_str cpus);

/* ROLLCALL_DEBUG for a task that could not be helped. */
void shim_report_nothing(const char *reason);

#endif
