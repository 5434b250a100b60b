/* SPDX-License-Identifier: BSD-3-Clause */
/* tally.h - things of a node, counted by what is said of them: "7 at x16, 1 at x8". The order in which they were found
 * makes no difference. */
#ifndef ROLLCALL_INVENTORY_TALLY_H
#define ROLLCALL_INVENTORY_TALLY_H

#include "base/text.h"

enum { RC_TALLY_KINDS = 12, RC_TALLY_TEXT = 96 };

/* Begins as all zeros. */
struct rc_tally {
    unsigned kinds;
    unsigned others; /* of further kinds, for which there was no room */
    struct rc_tally_kind {
        unsigned count;
        char text[RC_TALLY_TEXT];
    } kind[RC_TALLY_KINDS];
};

/* One more thing; a text that is too long is cut. */
void rc_tally_add(struct rc_tally *tally, struct rc_str text);

/* Writes the kinds, the most frequent first, equally frequent ones by their text; absent where there are none. */
struct rc_str rc_tally_write(struct rc_tally *tally, struct rc_arena *arena);

#endif
