/* SPDX-License-Identifier: BSD-3-Clause */
/* timesread.h - the times of a step as its server tells them (rc_times_text), read back.
 *
 * The text comes from another machine: every value is checked here, and nowhere else.
 */
#ifndef ROLLCALL_RENDEZVOUS_TIMESREAD_H
#define ROLLCALL_RENDEZVOUS_TIMESREAD_H

#include "rendezvous/times.h"

/* Zero it to begin, rc_times_read_free to end. */
struct rc_times_read {
    struct rc_times times;
    struct rc_roll *roll; /* of each node: its node rank, tasks and host, slices of the text; nothing else is set */
    size_t count;
    uint32_t *place; /* of each task: one more than its node's index in `roll`; 0: not known */
};

/* False where the text is none of a server, and without memory; free it then, too. */
bool rc_times_read(struct rc_str text, struct rc_times_read *read);

/* The node of a task, by the tasks that the nodes named; NULL: not known. */
const struct rc_roll *rc_times_node_of(const struct rc_times_read *read, uint32_t task);

void rc_times_read_free(struct rc_times_read *read);

#endif
