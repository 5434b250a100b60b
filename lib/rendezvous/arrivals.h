/* SPDX-License-Identifier: BSD-3-Clause */
/* arrivals.h - which tasks of a step have reached init_process_group, and which have not when it is time to ask.
 *
 * A task's process says "reached=3 4\n", its task and how many there are, when it gets there
 * (shim/watch/rollcall_watch.py). Several processes of one task count once. Some seconds after the first arrival one
 * line names the missing tasks (RC707). If they come later, another line says so (RC708).
 * Nothing is said again for a second process group.
 * The caller passes the time: `now` is in milliseconds.
 */
#ifndef ROLLCALL_RENDEZVOUS_ARRIVALS_H
#define ROLLCALL_RENDEZVOUS_ARRIVALS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/message.h"
#include "roll/roll.h"

/* Zero it but for `seconds` and `job` to begin, rc_arrivals_free to end. */
struct rc_arrivals {
    uint32_t seconds;    /* after the first arrival; 0: never say anything */
    uint32_t job;        /* Slurm's, for the command in RC707; 0: not known */
    uint32_t tasks;      /* of the step; 0: no task has come yet */
    uint32_t count;      /* tasks that have come */
    unsigned char *come; /* a bit for each */
    int64_t first;
    bool named; /* RC707 has been said */
    bool done;  /* there is nothing left to say */
};

/* Whether the text is of this kind, right or wrong. */
bool rc_arrivals_is_one(struct rc_str text);

/* Takes a text of this kind. `tasks` is how many the step has; 0: not known. Returns false,
 * and changes nothing, for a malformed text, a task that the step does not have, and
 * without memory. */
bool rc_arrivals_take(struct rc_arrivals *arrivals, struct rc_str text, uint32_t tasks, int64_t now);

/* When rc_arrivals_say has to be called even if no task comes until then; INT64_MAX: never. */
int64_t rc_arrivals_due(const struct rc_arrivals *arrivals);

/* What is to be said now, once; NULL: nothing. Tasks are named with the hosts of
 * the roll's entries, as far as there are any. */
const char *rc_arrivals_say(struct rc_arrivals *arrivals, const struct rc_roll *rolls, size_t count, int64_t now,
                            enum rc_message_id *id, struct rc_arena *arena);

void rc_arrivals_free(struct rc_arrivals *arrivals);

#endif
