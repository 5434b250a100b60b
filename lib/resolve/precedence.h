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
 * unless asked for". Of the result, `given` says whether to act at all, and
 * `by_user` whether a user, not the administrator's default, asked for it. */
struct rc_options rc_options_combine(const struct rc_options *command_line, const struct rc_options *environment,
                                     const struct rc_options *administrator);

/* What holds where nothing was said: 10 seconds; and a contradiction stops a
 * step that its user asked for, but not one that the administrator did. */
uint32_t rc_options_deadline(const struct rc_options *options);
enum rc_check rc_options_check(const struct rc_options *options);

#endif
