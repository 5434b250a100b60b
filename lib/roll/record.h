/* SPDX-License-Identifier: BSD-3-Clause */
/* record.h - what srun's server knows of a step at its end, but for what follows in a record: the times of its start-up
 * (rendezvous/times.h) and its entries, a blank line behind each.
 *
 * The form and its rules are the entry's (roll.h). RC_RECORD_SIZE bytes at most:
 *   record=1
 *   step=42.0
 *   deadline=10          seconds that it waited for the last node; none: it never decided
 *   stop=1               the step was not to start
 *   said=RC707 text      what it said but the findings of the roll
 */
#ifndef ROLLCALL_ROLL_RECORD_H
#define ROLLCALL_ROLL_RECORD_H

#include "base/message.h"
#include "base/text.h"

#define RC_RECORD_HEAD "record=1\n"

enum { RC_RECORD_SIZE = 49152, RC_RECORD_STEP_MAX = 31 };

struct rc_record {
    struct rc_str step;
    uint32_t deadline; /* 0: none */
    bool stop;
    struct rc_messages said;
};

/* Writes it, a NUL behind it. NULL, and the arena's text as before, where it does not fit. */
const char *rc_record_write(const struct rc_record *record, struct rc_arena *arena);

/* Reads it; texts of messages are copied into the arena, the step is a slice of the text. False, with *record
 * untouched, if it is none or does not fit. */
bool rc_record_read(struct rc_str text, struct rc_record *record, struct rc_arena *arena);

#endif
