/* SPDX-License-Identifier: BSD-3-Clause */
/* words.h - the words of a command line, of an argument list or of a shell's text.
 *
 * A text is not parsed as a shell does: it is cut at blanks, quotes and operators, and nothing is expanded. That is
 * enough to find which programs it names. A long command line costs no more than a few hundred words.
 */
#ifndef ROLLCALL_RESOLVE_WORDS_H
#define ROLLCALL_RESOLVE_WORDS_H

#include "base/text.h"

enum { RC_WORDS_MAX = 256 };

/* The caller sets argv or line, and left. */
struct rc_words {
    const char *const *argv; /* NULL-terminated; or, where NULL: */
    struct rc_str line;      /* the text of sh -c */
    bool starts_command;     /* the word is the first one behind an operator */
    unsigned left;           /* words that are still read: RC_WORDS_MAX at first */
};

/* Takes the next word, a slice of the list or text. False behind the last one. */
bool rc_words_next(struct rc_words *words, struct rc_str *word);

#endif
