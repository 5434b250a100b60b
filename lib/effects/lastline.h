/* SPDX-License-Identifier: BSD-3-Clause */
/* lastline.h - the line with which a task is refused reaches the user before its launch ends. */
#ifndef ROLLCALL_EFFECTS_LASTLINE_H
#define ROLLCALL_EFFECTS_LASTLINE_H

#include <stdbool.h>

/* Waits before a task ends without its command: 200 ms if it has said why itself (`said`), 500 ms if another task
 * of the launch says it. A launcher ends the other tasks with the first one that fails. What still comes then is
 * dropped, also of lines that were written before: with srun --kill-on-bad-exit of 22.05, 35 of 40 arrived.
 * Thread-safe. */
void rc_last_line_wait(bool said);

#endif
