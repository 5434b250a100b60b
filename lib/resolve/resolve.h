/* SPDX-License-Identifier: BSD-3-Clause */
/* resolve.h - the core: environment block in, plan out.
 *
 * rc_resolve() is pure: it reads the environment block and the context, writes
 * the caller's result and nothing else. No I/O, no globals, no allocation, no
 * libc: the preload library compiles the same files with -nostdlib.
 * Thread safety: as safe as its arguments; results are independent.
 *
 *   launcher's variables -> facts -> identity -> mode -> master -> plan
 */
#ifndef ROLLCALL_RESOLVE_RESOLVE_H
#define ROLLCALL_RESOLVE_RESOLVE_H

#include "resolve/result.h"

/* Resolves into *result (some 45 KiB: static or heap storage, not a small
 * stack). Always leaves *result complete; returns result->status. */
enum rc_status rc_resolve(const struct rc_context *context, struct rc_result *result);

/* Takes back what was resolved: status RC_CONTRADICTION, nothing to set, and no
 * identity, master or list of what was not believed that looks as if there were.
 * facts stay as they were read. The message is the caller's. */
void rc_result_refuse(struct rc_result *result, const char *reason);

/* Reads the ROLLCALL variable of the environment into options, as the level
 * below the command line. False: message in messages, options untouched. */
bool rc_options_from_env(const struct rc_env *env, struct rc_options *options, struct rc_messages *messages,
                         struct rc_arena *arena);

#endif
