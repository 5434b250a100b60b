/* SPDX-License-Identifier: BSD-3-Clause */
/* notices.h - lines of srun's server about a running step. */
#pragma once

#include "base/message.h"
#include "rendezvous/muster.h"
#include "rendezvous/wire.h"

/* The process that failed first reports its exception (shim/watch/rollcall_watch.py):
 *
 *   raised=1\ntask=3\nrank=3\nsize=4\nhost=n2\nerror=RuntimeError: out of memory\n
 *
 * Order of receipt counts: clocks differ, and srun's output is unordered. RC711 names it when the step ends, or after
 * two seconds. */

enum { RC_FAILURE_SIZE = 2048 }; /* bytes of a report */

struct rc_failure {
    uint32_t task;
    uint32_t rank;    /* RC_UNKNOWN: as in mp.spawn's parent */
    uint32_t size;    /* of the world; RC_UNKNOWN: unknown */
    uint32_t attempt; /* torchrun's restart count */
    bool killed;      /* by a signal, as torchrun reported */
    struct rc_str host;
    struct rc_str error;  /* type and text */
    struct rc_str output; /* file of its standard error, if any */
};

/* Zero it to begin. */
struct rc_failures {
    struct rc_failure first;
    struct rc_failure next; /* first one with a different error */
    char text[2][RC_FAILURE_SIZE];
    int64_t since;
    int64_t after;  /* milliseconds between the two */
    uint32_t alike; /* failures with the first error, ignoring numbers */
    bool said;
};

/* Record a failure report. Return false for any other text. */
bool rc_failures_take(struct rc_failures *failures, struct rc_str text, int64_t now);

/* Return whether two texts are equal except for numbers. */
bool rc_failures_are_alike(struct rc_str a, struct rc_str b);

/* Return when rc_failures_say is due; INT64_MAX: never. */
int64_t rc_failures_due(const struct rc_failures *failures);

/* Return RC711, once; or NULL. */
const char *rc_failures_say(struct rc_failures *failures, struct rc_arena *arena);

/* Lines from nodes: a thousand may find the same broken name server.
 *
 *   reported=1\nid=NUMBER\nnode=3\ntext=n4 resolves ...\n
 *
 * Among lines that differ only in numbers and the node's name, print the first at once, then the names of the other
 * nodes. */

enum { RC_REPORT_SIZE = 1024, RC_REPORT_GROUPS = 8 };

struct rc_reports_group {
    uint32_t id;
    uint32_t node; /* first sender */
    char text[RC_REPORT_SIZE + 1];
    bool *others; /* false for nodes that the next line must name; NULL: a free group */
    uint32_t more;
    int64_t since;
    bool said;
};

/* Zero it except `nodes` and `hosts`; end with rc_reports_free. */
struct rc_reports {
    uint32_t nodes;      /* of the step */
    struct rc_str hosts; /* unset: unknown */
    struct rc_reports_group group[RC_REPORT_GROUPS];
};

const char *rc_report_write(enum rc_message_id id, uint32_t node, const char *text, struct rc_arena *arena);

/* Record a report from *node. Return false for any other text, too many groups, or lack of memory: the node prints
 * it. */
bool rc_reports_take(struct rc_reports *reports, struct rc_str text, int64_t now, uint32_t *node);

int64_t rc_reports_due(const struct rc_reports *reports);

/* Return the next line, or NULL; all are due at INT64_MAX. */
const char *rc_reports_say(struct rc_reports *reports, int64_t now, enum rc_message_id *id, struct rc_arena *arena);

void rc_reports_free(struct rc_reports *reports);

/* Called with each line. */
typedef void rc_server_say(enum rc_message_id id, const char *text);

/* Zero it to begin; end with rc_notices_free. */
struct rc_notices {
    rc_server_say *say; /* NULL: off */
    struct rc_muster nodes;
    struct rc_muster tasks;
    struct rc_failures failures;
    struct rc_reports reports;
};

/* Print what the settings enable. Their hosts must outlive the notices. */
void rc_notices_begin(struct rc_notices *notices, const struct rc_server_settings *settings, uint32_t silence,
                      rc_server_say *say, struct rc_gathers *gathers);
void rc_notices_free(struct rc_notices *notices);

/* Record a call from a node, by number: two may share a name (RC607). */
void rc_notices_attend(struct rc_gathers *gathers, uint32_t node);

/* Record and print a failure or a report. Return false for any other text: the node prints it. */
bool rc_notices_take(struct rc_notices *notices, struct rc_gathers *gathers, struct rc_str text);

/* Return when rc_notices_speak is due; INT64_MAX: never. */
int64_t rc_notices_due(const struct rc_notices *notices, const struct rc_gathers *gathers);

/* Print all due lines. */
void rc_notices_speak(struct rc_notices *notices, const struct rc_gathers *gathers);

/* Call after the step; srun wrote `ending`. `cancelled`: it received a signal, perhaps before its tasks began. */
void rc_notices_end(struct rc_notices *notices, const struct rc_gathers *gathers, char ending, bool cancelled);
