/* SPDX-License-Identifier: BSD-3-Clause */
/* ownnics.h - RC_NICS_OWN: which network variables nic=auto has set, and to what, as "NAME=VALUE NAME=VALUE ...". */
#ifndef ROLLCALL_RESOLVE_OWNNICS_H
#define ROLLCALL_RESOLVE_OWNNICS_H

#include "resolve/result.h"

/* Whether the variable has the value that an earlier rollcall set it to, and so is not the
 * user's. */
bool rc_own_nics_have(const struct rc_result *result, struct rc_str name, struct rc_str now);

/* Returns the list `own` ("" for an empty one) with one more variable. The text is in the arena. */
const char *rc_own_nics_add(const char *own, struct rc_str name, const char *value, struct rc_arena *arena);

#endif
