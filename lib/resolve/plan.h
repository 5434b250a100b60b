/* SPDX-License-Identifier: BSD-3-Clause */
/* plan.h - what is done to the environment: one entry a name, each with its reason. */
#ifndef ROLLCALL_RESOLVE_PLAN_H
#define ROLLCALL_RESOLVE_PLAN_H

#include "launcher/facts.h"

enum rc_action {
    RC_SET,   /* set to `value`; a variable that has it already is listed as well */
    RC_UNSET, /* removed: it is there and must not be */
    RC_KEEP,  /* the user's own value stays */
};

enum { RC_PLAN_MAX = 64, RC_REJECTED_MAX = 32 };

struct rc_plan_entry {
    enum rc_action action;
    struct rc_str name; /* ends with a NUL */
    const char *value;  /* NUL-terminated; NULL for RC_UNSET */
    const char *source; /* the variable or rule that the value comes from */
    const char *reason;
    bool changes; /* false: the environment says so already */
};

/* A value that was there and was not believed, for explain. */
struct rc_rejected {
    const char *name;
    struct rc_str value;
    const char *reason;
};

struct rc_plan {
    struct rc_plan_entry entry[RC_PLAN_MAX];
    unsigned count;
    struct rc_rejected rejected[RC_REJECTED_MAX];
    unsigned rejected_count;
    bool full; /* an entry had no room, so nothing may be applied */
};

struct rc_result;

/* The three ways to put an entry into result->plan. Each replaces an earlier entry of
 * the same name. Where the plan has no room, plan.full says so (rc_plan_fits).
 * name ends with a NUL; all texts are borrowed, for the life of the result. */

/* Sets a variable. Returns the value that the environment has, absent where it has none. */
struct rc_str rc_plan_set(struct rc_result *result, struct rc_str name, const char *value, const char *source,
                          const char *reason);

/* Removes a variable. Does nothing where the environment does not have it. */
void rc_plan_unset(struct rc_result *result, struct rc_str name, const char *reason);

/* The variable stays as it is. */
void rc_plan_keep(struct rc_result *result, struct rc_str name, const char *reason);

/* A number, with RC501 where it replaces another value. */
void rc_plan_set_number(struct rc_result *result, struct rc_str name, uint32_t value, const char *source,
                        const char *reason);

/* A number of the identity, with its source. */
void rc_plan_set_field(struct rc_result *result, struct rc_str name, enum rc_field field, const char *reason);

/* Removes those of the names that are there. */
void rc_plan_unset_all(struct rc_result *result, const struct rc_name *names, size_t count, const char *reason);

/* Returns the entry of this name, or NULL. */
struct rc_plan_entry *rc_plan_find(struct rc_plan *plan, struct rc_str name);

/* False, with message RC502, where plan or arena had no room for something: nothing of it may be applied. */
bool rc_plan_fits(struct rc_result *result);

#endif
