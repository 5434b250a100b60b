/* SPDX-License-Identifier: BSD-3-Clause */
/* gather.h - collect a value from each member of a group, and name the missing ones.
 *
 * A member sends
 *
 *   gather NAME MEMBER OF EACH MOST TO\nVALUE
 *
 * and the server waits for OF members (the lowest OF given), until EACH milliseconds after the latest arrival, at most
 * MOST milliseconds after any. All members, also late ones, get the same reply:
 *
 *   gathered COUNT OF MISSING\n    MISSING names the missing members
 *   MEMBER SIZE\nBYTES             for each member, in order of arrival
 *
 * With TO `first` only the lowest member gets the values, and late members COUNT 0. A barrier has empty values. A
 * broadcast has one member; the others wait without a limit, with `-` for MEMBER. Duplicate members both count. A
 * member that disconnects is removed. rc_server_decide makes the reply of `roll`, the roll call.
 *
 *   attend NAME MEMBER OF\n
 *
 * Record a member, without a value or a wait; the reply is empty. The server prints the members missing in `nodes` and
 * `tasks` (muster.h).
 *
 *   look NAME\n
 *
 * Reply at once with the members so far.
 *
 * A gather is freed when all members have its reply; broadcasts and gathers with missing members stay. If values and
 * replies exceed RC_GATHER_SIZE_MAX bytes, a gather ends with the reply "full\n".
 *
 * A name has RC_GATHER_NAME_MAX letters, digits and ._:/- ; members are below OF unless OF is 1, and RC_MAX_TASKS; a
 * value has RC_GATHER_VALUE_MAX bytes. */
#pragma once

#include "base/text.h"
#include "rendezvous/connections.h"
#include "roll/names.h"

enum {
    RC_GATHER_NAME_MAX = 128,
    RC_GATHER_VALUE_MAX = 1 << 20,
    RC_GATHER_SIZE_MAX = 1 << 26,
    RC_GATHER_HEAD_MAX = 256, /* without the value */
};

/* The reply to a late member of a gather `first`. */
#define RC_GATHERED_NOTHING "gathered 0 1\n"

#define RC_GATHER_ROLL  "roll"  /* entries of the step's nodes */
#define RC_GATHER_NODES "nodes" /* nodes that run the plugin */
#define RC_GATHER_TASKS "tasks" /* tasks that reached init_process_group */

/* Prefix of names whose members are tasks. */
#define RC_GATHER_OF_TASKS "task/"

struct rc_gather_request {
    struct rc_str name;
    uint32_t member; /* RC_UNKNOWN: only waits */
    uint32_t of;
    uint32_t each; /* milliseconds */
    uint32_t most;
    bool to_first;
    enum { RC_GATHERS, RC_ATTENDS, RC_LOOKS } verb;
    struct rc_str value;
};

bool rc_gather_is_name(struct rc_str name);

/* Parse a request into slices. Return false if malformed. */
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

/* Parse a reply into slices. Return 0; -ENOSPC if the server was full; -EPROTO if malformed. */
int rc_gathered_read(struct rc_str text, struct rc_gathered *gathered);

/* Take the next member off the list. Return false at the end. */
bool rc_gathered_next(struct rc_str *list, uint32_t *member, struct rc_str *value);

/* The server's side. Times are in milliseconds. */

struct rc_arrival {
    uint32_t member;
    uint32_t each;
    int64_t end; /* of this member */
    struct rc_str value;
};

struct rc_gather {
    struct rc_link link; /* first: in the queue of open gathers */
    char *name;
    uint32_t of;
    struct rc_arrival *list; /* in order of arrival */
    uint32_t count;
    uint32_t list_room;
    bool *come;    /* arrived or attended, even late */
    uint32_t room; /* size of `come` */
    uint32_t came;
    int64_t begun; /* first arrival or attendance */
    int64_t last;  /* latest arrival */
    int64_t end;   /* earliest of a member; INT64_MAX: none */
    uint32_t each; /* of that member */
    bool to_first;
    bool over;
    bool is_full;            /* a value did not fit */
    bool keeps;              /* of values and gather */
    uint32_t first;          /* lowest member */
    uint32_t served;         /* members with a reply */
    struct rc_body *reply;   /* NULL until the end */
    size_t head;             /* bytes of the first line */
    struct rc_queue waiting; /* connections */
};

static inline struct rc_gather *rc_gather_of(struct rc_link *link)
{
    return (struct rc_gather *)(void *)link;
}

/* Zero it to begin. */
struct rc_gathers {
    void *tree; /* struct rc_gather by name */
    struct rc_queue open;
    size_t size; /* bytes of values and replies */
};

void rc_gathers_free(struct rc_gathers *gathers);

/* Find or add a gather with `of` members. Return NULL without memory. */
struct rc_gather *rc_gathers_find(struct rc_gathers *gathers, struct rc_str name, uint32_t of);

/* Find a gather, or return NULL. */
struct rc_gather *rc_gathers_look(const struct rc_gathers *gathers, const char *name);

/* Add a member. If over, complete or full, record only its arrival. */
void rc_gather_arrive(struct rc_gathers *gathers, struct rc_gather *gather, const struct rc_gather_request *request,
                      int64_t now);

/* Remove a disconnected member. */
void rc_gather_depart(struct rc_gathers *gathers, struct rc_gather *gather, uint32_t member);

/* Record a member. */
void rc_gather_attend(struct rc_gather *gather, uint32_t member, int64_t now);

static inline bool rc_gather_has(const struct rc_gather *gather, uint32_t member)
{
    return member < gather->room && gather->come[member];
}

static inline bool rc_gather_has_all(const struct rc_gather *gather)
{
    return gather->came >= gather->of;
}

/* Return whether all members have arrived. */
bool rc_gather_is_whole(const struct rc_gather *gather);

/* Return the deadline; INT64_MAX: none. */
int64_t rc_gather_due(const struct rc_gather *gather);

/* Return the earliest deadline of open gathers; INT64_MAX: none. */
int64_t rc_gathers_due(const struct rc_gathers *gathers);

/* Postpone all deadlines after a suspension. */
void rc_gathers_postpone(struct rc_gathers *gathers, int64_t milliseconds);

/* Return the reply, and the size of its first line; NULL without memory. `missing` may be NULL. */
struct rc_body *rc_gather_write(const struct rc_gather *gather, const char *missing, size_t *head);

/* End a gather with the reply `text`, or rc_gather_write's if text.p is NULL. */
void rc_gather_end(struct rc_gathers *gathers, struct rc_gather *gather, struct rc_str text, const char *missing,
                   bool keeps);

/* Reply to a connection from a finished gather. */
void rc_gather_serve(struct rc_gather *gather, struct rc_connection *connection);

/* Reply with the current members. Return false without memory. */
bool rc_gathers_show(const struct rc_gathers *gathers, struct rc_str name, struct rc_connection *connection);

/* Free the gather if all members have its reply. */
void rc_gathers_tidy(struct rc_gathers *gathers, struct rc_gather *gather);
