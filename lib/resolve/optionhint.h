/* SPDX-License-Identifier: BSD-3-Clause */
/* optionhint.h - what people may mean by a word of --ddp or ROLLCALL that is none of the grammar.
 *
 * Not in the preload library, which has no room for guesses (shim/nohint.c).
 */
#ifndef ROLLCALL_RESOLVE_OPTIONHINT_H
#define ROLLCALL_RESOLVE_OPTIONHINT_H

#include "base/text.h"

/* The end of a line that begins with "'workr' is not known; ", such as "did you mean gpus=?". `modes` and `keys` are
 * lists "a|b|c", keys with their equals sign; `first`: the item stands where a mode may stand. NULL where no word is
 * near. The text is in the arena, or static. */
const char *rc_option_hint(struct rc_str item, bool first, const char *modes, const char *keys, struct rc_arena *arena);

#endif
