/* SPDX-License-Identifier: BSD-3-Clause */
/* way.h - how the tasks of a launch find the board on which they leave notes for each other (board.h).
 *
 *   desk   beside srun, as long as srun is there: its place is in the environment
 *   node   one node: the keeper, rank 0's process, starts one (rollcall-exchange
 *          board), of which the node's processes hear at a local name (local.h)
 *   pmix   several nodes: the same, and the others hear of it from their PMIx server
 *
 * Nothing is opened, asked or started before rc_way_open.
 */
#ifndef ROLLCALL_RENDEZVOUS_DISCOVERY_H
#define ROLLCALL_RENDEZVOUS_DISCOVERY_H

#include "rendezvous/endpoint.h"
#include "rendezvous/local.h"
#include "resolve/resolve.h"

enum rc_way_kind { RC_WAY_NONE, RC_WAY_DESK, RC_WAY_NODE, RC_WAY_PMIX };

enum { RC_WAY_TEXT = 4096, RC_WAY_SCOPE = 17 };

/* No pointers into anything that the caller of rc_way_find owns. */
struct rc_way {
    enum rc_way_kind kind;
    char scope[RC_WAY_SCOPE]; /* the launch, the same in all its tasks, and another in the next one */
    char name[RC_LOCAL_NAME]; /* of NODE and PMIX */
    bool is_keeper;           /* of NODE and PMIX: this process is to have a board started */
    bool is_near;             /* it can hear of it at the name; of PMIX: it may */
    bool is_by_hand;          /* whoever has started this process is not the others' launcher, too */
    char desk[RC_WAY_TEXT];   /* of DESK: "TOKEN PORT HOST..." */
    const char *why;          /* of NONE: static text */
};

/* The way of this process's own launch, whose environment and node are in the
 * result. NONE where there is none. */
void rc_way_find(const struct rc_result *result, struct rc_way *way);

/* Where the board is, "TOKEN PORT HOST..."; waits for it until `deadline`
 * (rc_milliseconds). 0; -ETIMEDOUT where nobody has told it by then; or -EIO,
 * with the reason in `text`. */
int rc_way_open(const struct rc_way *way, int64_t deadline, char text[RC_WAY_TEXT]);

#endif
