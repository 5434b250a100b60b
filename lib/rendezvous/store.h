/* SPDX-License-Identifier: BSD-3-Clause */
/* store.h - the key-value store of a launch: values and counters that its tasks exchange.
 *
 * For what they learn only after they have started (an NCCL unique id, who has
 * come so far). A value is put once and never changes.
 *
 * A question, and the reply to it:
 *   store put KEY\nBYTES    store 1\n where it was put, store 0\nBYTES of what stood there before
 *   store get KEY\n         store 0\nBYTES, as soon as there is one
 *   store count KEY\n       store N\n: how often it was asked before this
 *   any of them            store full\n where there is no room
 */
#pragma once

#include "base/text.h"
#include "rendezvous/connections.h"

enum {
    RC_STORE_KEY_MAX = 128, /* characters: letters, digits and ._:/- */
    RC_STORE_VALUE_MAX = 16384,
    RC_STORE_SIZE_MAX = 1 << 26, /* bytes of all that one server stores */
    RC_STORE_HEAD_MAX = 32,      /* bytes of a reply before its value */
};

struct rc_store;

/* NULL without memory. */
struct rc_store *rc_store_create(void);

/* No connection may wait any more. */
void rc_store_destroy(struct rc_store *store);

/* Whether the text is a question of this kind, right or wrong. */
bool rc_store_is_question(struct rc_str text);

/* What is to be done about a question. */
struct rc_store_answer {
    char head[RC_STORE_HEAD_MAX]; /* of the reply, NUL-terminated; empty: the reply is yet to come */
    struct rc_str value;          /* after it; owned by the store */
    struct rc_queue *waiting;     /* without a reply: the queue to wait in; else the queue whose
                                   * connections ask once more now, and get theirs; NULL: none */
};

/* Returns false for a malformed question. */
bool rc_store_ask(struct rc_store *store, struct rc_str question, struct rc_store_answer *answer);

/* Whether the text can be a key. */
bool rc_store_is_key(struct rc_str key);
