/* SPDX-License-Identifier: BSD-3-Clause */
/* blame.h - which nodes the findings of a roll call blame: those to leave out of the next job.
 *
 * A finding blames nodes that did not answer, and nodes that differ from more than half of all. It blames none where
 * no side has more than half, nor where the launch as a whole is wrong: a rank that comes twice, a count that
 * differs, a GPU that two tasks share. A node whose tasks are not going to start is blamed without a finding.
 *
 * Nodes are named as the launcher lists them, so that its options take the names.
 */
#pragma once

#include <stddef.h>

#include "base/text.h"

/* The place of a finding that is none: the node itself has said that its tasks are not going to start. */
enum { RC_BLAMED_BY_ITSELF = 255 };

struct rc_blamed {
    unsigned finding; /* its place among the findings */
    char *name;
    struct rc_str host; /* as the entry has it; absent where there is none */
};

/* Zero it to begin, rc_blame_free to end. The entries' texts must live as long. */
struct rc_blame {
    struct rc_blamed *list; /* one for each finding and node */
    size_t count;
};

void rc_blame_free(struct rc_blame *blame);
