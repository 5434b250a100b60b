/* SPDX-License-Identifier: BSD-3-Clause */
/* json.h - a writer of JSON, for all --json output.
 *
 * Each call writes one value; nothing is kept but the kinds of the open brackets, of 64 at most. A name is written in
 * an object, not in an array, where it is NULL. Output is printable ASCII, because a terminal may take other characters
 * for commands. A failed write shows in the state of the stream.
 */
#pragma once

#include <stdio.h>

#include "base/message.h"
#include "base/text.h"

/* Made by json_begin; only the functions below read or change it. */
struct json {
    FILE *out;
    unsigned depth;
    uint64_t arrays; /* a bit for each open bracket, the lowest for the innermost: whether it is an array's */
    bool is_empty;   /* nothing is in the innermost one yet */
};

/* Opens a document: one object, with the number of the schema in it. */
struct json json_begin(FILE *out);

/* Closes all that is open. */
void json_end(struct json *json);

void json_open_object(struct json *json, const char *name);
void json_open_array(struct json *json, const char *name);

/* Closes the innermost one; the document stays open. */
void json_close(struct json *json);

/* A string of any bytes: one that is not UTF-8 becomes the four characters \xNN. null for NULL. */
void json_text(struct json *json, const char *name, const char *text);

/* The same. null for an absent slice. */
void json_slice(struct json *json, const char *name, struct rc_str text);

void json_number(struct json *json, const char *name, int64_t number);

/* null where the number is not known. */
void json_number_if(struct json *json, const char *name, bool is_known, int64_t number);

void json_bool(struct json *json, const char *name, bool value);

/* The members id, level and text of a message, in the object that is open. */
void json_message(struct json *json, enum rc_message_id id, const char *text);
