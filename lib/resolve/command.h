/* SPDX-License-Identifier: BSD-3-Clause */
/* command.h - what a command line starts: a program, or a launcher of workers, behind any wrapper. */
#pragma once

#include "resolve/model.h"

/* The words of a command line, of an argument list or of a shell's text.
 *
 * A text is not parsed as a shell does: it is cut at blanks, quotes and operators, and nothing is expanded. That is
 * enough to find which programs it names. A long command line costs no more than a few hundred words. */

/* Takes the next word, a slice of the list or text. False behind the last one. */
bool rc_words_next(struct rc_words *words, struct rc_str *word);

/* Looks through wrappers (env, numactl, nice, ...) and `sh -c '...'`, and no
 * further than the user's script: what follows it is the script's own. argv is
 * NULL-terminated or NULL. Reads at most a few hundred words. */
void rc_command_read(const char *const *argv, struct rc_command *command);

/* Is the word an option of a container's runtime that mounts a folder, --bind or
 * --bind=/x or -B/x? *value is what stands in the same word, or absent. */
bool rc_command_mounts(struct rc_str word, struct rc_str *value);

/* Is the program with this path one that starts another, and does not do the work
 * itself: a shell, env, numactl, ...? */
bool rc_command_starts_another(struct rc_str program);
