/* SPDX-License-Identifier: BSD-3-Clause */
/* preloading.h - one more library of rollcall's in LD_PRELOAD of a task. */
#ifndef ROLLCALL_RESOLVE_PRELOADING_H
#define ROLLCALL_RESOLVE_PRELOADING_H

#include "resolve/result.h"

/* Has the plan put a file behind the user's own and whatever it puts there already;
 * once. `source` and `reason` are for explain. False, and the plan stays, where the
 * list would be too long. */
bool rc_preloading_add(struct rc_result *result, struct rc_str file, const char *source, const char *reason);

#endif
