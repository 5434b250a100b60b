/* SPDX-License-Identifier: BSD-3-Clause */
/* resolve.h - the core: environment block in, plan out.
 *
 * rc_resolve() is pure: it reads the environment block and the context, writes
 * the caller's result and nothing else. No I/O, no globals, no allocation, no
 * libc: the preload library compiles the same files with -nostdlib.
 * Thread safety: as safe as its arguments; results are independent.
 *
 *   launcher's variables -> facts -> identity -> mode | master -> plan
 *
 * What is behind the bar depends on what is learned on the way: the nodes' port, the GPUs that may be opened.
 */
#ifndef ROLLCALL_RESOLVE_RESOLVE_H
#define ROLLCALL_RESOLVE_RESOLVE_H

#include "resolve/result.h"

/* Resolves into *result (some 45 KiB: static or heap storage, not a small
 * stack). Always leaves *result complete; returns result->status. */
enum rc_status rc_resolve(const struct rc_context *context, struct rc_result *result);

/* The first half alone, up to the mode: nothing is planned. AUTO where there is no launcher, or an error. */
enum rc_mode rc_resolve_mode(const struct rc_context *context, struct rc_result *result);

/* The second half once more, from master to plan, for a task that rc_resolve has recognised: its mode was worker or
 * launcher, or one of RC_LEARN_TO_PLAN was wanted. What context has got since counts: these, told_port, told_order.
 * Messages of the first time are gone. result->env is as it is: index it again where the block has moved. */
enum rc_status rc_resolve_again(const struct rc_context *context, struct rc_result *result);

/* Takes back what was resolved: status RC_CONTRADICTION, nothing to set, and no
 * identity, master or list of what was not believed that looks as if there were.
 * facts stay as they were read. The message is the caller's. */
void rc_result_refuse(struct rc_result *result, const char *reason);

/* Reads the ROLLCALL variable of the environment into options, as the level
 * below the command line. False: message in messages, options untouched. */
bool rc_options_from_env(const struct rc_env *env, struct rc_options *options, struct rc_messages *messages,
                         struct rc_arena *arena);

#endif
