/* SPDX-License-Identifier: BSD-3-Clause */
/* command.h - the program or launcher that a command line starts, after any wrappers. */
#pragma once

#include "resolve/model.h"

enum { RC_WORDS_MAX = 256 };

/* The caller sets argv or line, and left = RC_WORDS_MAX. */
struct rc_words {
    const char *const *argv; /* NULL-terminated, or NULL */
    struct rc_str line;      /* text of sh -c */
    bool starts_command;     /* the word is first after an operator */
    unsigned left;           /* words that may still be read */
};

/* Take the next word, split as by a shell (quotes, backslashes, $(...), comments) but not expanded: a slice without
 * outer quotes. Return false, with *word RC_ABSENT, at the end or after RC_WORDS_MAX. */
bool rc_words_next(struct rc_words *words, struct rc_str *word);

/* Return the word without its outer quotes. */
struct rc_str rc_word_unquote(struct rc_str word);

/* Read a command through wrappers (programs.def) and `sh -c '...'`, up to the user's script. argv may be NULL. */
void rc_command_read(const char *const *argv, struct rc_command *command);

/* Return true if the option is one of "--a_b|-c". --a-b equals --a_b, as in argparse. */
bool rc_command_is_named(struct rc_str option, const char *names);

/* Return true if a word, or a shell's text in it, names rollcall or --ddp. */
bool rc_command_names_rollcall(const char *const *argv);

/* Return true if a word is such an option, with or without a value. */
bool rc_command_has(const char *const *argv, const char *names);

/* Return the command as typed, without options "--a_b|--c" and their values before `script`, a word of argv; " ..."
 * ends it after 200 characters or at an unquotable word. Return NULL if there was no such option. */
const char *rc_command_write(const char *const *argv, const char *without, struct rc_str script,
                             struct rc_arena *arena);

/* Return true if torchrun restarts workers after a failure, or continues with fewer nodes. */
static inline bool rc_command_goes_on(const struct rc_command *command)
{
    struct rc_str most;

    rc_str_split(command->given.nnodes, ':', &most);
    return most.p || (command->given.restarts.p && !rc_str_is(command->given.restarts, "0"));
}

/* Return true if the command must not pass on a rank. */
static inline bool rc_command_starts_tasks(const struct rc_command *command)
{
    return command->kind == RC_COMMAND_DAEMON || command->kind == RC_COMMAND_STARTER;
}

/* Return true if the program only starts another: a shell, env, numactl, ... */
bool rc_command_starts_another(struct rc_str program);
