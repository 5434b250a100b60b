/* SPDX-License-Identifier: BSD-3-Clause */
/* desk.h - where the nodes of a launch meet: takes one entry from each, gives all the same answer; and where its
 * tasks leave notes for each other, as long as it is there (notes.h), or say how far they are (arrivals.h).
 *
 * A listening TCP socket, a token that every message must carry (wire.h), and
 * one loop. Whoever connects without the token costs a few hundred bytes and a
 * descriptor until it has been silent for RC_CROWD_PATIENCE seconds, or until
 * there are too many (as many as the process may have descriptors, less a few):
 * then the oldest stranger goes. Entries that cannot be read are refused.
 */
#ifndef ROLLCALL_RENDEZVOUS_SERVER_H
#define ROLLCALL_RENDEZVOUS_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/message.h"
#include "roll/roll.h"

/* What somebody sends who wants to see the roll, as far as it has been called:
 * gets all entries as they came, a blank line behind each. */
#define RC_DESK_QUESTION "question=roll\n"

struct rc_desk;

/* listener: of rc_listen, owned by the desk from now on; token is copied.
 * NULL without memory. */
struct rc_desk *rc_desk_create(int listener, const char *token);
void rc_desk_destroy(struct rc_desk *desk);

/* The entry of the desk's own node, which has no connection. False if it cannot be read. */
bool rc_desk_add(struct rc_desk *desk, struct rc_str entry);

/* What it says by itself, once it is running. */
typedef void rc_desk_say(void *more, enum rc_message_id id, const char *text);

/* Has it watch who reaches init_process_group, so many seconds after the first
 * (arrivals.h). job: Slurm's. */
void rc_desk_watch(struct rc_desk *desk, uint32_t seconds, uint32_t job, rc_desk_say *say, void *more);

/* Makes an answer of the entries; *complete says whether those of all nodes are
 * there. Returns its text, which must live until the desk is destroyed. */
typedef struct rc_str rc_desk_decide(void *more, const struct rc_roll *rolls, size_t count, bool complete);

/* Takes entries until there are as many as they say that there are nodes, but
 * no longer than `seconds` after the first of them; then has an answer made and
 * gives it to all. Then, with a descriptor `life`, goes on giving the same
 * answer to latecomers until that is closed at its other end (before there is
 * an answer, too, that ends everything); without (-1) returns when all have
 * their answer. 0, or -errno for what makes a desk impossible (out of descriptors). */
int rc_desk_run(struct rc_desk *desk, uint32_t seconds, int life, rc_desk_decide *decide, void *more);

#endif
