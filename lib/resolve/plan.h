/* SPDX-License-Identifier: BSD-3-Clause */
/* plan.h - what is done to the environment: one entry a name, each with its reason. */
#ifndef ROLLCALL_RESOLVE_PLAN_H
#define ROLLCALL_RESOLVE_PLAN_H

#include "base/text.h"

enum rc_action {
    RC_SET,   /* to value; a variable that has that value already is listed as well */
    RC_UNSET, /* it is there and must not be */
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
    bool is_new;  /* no variable has this name yet: nobody need look for it */
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
    bool full;
};

/* Adds an entry, in the place of another one for the same name. */
void rc_plan_put(struct rc_plan *plan, struct rc_plan_entry entry);

struct rc_context;
struct rc_result;
struct rc_command;

/* Writes the plan of a decided result (identity, mode, master and visible are there).
 * stamp is the value of RC_STAMP that this process is to carry; is_repeated: it carries
 * one of this launch, task and mode already.
 * False, with a message, if the values do not fit. */
bool rc_plan_make(const struct rc_context *context, struct rc_result *result, const struct rc_command *command,
                  const char *stamp, bool is_repeated);

#endif
