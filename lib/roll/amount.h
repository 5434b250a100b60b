/* SPDX-License-Identifier: BSD-3-Clause */
/* amount.h - amounts of memory as entries write them, "503 GiB". Pure. */
#ifndef ROLLCALL_ROLL_AMOUNT_H
#define ROLLCALL_ROLL_AMOUNT_H

#include "base/text.h"

/* In bytes, and a unit of it. False for what is no number with such a unit. */
bool rc_amount_read(struct rc_str text, uint64_t *amount, uint64_t *unit);

/* Whether healthy nodes of one kind may differ so: within one part in 64, or within a unit. The smallest part that can
 * fail, one memory module of the 48 that a node may have, is more. Equal texts do, too. */
bool rc_amount_is_almost(struct rc_str one, struct rc_str other);

#endif
