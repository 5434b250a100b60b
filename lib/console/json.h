/* SPDX-License-Identifier: BSD-3-Clause */
/* json.h - a writer of JSON, for all --json output.
 *
 * Each call writes one value. Pass the name in an object, NULL in an array. At most 64 brackets may be open. Output is
 * printable ASCII, because a terminal may interpret other characters. Check the stream for write errors. */
#pragma once

#include <stdio.h>

#include "base/message.h"
#include "base/text.h"

/* Created by json_begin(); opaque. */
struct json {
    FILE *out;
    unsigned depth;
    uint64_t arrays; /* a bit for each open bracket, the lowest for the innermost; set: array */
    bool is_empty;   /* the innermost bracket has no value yet */
};

/* Open a document: one object with the schema number. */
struct json json_begin(FILE *out);

/* Close all open brackets. */
void json_end(struct json *json);

void json_open_object(struct json *json, const char *name);
void json_open_array(struct json *json, const char *name);

/* Close the innermost bracket, but not the document. */
void json_close(struct json *json);

/* Write a string, or null for NULL. A byte outside UTF-8 becomes the four characters \xNN. */
void json_text(struct json *json, const char *name, const char *text);

/* Like json_text(); null for RC_ABSENT. */
void json_slice(struct json *json, const char *name, struct rc_str text);

void json_number(struct json *json, const char *name, int64_t number);

/* Write null if the number is unknown. */
void json_number_if(struct json *json, const char *name, bool is_known, int64_t number);

void json_bool(struct json *json, const char *name, bool value);

/* Write the members id, level and text of a message into the open object. */
void json_message(struct json *json, enum rc_message_id id, const char *text);
