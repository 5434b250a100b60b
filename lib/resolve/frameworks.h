/* SPDX-License-Identifier: BSD-3-Clause */
/* frameworks.h - variables that one framework alone reads: the table in frameworks.def. */
#ifndef ROLLCALL_RESOLVE_FRAMEWORKS_H
#define ROLLCALL_RESOLVE_FRAMEWORKS_H

#include "base/env.h"

struct rc_result;

struct rc_framework_variable {
    struct rc_str name;
    const char *value; /* NULL where this task does not need the variable */
    const char *source;
    const char *reason;
};

enum rc_framework_index {
#define ROLLCALL_FRAMEWORK(name, function, source, reason) RC_FRAMEWORK_##function,
#include "resolve/frameworks.def"
#undef ROLLCALL_FRAMEWORK
    RC_FRAMEWORK_COUNT
};

/* Returns a row of the table for a result whose identity, mode and master are decided. */
struct rc_framework_variable rc_framework_variable(struct rc_result *result, enum rc_framework_index index);

#endif
