/* SPDX-License-Identifier: BSD-3-Clause */
/* numbers.h - the only way from text to a number. */
#ifndef ROLLCALL_BASE_NUMBERS_H
#define ROLLCALL_BASE_NUMBERS_H

#include "base/text.h"

/* "Unknown": no rank, count or index ever has this value (Slurm's own NO_VAL
 * is 0xfffffffe, so neither passes for a number). */
#define RC_UNKNOWN UINT32_MAX

/* More tasks than any machine has; sums of counts stay far from overflow. */
#define RC_MAX_TASKS 16777216u

/* Plain decimal, 0..max, nothing before or after it: no sign, no blank, no
 * leading zero ("007"), no 0x. *value is written only on success. */
bool rc_parse_u64(struct rc_str s, uint64_t max, uint64_t *value);
bool rc_parse_u32(struct rc_str s, uint32_t max, uint32_t *value);

#endif
