/* SPDX-License-Identifier: BSD-3-Clause */
/* precedence.h - which option holds: the command line's before the environment's before the administrator's. */
#ifndef ROLLCALL_RESOLVE_PRECEDENCE_H
#define ROLLCALL_RESOLVE_PRECEDENCE_H

#include "resolve/option.h"

enum { RC_DEADLINE_DEFAULT = 10 };

/* The three sources in their order of precedence, each possibly NULL or not
 * given: a key that one leaves open is taken from the next. Two exceptions for
 * "off": ROLLCALL=off wins over everything, because a user must be able to
 * switch rollcall off in one place; an administrator's off only means "not
 * unless asked for". In the result `given` says whether to act at all, and
 * `by_user` whether a user asked for it, not the administrator's default. */
struct rc_options rc_options_combine(const struct rc_options *command_line, const struct rc_options *environment,
                                     const struct rc_options *administrator);

/* The values that hold, with their defaults: 10 seconds; and check=stop if a user asked
 * for rollcall, check=warn if only the administrator did. */
uint32_t rc_options_deadline(const struct rc_options *options);
enum rc_check rc_options_check(const struct rc_options *options);

/* same=warn if a user asked for rollcall, same=off if only the administrator did. */
enum rc_check rc_options_same(const struct rc_options *options);

#endif
