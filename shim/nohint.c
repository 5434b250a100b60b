/* SPDX-License-Identifier: BSD-3-Clause */
/* nohint.c - the preload has no room for guesses: it lists all modes and keys. */
#include "resolve/optionhint.h"

const char *rc_option_hint(struct rc_str item, bool first, const char *modes, const char *keys, struct rc_arena *arena)
{
    (void)item, (void)first, (void)modes, (void)keys, (void)arena;
    return NULL;
}
