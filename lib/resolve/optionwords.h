/* SPDX-License-Identifier: BSD-3-Clause */
/* optionwords.h - lists of words, "a|b|c", as option.def has them. */
#ifndef ROLLCALL_RESOLVE_OPTIONWORDS_H
#define ROLLCALL_RESOLVE_OPTIONWORDS_H

#include "base/text.h"

/* "a|b|c" as "a, b or c": `last` is " or ". */
const char *rc_option_join(struct rc_arena *arena, const char *words, const char *last);

/* Returns which word of "a|b|c" the text is, from 1 on; 0 where it is none. With the words of a choice that is its
 * number in the enum, where 0 is UNSET. */
unsigned rc_option_find(const char *words, struct rc_str text);

#endif
