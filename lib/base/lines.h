/* SPDX-License-Identifier: BSD-3-Clause */
/* lines.h - KEY=VALUE in all texts of rollcall's own, and the form of what nodes write to each other.
 *
 * rc_pair_next reads KEY=VALUE, whatever separates them: lines of a request,
 * words of a variable. Entries (roll.h) and answers (answer.h) are stricter: a
 * head, then lines NAME=VALUE of printable ASCII, each with a newline at its end.
 * Pure: reads the text, writes the caller's arena.
 */
#ifndef ROLLCALL_BASE_LINES_H
#define ROLLCALL_BASE_LINES_H

#include "base/numbers.h"
#include "base/text.h"

/* Takes the next KEY=VALUE off *rest, up to `separator` or the end. *value is
 * absent where there is no '='. False, with nothing written, once *rest is absent. */
bool rc_pair_next(struct rc_str *rest, char separator, struct rc_str *key, struct rc_str *value);

bool rc_lines_printable(char c);

/* Takes the head off *text, of `limit` bytes at most. False, with *text
 * untouched, where it does not begin so, or what follows are no lines. */
bool rc_lines_read_head(struct rc_str *text, const char *head, size_t limit);

/* Takes a line off *rest, whose last one ends with a newline, too. False for one
 * without a name in lower case, or without a value. */
bool rc_lines_next(struct rc_str *rest, struct rc_str *name, struct rc_str *value);

/* False, with *number untouched, for a value that is none up to max, and for a
 * second one: *number is RC_UNKNOWN before the first. */
bool rc_lines_read_number(struct rc_str value, uint32_t max, uint32_t *number);

/* Begins a text in the arena. False where there is no room; *start is for rc_lines_end. */
bool rc_lines_begin(struct rc_arena *arena, const char *head, size_t *start);

/* One more line: a value that is cut at `limit` bytes and made printable, with
 * `?`; an absent or empty one is left out. */
void rc_lines_put(struct rc_arena *arena, const char *name, struct rc_str value, size_t limit);
void rc_lines_put_number(struct rc_arena *arena, const char *name, uint32_t value);

/* The end of a line whose beginning is there. */
void rc_lines_put_value(struct rc_arena *arena, struct rc_str value, size_t limit);

/* The whole text, a NUL behind it. NULL, and nothing left of it, where it did not fit. */
const char *rc_lines_end(struct rc_arena *arena, size_t start);

#endif
