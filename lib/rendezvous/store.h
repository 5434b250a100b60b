/* SPDX-License-Identifier: BSD-3-Clause */
/* notes.h - what the tasks of a launch leave at their desk for each other: texts by name, and counters.
 *
 * For what they learn only after they have started (an NCCL unique id, who has
 * come so far). A note is put once and stays: what was read of it never changes.
 *
 * A question, and the reply to it:
 *   note put KEY\nBYTES    note 1\n where it was put, note 0\nBYTES of what stood there before
 *   note get KEY\n         note 0\nBYTES, as soon as there is one
 *   note count KEY\n       note N\n: how often it was asked before this
 *   any of them            note full\n where there is no room
 */
#ifndef ROLLCALL_RENDEZVOUS_STORE_H
#define ROLLCALL_RENDEZVOUS_STORE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"
#include "rendezvous/queue.h"

enum {
    RC_NOTES_KEY_MAX = 128, /* characters: letters, digits and ._:/- */
    RC_NOTES_VALUE_MAX = 16384,
    RC_NOTES_SIZE_MAX = 1 << 26, /* bytes of all notes of a desk */
    RC_NOTES_HEAD_MAX = 32,      /* bytes of a reply before its value */
};

struct rc_notes;

/* NULL without memory. */
struct rc_notes *rc_notes_create(void);

/* Nobody may wait any more (rc_notes_first_waiting). */
void rc_notes_destroy(struct rc_notes *notes);

/* Whether the text is a question of this kind, right or wrong. */
bool rc_notes_is_question(struct rc_str text);

/* What is to be done about a question. */
struct rc_notes_answer {
    char head[RC_NOTES_HEAD_MAX]; /* of the reply, NUL-terminated; empty: the reply is yet to come */
    struct rc_str value;          /* behind it; the notes' own, good until they are destroyed */
    struct rc_queue *waiting;     /* where the reply is yet to come: stand here; else those who stand here
                                   * get theirs now (rc_notes_ask once more); NULL: nobody does */
};

/* False for what is no question. */
bool rc_notes_ask(struct rc_notes *notes, struct rc_str question, struct rc_notes_answer *answer);

/* Somebody who waits for a note, whichever it is; NULL: nobody does. */
struct rc_link *rc_notes_first_waiting(const struct rc_notes *notes);

/* Whether the text can be a key. */
bool rc_notes_is_key(struct rc_str key);

#endif
