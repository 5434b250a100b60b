/* SPDX-License-Identifier: BSD-3-Clause */
/* nearest.h - how much a mistyped word differs from a right one, for "did you mean". */
#ifndef ROLLCALL_BASE_NEAREST_H
#define ROLLCALL_BASE_NEAREST_H

#include "base/text.h"

enum { RC_NEAREST_LONGEST = 32 };

/* The least number of letters to insert, remove, replace, or swap with the next one. Capitals are small letters.
 * Only the first RC_NEAREST_LONGEST bytes count. */
unsigned rc_nearest_distance(struct rc_str a, struct rc_str b);

/* The largest distance at which a word is still taken for a mistyped one; 0 for a text that is too long. */
unsigned rc_nearest_limit(struct rc_str mistyped);

#endif
