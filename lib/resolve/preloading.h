/* SPDX-License-Identifier: BSD-3-Clause */
/* preloading.h - one more library of rollcall's in LD_PRELOAD of a task. */
#ifndef ROLLCALL_RESOLVE_PRELOADING_H
#define ROLLCALL_RESOLVE_PRELOADING_H

#include "resolve/result.h"

/* Plans to add a file to LD_PRELOAD, behind the user's own files and those planned before,
 * and only once. `source` and `reason` are for explain. False, with the plan untouched,
 * where the list would be too long. */
bool rc_preloading_add(struct rc_result *result, struct rc_str file, const char *source, const char *reason);

#endif
