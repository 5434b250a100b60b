/* SPDX-License-Identifier: BSD-3-Clause */
/* pairs.h - KEY=VALUE in all texts of rollcall's own, and the form of what nodes write to each other.
 *
 * rc_pair_next reads KEY=VALUE, whatever separates them: lines of a request,
 * words of a variable. Entries (roll.h) and answers (answer.h) are stricter: a
 * head, then lines NAME=VALUE of printable ASCII, each with a newline at its end.
 * Pure: reads the text, writes the caller's arena. */
#ifndef ROLLCALL_BASE_PAIRS_H
#define ROLLCALL_BASE_PAIRS_H

#include "base/text.h"

/* Takes the next KEY=VALUE off *rest, up to `separator` or the end. *value is
 * absent where there is no '='. False, with nothing written, once *rest is absent. */
bool rc_pair_next(struct rc_str *rest, char separator, struct rc_str *key, struct rc_str *value);

bool rc_lines_printable(char c);

/* Takes the head off *text. False, with *text untouched, where the text is longer than
 * `limit`, has another head, or does not consist of lines behind it. */
bool rc_lines_read_head(struct rc_str *text, const char *head, size_t limit);

/* Takes a line off *rest, in which the last line ends with a newline, too. False where the
 * line has no name in lower case or no value. */
bool rc_lines_next(struct rc_str *rest, struct rc_str *name, struct rc_str *value);

/* Reads a number up to max. *number must be RC_UNKNOWN before: a name that stands twice is
 * an error. False, with *number untouched, for that and for a value that is no such
 * number. */
bool rc_lines_read_number(struct rc_str value, uint32_t max, uint32_t *number);

/* Begins a text in the arena. False where there is no room; *start is for rc_lines_end. */
bool rc_lines_begin(struct rc_arena *arena, const char *head, size_t *start);

/* Writes one more line. The value is cut at `limit` bytes, and a '?' replaces what is not
 * printable. An absent or empty value gets no line. */
void rc_lines_put(struct rc_arena *arena, const char *name, struct rc_str value, size_t limit);
void rc_lines_put_number(struct rc_arena *arena, const char *name, uint32_t value);

/* Writes a value and ends the line that the caller has begun. */
void rc_lines_put_value(struct rc_arena *arena, struct rc_str value, size_t limit);

/* Ends the text with a NUL and returns it. Where it did not fit, returns NULL and takes it back. */
const char *rc_lines_end(struct rc_arena *arena, size_t start);

#endif
