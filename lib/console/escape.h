/* SPDX-License-Identifier: BSD-3-Clause */
/* escape.h - text of unknown origin, made fit for a terminal. */
#ifndef ROLLCALL_CONSOLE_ESCAPE_H
#define ROLLCALL_CONSOLE_ESCAPE_H

#include "base/text.h"

/* Copies a text; everything but printable ASCII becomes \xNN. Values come from hostile
 * environments (terminal escapes, newlines, megabytes of digits). The copy ends after
 * `limit` bytes with "..."; 0: no limit. Returns memory to free, or NULL without
 * memory. */
char *console_escape(struct rc_str text, size_t limit);

#endif
