/* SPDX-License-Identifier: BSD-3-Clause */
/* escape.h - text of unknown origin, made fit for a terminal. */
#ifndef ROLLCALL_CONSOLE_ESCAPE_H
#define ROLLCALL_CONSOLE_ESCAPE_H

#include "base/text.h"

/* A copy in which everything but printable ASCII is \xNN: values come from
 * hostile environments (terminal escapes, newlines, megabytes of digits).
 * limit cuts after as many bytes and says so with "..."; 0: no limit.
 * Returns memory to free, or NULL if there is no more. */
char *console_escape(struct rc_str text, size_t limit);

/* The same for JSON: valid UTF-8 stays, all other bytes become \xNN. */
char *console_escape_utf8(struct rc_str text);

#endif
