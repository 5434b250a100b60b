/* SPDX-License-Identifier: BSD-3-Clause */
/* command.h - what a command line starts: a program, or a launcher of workers, after any wrapper. */
#pragma once

#include "resolve/model.h"

enum { RC_WORDS_MAX = 256 };

/* The caller sets argv or line, and left. */
struct rc_words {
    const char *const *argv; /* NULL-terminated; or, where NULL: */
    struct rc_str line;      /* the text of sh -c */
    bool starts_command;     /* the word is the first one after an operator */
    unsigned left;           /* words that are still read: RC_WORDS_MAX at first */
};

/* Takes the next word of an argument list or of a shell's text, which is cut into words as a shell does it: quotes,
 * backslashes, $(...) and comments count, and nothing is expanded. The word is a slice of the list or text, without
 * quotes around all of it. False, and an absent word, after the last one and after RC_WORDS_MAX. */
bool rc_words_next(struct rc_words *words, struct rc_str *word);

/* Return the word without the quotes around all of it. */
struct rc_str rc_word_unquote(struct rc_str word);

/* Looks through wrappers (programs.def) and `sh -c '...'`, and no further than the user's script: what follows it is
 * the script's own. argv is NULL-terminated or NULL. Reads at most a few hundred words. */
void rc_command_read(const char *const *argv, struct rc_command *command);

/* Return whether the option is one of `names`, "--a_b|-c". argparse, which launchers use, takes --a-b for --a_b. */
bool rc_command_is_named(struct rc_str option, const char *names);

/* Return whether rollcall or --ddp is among the words, or in the text of a shell that is one. */
bool rc_command_names_rollcall(const char *const *argv);

/* Return whether one of the words is such an option, with or without a value. */
bool rc_command_has(const char *const *argv, const char *names);

/* Return the command as one types it, without the options "--a_b|--c" before `script`, a word of argv, and values:
 * up to 200 characters, and as far as double quotes are enough; then " ...". NULL if it has none of these options. */
const char *rc_command_write(const char *const *argv, const char *without, struct rc_str script,
                             struct rc_arena *arena);

/* Does torchrun start its workers again after a failure, or go on with fewer nodes? */
static inline bool rc_command_goes_on(const struct rc_command *command)
{
    struct rc_str most;

    rc_str_split(command->given.nnodes, ':', &most);
    return most.p || (command->given.restarts.p && !rc_str_is(command->given.restarts, "0"));
}

/* Must the command pass on no rank? */
static inline bool rc_command_starts_tasks(const struct rc_command *command)
{
    return command->kind == RC_COMMAND_DAEMON || command->kind == RC_COMMAND_STARTER;
}

/* Is the program with this path one that starts another, and does not do the work
 * itself: a shell, env, numactl, ...? */
bool rc_command_starts_another(struct rc_str program);
