/* SPDX-License-Identifier: BSD-3-Clause */
/* notices.h - what srun's server prints about a step that runs. */
#pragma once

#include "base/message.h"
#include "rendezvous/muster.h"
#include "rendezvous/wire.h"

/* Which process of a step failed first, as far as processes can tell.
 *
 * A process that an exception ends says so before (shim/watch/rollcall_watch.py):
 *
 *   raised=1\ntask=3\nrank=3\nsize=4\nhost=n2\nerror=RuntimeError: out of memory\n
 *
 * The first is the one that the server hears first: the nodes' clocks may differ, and srun's output has no order. One
 * line names it (RC711), when the step has ended, or after two seconds of a step that goes on. */

enum { RC_FAILURE_SIZE = 2048 }; /* bytes of such a text */

struct rc_failure {
    uint32_t task;
    uint32_t rank;    /* RC_UNKNOWN: not known; mp.spawn's parent, say */
    uint32_t size;    /* of the world; RC_UNKNOWN likewise */
    uint32_t attempt; /* of torchrun, which starts its workers again */
    bool killed;      /* by a signal, as torchrun tells of its worker */
    struct rc_str host;
    struct rc_str error;  /* its type and text */
    struct rc_str output; /* the file of its standard error, if it is one */
};

/* Zero it to begin. */
struct rc_failures {
    struct rc_failure first;
    struct rc_failure next; /* the first one with another error */
    char text[2][RC_FAILURE_SIZE];
    int64_t since;
    int64_t after;  /* milliseconds from the first to the next */
    uint32_t alike; /* processes with the first one's error, but for its numbers; 0: none has failed */
    bool said;
};

/* Takes such a text. False, with nothing changed, for any other. */
bool rc_failures_take(struct rc_failures *failures, struct rc_str text, int64_t now);

/* Whether two texts are the same but for numbers, such as that of a GPU, a port or a file. */
bool rc_failures_are_alike(struct rc_str a, struct rc_str b);

/* When rc_failures_say has to be called, even if the step goes on; INT64_MAX: never. */
int64_t rc_failures_due(const struct rc_failures *failures);

/* RC711, once; NULL: there is nothing to say. */
const char *rc_failures_say(struct rc_failures *failures, struct rc_arena *arena);

/* Lines that nodes send about themselves: of a thousand nodes behind one wrong name server each would print one.
 *
 *   reported=1\nid=NUMBER\nnode=3\ntext=n4 resolves ...\n
 *
 * Of those that differ only in numbers and the node's name the first one is printed at once, and then the names of the
 * other nodes. */

enum { RC_REPORT_SIZE = 1024, RC_REPORT_GROUPS = 8 };

struct rc_reports_group {
    uint32_t id;
    uint32_t node; /* the first one that has sent it */
    char text[RC_REPORT_SIZE + 1];
    bool *others; /* one for each node: false for those that the next line names; NULL: the group is free */
    uint32_t more;
    int64_t since;
    bool said;
};

/* Zero it but for `nodes` and `hosts` to begin, rc_reports_free to end. */
struct rc_reports {
    uint32_t nodes;      /* of the step */
    struct rc_str hosts; /* absent: not known */
    struct rc_reports_group group[RC_REPORT_GROUPS];
};

const char *rc_report_write(enum rc_message_id id, uint32_t node, const char *text, struct rc_arena *arena);

/* Takes such a text. False, with nothing changed, for any other, one of more than so many groups, and without memory:
 * the node prints it then. *node has sent it. */
bool rc_reports_take(struct rc_reports *reports, struct rc_str text, int64_t now, uint32_t *node);

int64_t rc_reports_due(const struct rc_reports *reports);

/* The next line; NULL: there is nothing to say. INT64_MAX as the time: all lines. */
const char *rc_reports_say(struct rc_reports *reports, int64_t now, enum rc_message_id *id, struct rc_arena *arena);

void rc_reports_free(struct rc_reports *reports);

/* All of these together. */

/* Called with each line. */
typedef void rc_server_say(enum rc_message_id id, const char *text);

/* Zero it to begin, rc_notices_free to end. */
struct rc_notices {
    rc_server_say *say; /* NULL: nothing is printed */
    struct rc_muster nodes;
    struct rc_muster tasks;
    struct rc_failures failures;
    struct rc_reports reports;
};

/* Print from now on what the settings say, whose hosts must live as long. */
void rc_notices_begin(struct rc_notices *notices, const struct rc_server_settings *settings, uint32_t silence,
                      rc_server_say *say, struct rc_gathers *gathers);
void rc_notices_free(struct rc_notices *notices);

/* A node has called. Nodes are told apart by their numbers alone: two may have one name (RC607). */
void rc_notices_attend(struct rc_gathers *gathers, uint32_t node);

/* Take a failure or a report, and print it. False for any other text: a node prints its report then. */
bool rc_notices_take(struct rc_notices *notices, struct rc_gathers *gathers, struct rc_str text);

/* When rc_notices_speak has to be called even if no message comes; INT64_MAX: never. */
int64_t rc_notices_due(const struct rc_notices *notices, const struct rc_gathers *gathers);

/* Print what is due. */
void rc_notices_speak(struct rc_notices *notices, const struct rc_gathers *gathers);

/* The step has ended, and srun has written `ending`. `cancelled`: it has received a signal, perhaps before its tasks
 * began. */
void rc_notices_end(struct rc_notices *notices, const struct rc_gathers *gathers, char ending, bool cancelled);
