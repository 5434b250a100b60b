/* SPDX-License-Identifier: BSD-3-Clause */
/* value.h - JSON values, as all of rollcall's JSON output uses them, over jansson. */
#ifndef ROLLCALL_CONSOLE_VALUE_H
#define ROLLCALL_CONSOLE_VALUE_H

#include <jansson.h>

#include "base/message.h"
#include "base/text.h"

enum { JSON_SCHEMA = 1 };

/* A string; null for an absent slice. Escapes what is not UTF-8, which jansson would
 * refuse: environments and file names may hold any bytes. NULL without memory. */
json_t *value_slice(struct rc_str text);
json_t *value_text(const char *text);

/* Like jansson's own setters: frees `value`, and fails if it is NULL, so that errors
 * pass through. Returns 0 or not 0. */
int value_put(json_t *object, const char *key, json_t *value);

/* Returns `value`, or if `failed` is not 0, frees it and returns NULL. `failed` is what
 * the setters returned. */
json_t *value_whole(json_t *value, int failed);

/* {id, level, text}; NULL without memory. */
json_t *value_message(enum rc_message_id id, const char *text);

/* Prints one object and a newline, and frees it. -1 without memory, and for NULL. main
 * finds a failed write in the state of stdout. */
int value_print(json_t *object);

#endif
