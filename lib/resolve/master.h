/* SPDX-License-Identifier: BSD-3-Clause */
/* master.h - MASTER_ADDR, and with its port (masterport.h) the whole result->master. */
#ifndef ROLLCALL_RESOLVE_MASTER_H
#define ROLLCALL_RESOLVE_MASTER_H

#include "resolve/result.h"

/* Fills in result->master for worker and launcher mode. The user's own values
 * are kept where they can work, unless result->stamp_is_outer. False, with a message, where nothing says on
 * which host RANK 0 is. */
bool rc_master_find(const struct rc_context *context, struct rc_result *result);

/* Returns RANK 0's address with this port, as an endpoint, in the result's arena; result->master is known. */
const char *rc_master_endpoint(struct rc_result *result, uint32_t port);

#endif
