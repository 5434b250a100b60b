/* SPDX-License-Identifier: BSD-3-Clause */
/* value.h - what all that is printed as JSON has in common, over jansson. */
#ifndef ROLLCALL_CONSOLE_VALUE_H
#define ROLLCALL_CONSOLE_VALUE_H

#include <jansson.h>

#include "base/message.h"
#include "base/text.h"

enum { JSON_SCHEMA = 1 };

/* null where it is absent; what is not UTF-8 is escaped, which jansson would
 * refuse: environments and names of files may hold anything. NULL without memory. */
json_t *value_slice(struct rc_str text);
json_t *value_text(const char *text);

/* jansson's setters take a NULL as a failure, hand it on and free what they are
 * given: so does this. Not 0 where it failed. */
int value_put(json_t *object, const char *key, json_t *value);

/* An object or array whose setters returned `failed`: itself, or NULL, freed,
 * where that is not 0. */
json_t *value_whole(json_t *value, int failed);

/* {id, level, text}; NULL without memory. */
json_t *value_message(enum rc_message_id id, const char *text);

/* Prints one object, a line behind it, and frees it. -1 without memory, and for
 * NULL; a failed write shows in stdout's state, which main looks at. */
int value_print(json_t *object);

#endif
