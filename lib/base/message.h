/* SPDX-License-Identifier: BSD-3-Clause */
/* message.h - what rollcall has to say, with stable ids.
 *
 * messages.def is the catalogue. A message is one lower-case line: what was found, what was done instead, what to
 * change. Its cause and its cure are the command's alone (cli/entries.c).
 */
#pragma once

#include "base/text.h"

enum rc_level {
    RC_LEVEL_NOTE,    /* shown by explain and ROLLCALL_DEBUG=1 */
    RC_LEVEL_WARNING, /* shown once a step */
    RC_LEVEL_ERROR,   /* the facts contradict each other: nothing is set */
};

/* How many lines a launch gets of what several of its tasks find. The plugin has errors said so; its warnings are said
 * by RANK 0's task, whose node they concern. `rollcall exec` has warnings said so; there each task says its own errors,
 * because each is a command that was not run. */
enum rc_said {
    RC_SAID_PER_LAUNCH, /* it follows from the options, or from what all tasks share */
    RC_SAID_PER_NODE,   /* another node may find something else, or nothing */
    RC_SAID_PER_TASK,   /* nothing is known of the others */
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
    struct rc_arena *arena; /* where rc_say writes; NULL: nobody says anything */
    struct rc_message list[RC_MESSAGES_MAX];
    unsigned count;
    bool has_error;
};

/* The catalogue's row of an id; never NULL for an id of the enum. */
const struct rc_message_entry *rc_message_entry(enum rc_message_id id);

/* Find the id of this name, "RC301". Return false, with *id unchanged, if there is none. */
bool rc_message_named(struct rc_str name, enum rc_message_id *id);

const char *rc_level_name(enum rc_level level);

/* How every line of an error ends, in each program: with the command that says its cause and cure. */
#define RC_EXPLAIN_BEFORE " (rollcall explain "
#define RC_EXPLAIN_BEHIND ")"
#define RC_EXPLAIN(id)    RC_EXPLAIN_BEFORE id RC_EXPLAIN_BEHIND

/* "rollcall plugin for Slurm 24.11, of rollcall 0.9.0": in the plugin's file, where the command looks for it without
 * loading it. */
#define RC_PLUGIN_FOR_SLURM   "rollcall plugin for Slurm "
#define RC_PLUGIN_OF_ROLLCALL ", of rollcall "

/* A message as the user reads it, with its newline: "rollcall: warning RC301: TEXT". One that does not fit
 * becomes a shorter line. "" where that does not fit either. */
const char *rc_message_line(struct rc_arena *arena, enum rc_level level, enum rc_message_id id, const char *text);

/* What ROLLCALL_DEBUG asks for: 0 nothing, 1 notes and what was set, 2 and 3 each variable, too, and why a
 * task is left alone. A value that is not a number counts as 1, a greater one as 3. */
enum { RC_DEBUG_LEVEL_MAX = 3 };
uint32_t rc_debug_level(struct rc_str value);

/* Adds one message. What does not fit any more is dropped, errors included, but has_error is
 * always kept. An equal text is added once. Returns false, so that who refuses can end with it. */
bool rc_say(struct rc_messages *messages, enum rc_message_id id, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

bool rc_say_list(struct rc_messages *messages, enum rc_message_id id, const char *format, va_list args)
    __attribute__((format(printf, 3, 0)));

/* The same for a text that lives as long as the list. */
bool rc_message_add(struct rc_messages *messages, enum rc_message_id id, const char *text);

/* The first that is an error; NULL where there is none, or where it did not fit (has_error). */
const struct rc_message *rc_messages_error(const struct rc_messages *messages);
