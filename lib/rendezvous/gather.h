/* SPDX-License-Identifier: BSD-3-Clause */
/* gather.h - what the server is for: expect so many members, collect what they bring, name the missing.
 *
 * A member sends
 *
 *   gather NAME MEMBER OF EACH MOST TO\nVALUE
 *
 * and the server collects the values of one name until OF members have arrived, or until the time is over: EACH
 * milliseconds after the latest arrival, but no later than MOST milliseconds after any. OF is the lowest that a member
 * gives. Then all members get the same reply, and so does one that comes late:
 *
 *   gathered COUNT OF MISSING\n    MISSING: a text that names who has not come; none if all have
 *   MEMBER SIZE\nBYTES             of each that has arrived, in the order of arrival
 *
 * TO `first`: only the member with the lowest number gets the values, the others the first line; for one that comes
 * late COUNT is 0. A barrier has empty values. A broadcast is a gather of one member, and the others wait with `-` for
 * MEMBER, as long as they like. Two processes that have the same number count as two: each member finds it twice in the
 * reply. A member that hangs up while it waits has not come.
 * The gather `roll` is the roll call: its reply is what rc_server_decide has made of the values.
 *
 *   attend NAME MEMBER OF\n
 *
 * A member without a value that does not wait, as often as it likes. The server prints which members of `nodes` and
 * `tasks` have not attended (muster.h). Its reply is empty.
 *
 *   look NAME\n
 *
 * Its reply has those that have arrived, at once.
 *
 * The server's end closes all connections; what was gathered goes with it. A gather that all members have their reply
 * of is forgotten; the value of a broadcast, and a gather that ended without a member, stay. The server keeps
 * RC_GATHER_SIZE_MAX bytes of values and replies: a gather that does not fit ends, and each member's reply is "full\n".
 *
 * Limits: a name has RC_GATHER_NAME_MAX letters, digits and ._:/- ; there are RC_MAX_TASKS members, whose numbers are
 * below OF unless that is 1; a value has RC_GATHER_VALUE_MAX bytes. */
#pragma once

#include "base/text.h"
#include "rendezvous/connections.h"
#include "roll/names.h"

enum {
    RC_GATHER_NAME_MAX = 128,
    RC_GATHER_VALUE_MAX = 1 << 20,
    RC_GATHER_SIZE_MAX = 1 << 26,
    RC_GATHER_HEAD_MAX = 256, /* bytes of a request before its value */
};

/* The reply to a late member of a gather whose first member has all. */
#define RC_GATHERED_NOTHING "gathered 0 1\n"

#define RC_GATHER_ROLL  "roll"  /* nodes of the step, with their entries */
#define RC_GATHER_NODES "nodes" /* nodes of the step that run the plugin */
#define RC_GATHER_TASKS "tasks" /* tasks of the step that have reached init_process_group */

/* A name that begins so is of tasks of the step: the roll call has the hosts of those that are missing. */
#define RC_GATHER_OF_TASKS "task/"

struct rc_gather_request {
    struct rc_str name;
    uint32_t member; /* RC_UNKNOWN: it only waits */
    uint32_t of;
    uint32_t each; /* milliseconds */
    uint32_t most;
    bool to_first;
    enum { RC_GATHERS, RC_ATTENDS, RC_LOOKS } verb;
    struct rc_str value;
};

bool rc_gather_is_name(struct rc_str name);

/* Slices of the text. False for any other text. */
bool rc_gather_request_read(struct rc_str text, struct rc_gather_request *request);

/* Write a request without its value. */
const char *rc_gather_request_write(const struct rc_gather_request *request, struct rc_arena *arena);

/* A reply. */
struct rc_gathered {
    uint32_t count;
    uint32_t of;
    struct rc_str missing;
    struct rc_str list; /* for rc_gathered_next */
};

/* Slices of the text. Return 0; -ENOSPC if the server has no room; -EPROTO for a malformed reply. */
int rc_gathered_read(struct rc_str text, struct rc_gathered *gathered);

/* Take the next member off the list. False at its end. */
bool rc_gathered_next(struct rc_str *list, uint32_t *member, struct rc_str *value);

/* The server's side. The caller passes the time, in milliseconds. */

struct rc_arrival {
    uint32_t member;
    uint32_t each;
    int64_t end; /* of its own time */
    struct rc_str value;
};

struct rc_gather {
    struct rc_link link; /* first: in the queue of those that are not over */
    char *name;
    uint32_t of;
    struct rc_arrival *list; /* in the order of arrival */
    uint32_t count;
    uint32_t list_room;
    bool *come;    /* whether each has come, also without a value, or late */
    uint32_t room; /* of `come` */
    uint32_t came;
    int64_t begun; /* when the first came */
    int64_t last;  /* when the latest arrived */
    int64_t end;   /* at the latest; INT64_MAX: no member has a time */
    uint32_t each; /* of the one whose time is over first */
    bool to_first;
    bool over;
    bool is_full;            /* there was no room for a value */
    bool keeps;              /* the values, and the gather itself */
    uint32_t first;          /* the lowest number of a member */
    uint32_t served;         /* members that got the reply */
    struct rc_body *reply;   /* of the first, or of all; NULL: not yet */
    size_t head;             /* bytes of its first line */
    struct rc_queue waiting; /* connections */
};

static inline struct rc_gather *rc_gather_of(struct rc_link *link)
{
    return (struct rc_gather *)(void *)link;
}

/* Zero it to begin. */
struct rc_gathers {
    void *tree; /* of struct rc_gather, by name */
    struct rc_queue open;
    size_t size; /* bytes of all values and replies */
};

void rc_gathers_free(struct rc_gathers *gathers);

/* Find the gather of that name, or add one of so many members; NULL without memory. */
struct rc_gather *rc_gathers_find(struct rc_gathers *gathers, struct rc_str name, uint32_t of);

/* The gather of that name; NULL if there is none. */
struct rc_gather *rc_gathers_look(const struct rc_gathers *gathers, const char *name);

/* Add a member. A gather that is over or whole, or has no room for it, keeps only that it has come. */
void rc_gather_arrive(struct rc_gathers *gathers, struct rc_gather *gather, const struct rc_gather_request *request,
                      int64_t now);

/* Forget a member that has hung up. */
void rc_gather_depart(struct rc_gathers *gathers, struct rc_gather *gather, uint32_t member);

/* Note that a member has come. */
void rc_gather_attend(struct rc_gather *gather, uint32_t member, int64_t now);

static inline bool rc_gather_has(const struct rc_gather *gather, uint32_t member)
{
    return member < gather->room && gather->come[member];
}

static inline bool rc_gather_has_all(const struct rc_gather *gather)
{
    return gather->came >= gather->of;
}

/* Whether all have arrived. */
bool rc_gather_is_whole(const struct rc_gather *gather);

/* When the time of a gather is over; INT64_MAX: it has none. */
int64_t rc_gather_due(const struct rc_gather *gather);

/* When the first of the open ones is due; INT64_MAX: none. */
int64_t rc_gathers_due(const struct rc_gathers *gathers);

/* Postpone all of them: the server was suspended for so long. */
void rc_gathers_postpone(struct rc_gathers *gathers, int64_t milliseconds);

/* The text of a reply, and the size of its first line. `missing` may be NULL. NULL without memory. */
struct rc_body *rc_gather_write(const struct rc_gather *gather, const char *missing, size_t *head);

/* End a gather with this reply, or with the one above if `text` is absent. Keep its values if `keeps`. `missing` may be
 * NULL. */
void rc_gather_end(struct rc_gathers *gathers, struct rc_gather *gather, struct rc_str text, const char *missing,
                   bool keeps);

/* Give a connection its reply, of a gather that is over. */
void rc_gather_serve(struct rc_gather *gather, struct rc_connection *connection);

/* Give a connection what has arrived in the gather of that name. False without memory. */
bool rc_gathers_show(const struct rc_gathers *gathers, struct rc_str name, struct rc_connection *connection);

/* Forget the gather if all of its members have their reply. */
void rc_gathers_tidy(struct rc_gathers *gathers, struct rc_gather *gather);
