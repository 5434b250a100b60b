/* SPDX-License-Identifier: BSD-3-Clause */
/* muster.h - which members of a gather are missing, and the lines that name them. */
#pragma once

#include "base/message.h"
#include "rendezvous/gather.h"
#include "roll/roll.h"

/* The members of a gather that have not attended some time after the first one are named once. If they come later,
 * another line reports that.
 *
 *   nodes   which nodes of a step run the plugin: RC621, RC623. If none has called yet, it takes RC_MUSTER_NONE times
 *           as long: a prolog, or a plugin that unpacks an image, may take minutes.
 *   tasks   which tasks have reached init_process_group (shim/watch/rollcall_watch.py): RC707, RC708
 *
 * The caller passes the time: `now` is in milliseconds. */

enum { RC_MUSTER_NONE = 4 };

struct rc_muster {
    uint32_t seconds;    /* 0: nothing is printed */
    uint32_t job;        /* Slurm's, for the command in RC707; 0: not known */
    struct rc_str hosts; /* of the nodes; absent: not known */
    int64_t since;       /* when the server started; -1: nothing before the first member has come */
    bool named;
    bool awaited; /* some have been named, and not all have come since */
};

/* When a line is due even if nobody comes; INT64_MAX: never. `gather` may be NULL, here and below. */
int64_t rc_muster_due(const struct rc_muster *muster, const struct rc_gather *gather);

/* What is to be printed now, once; NULL: nothing. */
const char *rc_muster_nodes(struct rc_muster *muster, const struct rc_gather *nodes, int64_t now,
                            enum rc_message_id *id, struct rc_arena *arena);
const char *rc_muster_tasks(struct rc_muster *muster, const struct rc_gather *tasks, const struct rc_gather *roll,
                            int64_t now, enum rc_message_id *id, struct rc_arena *arena);

/* Call it before the missing nodes are named elsewhere (RC601). Return whether they have been named already. */
bool rc_muster_name(struct rc_muster *muster, const struct rc_gather *nodes);

/* RC621 at the end of the step, whose srun has written `ending`; NULL: there is nothing to print. */
const char *rc_muster_end(const struct rc_muster *muster, const struct rc_gather *nodes, char ending,
                          struct rc_arena *arena);

/* "ranks 2-3 on n2 did not make this call within 5 s", with their hosts if they are tasks (gather.h) and the roll has
 * them all. NULL if all have come, or without memory. */
const char *rc_muster_missing(const struct rc_gather *gather, const struct rc_gather *roll, struct rc_arena *arena);

/* The entries of a roll call that can be read, to be freed. NULL without memory. */
struct rc_roll *rc_muster_rolls(const struct rc_gather *roll, size_t *count);
