/* SPDX-License-Identifier: BSD-3-Clause */
/* server.h - entries in, one answer out; who has arrived. */
#pragma once

#include "base/message.h"
#include "rendezvous/wire.h"
#include "roll/roll.h"

/* The rendezvous server of a launch: takes one entry from each node, gives all the same answer.
 *
 * As long as it runs it also keeps the store of the launch's tasks (store.h), and
 * counts which tasks have reached init_process_group (below).
 *
 * A listening TCP socket, a token that every message must carry (wire.h), and one loop (connections.h). Entries that
 * cannot be read are refused. */

struct rc_server;

/* listener: of rc_listen, owned by the server from now on; life: a descriptor whose other end holds the server, or -1;
 * token is copied. NULL without memory or descriptors. */
struct rc_server *rc_server_create(int listener, int life, const char *token);
void rc_server_destroy(struct rc_server *server);

/* The entry of the server's own node, which has no connection. False if it cannot be read. */
bool rc_server_add(struct rc_server *server, struct rc_str entry);

/* Called with each message that the server itself has, while it runs. */
typedef void rc_server_say(enum rc_message_id id, const char *text);

/* `say` gets the names of tasks that have not reached init_process_group, of the process that failed first, and of
 * nodes that have not called (below), as the settings want it, whose hosts must live as long: `silence` seconds after
 * now, or after the first node, and once more at the end of the server's life. */
void rc_server_watch(struct rc_server *server, const struct rc_server_settings *settings, uint32_t silence,
                     rc_server_say *say);

/* Which nodes have called (below). */
struct rc_callers *rc_server_callers(struct rc_server *server);

/* Makes an answer of the entries; `complete` says whether those of all nodes are there. Returns its text. */
typedef struct rc_str rc_server_decide(void *more, const struct rc_roll *rolls, size_t count, bool complete);

/* Take entries until all nodes that they count have come, but no longer than `seconds` after the last of them, and
 * RC_MEETING_MOST times as long after the first. Then have an answer made (`decide` NULL: a refusal), and send it to
 * all. With a `life`, go on sending that answer to late nodes until `life` is closed at its other end. Closed before
 * there is an answer, it ends everything. Without one, return when all have their answer. Return 0 or -ENOMEM. */
int rc_server_run(struct rc_server *server, uint32_t seconds, rc_server_decide *decide, void *more);

/* Which tasks of a step have reached init_process_group, and which have not when it is time to ask.
 *
 * A task's process says "reached=3 4\n", its task and how many there are, when it gets there
 * (shim/watch/rollcall_watch.py). Several processes of one task count once. Some seconds after the first arrival one
 * line names the missing tasks (RC707). If they come later, another line says so (RC708).
 * Nothing is said again for a second process group.
 * The caller passes the time: `now` is in milliseconds. */

/* Zero it but for `seconds` and `job` to begin, rc_arrivals_free to end. */
struct rc_arrivals {
    uint32_t seconds; /* after the first arrival; 0: never say anything */
    uint32_t job;     /* Slurm's, for the command in RC707; 0: not known */
    uint32_t tasks;   /* of the step; 0: no task has come yet */
    uint32_t count;   /* tasks that have come */
    bool *come;       /* one for each */
    int64_t first;
    bool named; /* RC707 has been said */
    bool done;  /* there is nothing left to say */
};

/* Takes a text that begins with RC_SERVER_REACHED. `tasks` is how many the step has; 0: not known. Returns false,
 * and changes nothing, for a malformed text, a task that the step does not have, and
 * without memory. */
bool rc_arrivals_take(struct rc_arrivals *arrivals, struct rc_str text, uint32_t tasks, int64_t now);

/* When rc_arrivals_say has to be called even if no task comes until then; INT64_MAX: never. */
int64_t rc_arrivals_due(const struct rc_arrivals *arrivals);

/* What is to be said now, once; NULL: nothing. Tasks are named with the hosts of
 * the roll's entries, as far as there are any. */
const char *rc_arrivals_say(struct rc_arrivals *arrivals, const struct rc_roll *rolls, size_t count, int64_t now,
                            enum rc_message_id *id, struct rc_arena *arena);

void rc_arrivals_free(struct rc_arrivals *arrivals);

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

/* Takes a text that begins with RC_SERVER_RAISED. False, with nothing changed, for a malformed one. */
bool rc_failures_take(struct rc_failures *failures, struct rc_str text, int64_t now);

/* Whether two texts are the same but for numbers, such as that of a GPU, a port or a file. */
bool rc_failures_are_alike(struct rc_str a, struct rc_str b);

/* When rc_failures_say has to be called, even if the step goes on; INT64_MAX: never. */
int64_t rc_failures_due(const struct rc_failures *failures);

/* RC711, once; NULL: there is nothing to say. */
const char *rc_failures_say(struct rc_failures *failures, struct rc_arena *arena);

/* Which nodes of a step have called srun's server, with their entry or a greeting, and which have not.
 *
 * Those that have not are named once (RC621); if all of them come later, another line says so (RC623). Nothing is
 * certain before the step has ended: a plugin before rollcall may take minutes in task_init, to unpack an image. */

/* Zero it to begin: no node is expected then. rc_callers_free to end. */
struct rc_callers {
    uint32_t nodes;
    uint32_t count; /* that have called */
    bool *called;   /* one for each */
    struct rc_str hosts;
    uint32_t seconds;
    int64_t begun;
    int64_t started; /* when Slurm had started all tasks; -1: not yet */
    int64_t since;   /* the tasks' start, or the first call after it */
    bool named;      /* those that are missing */
    bool awaited;    /* some have been named: it is said when all have called */
};

bool rc_callers_expect(struct rc_callers *callers, struct rc_str hosts, uint32_t nodes, uint32_t seconds, int64_t now);

/* Call it when Slurm has started all tasks. Before that a prolog may run, and nothing is printed. */
void rc_callers_start(struct rc_callers *callers, int64_t now);

/* Takes an entry or a greeting, of any release: its line node=. */
void rc_callers_take(struct rc_callers *callers, struct rc_str text, int64_t now);

/* Call it before the missing nodes are named elsewhere (RC601). Return whether they have been named already. */
bool rc_callers_name(struct rc_callers *callers);

/* When rc_callers_say has to be called even if no node calls until then; INT64_MAX: never. */
int64_t rc_callers_due(const struct rc_callers *callers);

/* What is to be said now, once; NULL: nothing. */
const char *rc_callers_say(struct rc_callers *callers, int64_t now, enum rc_message_id *id, struct rc_arena *arena);

/* RC621 at the end of the step; NULL: there is nothing to say. */
const char *rc_callers_end(const struct rc_callers *callers, enum rc_ending ending, struct rc_arena *arena);

void rc_callers_free(struct rc_callers *callers);

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

/* Zero it to begin, rc_reports_free to end. */
struct rc_reports {
    struct rc_reports_group group[RC_REPORT_GROUPS];
};

const char *rc_report_write(enum rc_message_id id, uint32_t node, const char *text, struct rc_arena *arena);

/* Takes a text that begins with RC_SERVER_REPORTED. False, with nothing changed, for a malformed one, one of more than
 * so many groups, and without memory: the node prints it then. The node has called (above). */
bool rc_reports_take(struct rc_reports *reports, struct rc_str text, struct rc_callers *callers, int64_t now);

int64_t rc_reports_due(const struct rc_reports *reports);

/* The next line; NULL: there is nothing to say. INT64_MAX as the time: all lines. */
const char *rc_reports_say(struct rc_reports *reports, const struct rc_callers *callers, int64_t now,
                           enum rc_message_id *id, struct rc_arena *arena);

void rc_reports_free(struct rc_reports *reports);

/* Writes "ranks 2-3 on n2 did not make this call", where srun's server, which may be NULL, says on which node each is.
 * False, with nothing written, if all have come. */
bool rc_missing_ask(const struct rc_endpoint *server, const bool *come, uint32_t all, struct rc_arena *arena);
