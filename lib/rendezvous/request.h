/* SPDX-License-Identifier: BSD-3-Clause */
/* request.h - what a task's rollcall asks rollcall-exchange to do: a few lines, a blank one, the node's entry.
 *
 *   transport=srun       or pmix
 *   endpoint=TOKEN PORT HOST...   of srun's server; with pmix the nodes find it there
 *   root=1               this is the node of RANK 0
 *   seconds=10           deadline
 *   check=stop           off, warn or stop: what an error in the roll call does
 *   same=warn            likewise, what a node does that is not like the others: off, and it does not say what it has
 *
 * A pipe carries them, because every user can read a command line. The
 * program writes an answer (roll.h); or one line failed=WHY, where the others
 * will miss this node; or lost=WHY, where they may count on it.
 */
#ifndef ROLLCALL_RENDEZVOUS_REQUEST_H
#define ROLLCALL_RENDEZVOUS_REQUEST_H

#include "base/text.h"
#include "rendezvous/endpoint.h"
#include "resolve/option.h"

enum rc_transport { RC_TRANSPORT_NONE, RC_TRANSPORT_PMIX, RC_TRANSPORT_SRUN };

struct rc_request {
    enum rc_transport transport;
    struct rc_endpoint endpoint;
    bool root;
    uint32_t seconds;
    enum rc_check check;
    enum rc_check same;
    struct rc_str entry;
};

/* NULL where it does not fit. */
const char *rc_request_write(const struct rc_request *request, struct rc_arena *arena);

/* Slices of the text. False where something is missing or is not what it should be. */
bool rc_request_read(struct rc_str text, struct rc_request *request);

#endif
