/* SPDX-License-Identifier: BSD-3-Clause */
/* message.h - rollcall's messages, with stable ids (messages.def).
 *
 * A message is one lower-case line: what was found, what was done instead, what to change. Only the command prints
 * cause and cure (cli/entries.c). */
#pragma once

#include "base/text.h"

enum rc_level {
    RC_LEVEL_NOTE,    /* shown by explain and ROLLCALL_DEBUG=1 */
    RC_LEVEL_WARNING, /* printed once a step */
    RC_LEVEL_ERROR,   /* the facts contradict each other: nothing is set */
};

/* How often a launch prints what several tasks find: in the plugin errors (warnings come from rank 0's task, whose node
 * they concern), in `rollcall exec` warnings (each error is a command that did not run). */
enum rc_said {
    RC_SAID_PER_LAUNCH, /* follows from the options or from facts that all tasks share */
    RC_SAID_PER_NODE,   /* other nodes may have another result */
    RC_SAID_PER_TASK,   /* nothing is known about the other tasks */
};

enum rc_message_id {
#define ROLLCALL_MESSAGE(id, level, said, cause, cure) id,
#include "base/messages.def"
#undef ROLLCALL_MESSAGE
    RC_MESSAGE_COUNT
};

struct rc_message_entry {
    char id[6];
    enum rc_level level;
    enum rc_said said;
};

enum { RC_MESSAGES_MAX = 24 };

struct rc_message {
    enum rc_message_id id;
    const char *text;
};

struct rc_messages {
    struct rc_arena *arena; /* rc_say() writes here; NULL discards all messages */
    struct rc_message list[RC_MESSAGES_MAX];
    unsigned count;
    bool has_error;
};

/* Return the catalogue's row of `id`; never NULL. */
const struct rc_message_entry *rc_message_entry(enum rc_message_id id);

/* Find the id of a name, "RC301". Return false, with *id unchanged, if there is none. */
bool rc_message_named(struct rc_str name, enum rc_message_id *id);

const char *rc_level_name(enum rc_level level);

/* The end of each error line, in every program. */
#define RC_EXPLAIN_BEFORE " (rollcall explain "
#define RC_EXPLAIN_BEHIND ")"
#define RC_EXPLAIN(id)    RC_EXPLAIN_BEFORE id RC_EXPLAIN_BEHIND

/* "rollcall plugin for Slurm 24.11, of rollcall 0.9.0": the command reads it from the plugin's file without loading
 * it. */
#define RC_PLUGIN_FOR_SLURM   "rollcall plugin for Slurm "
#define RC_PLUGIN_OF_ROLLCALL ", of rollcall "

/* Return the printed line and newline, "rollcall: warning RC301: TEXT"; a shorter one if TEXT does not fit, or "". */
const char *rc_message_line(struct rc_arena *arena, enum rc_level level, enum rc_message_id id, const char *text);

/* Parse ROLLCALL_DEBUG: 0 nothing, 1 notes and a summary, 2 and 3 also each variable and why a task is unchanged. Not a
 * number counts as 1, a greater one as 3. */
enum { RC_DEBUG_LEVEL_MAX = 3 };
uint32_t rc_debug_level(struct rc_str value);

/* Add a message unless it is a duplicate. If the list is full, drop it, but set has_error. Return false, for callers to
 * return. */
bool rc_say(struct rc_messages *messages, enum rc_message_id id, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

bool rc_say_list(struct rc_messages *messages, enum rc_message_id id, const char *format, va_list args)
    __attribute__((format(printf, 3, 0)));

/* Like rc_say(), for a text that outlives the list. */
bool rc_message_add(struct rc_messages *messages, enum rc_message_id id, const char *text);

/* Return the first error; NULL if none is listed (see has_error). */
const struct rc_message *rc_messages_error(const struct rc_messages *messages);
