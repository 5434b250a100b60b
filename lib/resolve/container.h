/* SPDX-License-Identifier: BSD-3-Clause */
/* container.h - a task in a container: which files of the node its programs find. */
#ifndef ROLLCALL_RESOLVE_CONTAINER_H
#define ROLLCALL_RESOLVE_CONTAINER_H

#include "resolve/result.h"

/* Why the task's programs do not find rollcall's file of that name, as part of a
 * message; or NULL. `file` is its path, absent where this process does not find it.
 *
 * Where the task is in its container already, that has been seen. Where its
 * command starts one, the file is taken to be there if the command's words
 * (--bind /opt/rollcall) or the runtime's own variable (APPTAINER_BIND) mount its
 * folder, or one above it: a loader says of each program in there what it does
 * not find. */
const char *rc_container_hides(const struct rc_context *context, struct rc_result *result, struct rc_str file,
                               const char *name);

/* Warns where the command starts a container that hands none of the variables on. */
void rc_container_warn(const struct rc_context *context, struct rc_result *result);

#endif
