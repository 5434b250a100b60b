/* SPDX-License-Identifier: BSD-3-Clause */
/* uneven.h - not as many tasks on each node: works with plain torch; Lightning and whoever multiplies nodes by
 * devices stops with a message that does not name the cause. */
#ifndef ROLLCALL_RESOLVE_UNEVEN_H
#define ROLLCALL_RESOLVE_UNEVEN_H

#include "resolve/result.h"

/* RC301 for the workers of such a layout. */
void rc_uneven_warn(struct rc_result *result);

#endif
