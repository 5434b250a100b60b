/* SPDX-License-Identifier: BSD-3-Clause */
/* registrations.h - the entries that a server has taken, in the order in which they came. */
#ifndef ROLLCALL_RENDEZVOUS_REGISTRATIONS_H
#define ROLLCALL_RENDEZVOUS_REGISTRATIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "roll/roll.h"

/* Zero it to begin, rc_registrations_free to end. */
struct rc_registrations {
    struct rc_roll *rolls;
    char **texts; /* that the rolls are slices of */
    size_t count;
    size_t room;
    uint32_t nodes; /* the lowest number of them that an entry has */
};

/* Keeps a copy. False, with nothing kept, where it is no entry, and without memory. */
bool rc_registrations_add(struct rc_registrations *registrations, struct rc_str entry);

/* Whether as many nodes are there as the lowest number that one of them names: where
 * they disagree, the others are not kept waiting for nodes that only one knows of. */
bool rc_registrations_is_complete(const struct rc_registrations *registrations);

/* All entries as they came, a blank line behind each, from malloc; NULL without memory. */
char *rc_registrations_text(const struct rc_registrations *registrations, size_t *size);

void rc_registrations_free(struct rc_registrations *registrations);

#endif
