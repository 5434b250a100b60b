/* SPDX-License-Identifier: BSD-3-Clause */
/* muster.h - print the missing members of a gather. */
#pragma once

#include "base/message.h"
#include "rendezvous/gather.h"
#include "roll/roll.h"

/* Members that have not attended some time after the first are printed once; another line follows when all have.
 *
 *   nodes   that run the plugin: RC621, RC623. Before the first call, RC_MUSTER_NONE times as long: a prolog may take
 *           minutes, as may a plugin that unpacks an image.
 *   tasks   that reached init_process_group (shim/watch/rollcall_watch.py): RC707, RC708
 *
 * `now` is in milliseconds. */

enum { RC_MUSTER_NONE = 4 };

struct rc_muster {
    uint32_t seconds;    /* 0: off */
    uint32_t job;        /* for the command in RC707; 0: unknown */
    struct rc_str hosts; /* of the nodes; unset: unknown */
    int64_t since;       /* when the server started; -1: wait for the first member */
    bool named;
    bool awaited; /* some were printed, and are still missing */
};

/* Return when a line is due; INT64_MAX: never. `gather` may be NULL, here and below. */
int64_t rc_muster_due(const struct rc_muster *muster, const struct rc_gather *gather);

/* Return the line to print now, once; or NULL. */
const char *rc_muster_nodes(struct rc_muster *muster, const struct rc_gather *nodes, int64_t now,
                            enum rc_message_id *id, struct rc_arena *arena);
const char *rc_muster_tasks(struct rc_muster *muster, const struct rc_gather *tasks, const struct rc_gather *roll,
                            int64_t now, enum rc_message_id *id, struct rc_arena *arena);

/* Call before missing nodes are printed elsewhere (RC601). Return whether they were printed already. */
bool rc_muster_name(struct rc_muster *muster, const struct rc_gather *nodes);

/* Return RC621 after the step, whose srun wrote `ending`; or NULL. */
const char *rc_muster_end(const struct rc_muster *muster, const struct rc_gather *nodes, char ending,
                          struct rc_arena *arena);

/* Return "ranks 2-3 on n2 did not make this call within 5 s", with hosts if known; or NULL. */
const char *rc_muster_missing(const struct rc_gather *gather, const struct rc_gather *roll, struct rc_arena *arena);

/* Return the readable entries, to be freed; NULL without memory. */
struct rc_roll *rc_muster_rolls(const struct rc_gather *roll, size_t *count);
