/* SPDX-License-Identifier: BSD-3-Clause */
/* answer.h - what all nodes of a launch are told behind the roll call: one answer for all.
 *
 * The form and its rules are the entry's (roll.h). RC_ANSWER_SIZE bytes at most:
 *   answer=1
 *   port=24512           MASTER_PORT; none: each keeps the one that it computed
 *   stop=1               the step is not to start
 *   order=2-3x4,0-1x4    with order=topology: runs of node ranks, and the tasks on each (netorder.h)
 *   first=n3             the first of them
 *   unordered=TEXT       likewise: why the nodes stay in the launcher's order
 *   seat=0 4             for the other tasks of one node: its place in the order, the tasks before it
 *   own=10.0.0.1,fd00::1 addresses of the node of RANK 0, all of them
 *   said=1               the findings have been printed
 *   finding=RC601 text   for the one that prints them; RC_FINDINGS_MAX of them
 */
#ifndef ROLLCALL_ROLL_ANSWER_H
#define ROLLCALL_ROLL_ANSWER_H

#include "base/message.h"
#include "base/text.h"

enum {
    RC_FINDINGS_MAX = 16,
    RC_FINDING_MAX = 1536, /* bytes of one text; a longer one is cut when it is written */
    RC_ANSWER_SIZE = 49152,
};

struct rc_answer {
    uint32_t port; /* 0: none */
    bool stop;
    bool said;
    struct rc_str order; /* absent: none; borrowed, as the next three, from the text or from the caller */
    struct rc_str first;
    struct rc_str unordered;
    struct rc_str own;
    uint32_t place; /* only with has_seat */
    uint32_t before;
    bool has_seat;
    struct rc_messages findings;
};

/* Writes an answer, a NUL behind it; of the findings the first RC_FINDINGS_MAX,
 * bytes that are not printable ASCII as `?`. NULL, and the arena's text as
 * before, where it does not fit. */
const char *rc_answer_write(const struct rc_answer *answer, struct rc_arena *arena);

/* Reads an answer; texts of findings are copied into the arena, others are slices of the text. A finding whose
 * id this rollcall does not have is left out. False, with *answer untouched, if
 * it is none or does not fit. */
bool rc_answer_read(struct rc_str text, struct rc_answer *answer, struct rc_arena *arena);

#endif
