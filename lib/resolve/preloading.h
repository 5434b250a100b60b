/* SPDX-License-Identifier: BSD-3-Clause */
/* preloading.h - one more library of rollcall's in LD_PRELOAD of a task. */
#ifndef ROLLCALL_RESOLVE_PRELOADING_H
#define ROLLCALL_RESOLVE_PRELOADING_H

#include "resolve/result.h"

/* How a line ends that says what rc_preloading_add has returned. */
#define RC_PRELOADING_CURE "install all of rollcall where the tasks see it, or shorten LD_PRELOAD"

/* Plans to add a file of that name to LD_PRELOAD, behind the user's own files and those planned before,
 * and only once. `file` is its path, absent where this process does not find it; `source` and `reason` are for
 * explain. Returns NULL; or why the task's programs would not load it, with the plan untouched. */
const char *rc_preloading_add(const struct rc_context *context, struct rc_result *result, struct rc_str file,
                              const char *name, const char *source, const char *reason);

#endif
