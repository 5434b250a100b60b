/* SPDX-License-Identifier: BSD-3-Clause */
/* optionwords.h - words of --ddp and ROLLCALL, as lists and as switches. */
#ifndef ROLLCALL_RESOLVE_OPTIONWORDS_H
#define ROLLCALL_RESOLVE_OPTIONWORDS_H

#include "base/text.h"

/* "a|b|c" as "a, b or c": `last` is " or ". */
const char *rc_option_join(struct rc_arena *arena, const char *words, const char *last);

/* Whether it is a word that people switch a variable on or off with, in small or capital letters: 1, on, yes, true; 0,
 * off, no, false. */
bool rc_option_switch(struct rc_str item, bool *on);

#endif
