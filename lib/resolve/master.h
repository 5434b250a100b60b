/* SPDX-License-Identifier: BSD-3-Clause */
/* master.h - MASTER_ADDR and MASTER_PORT. */
#ifndef ROLLCALL_RESOLVE_MASTER_H
#define ROLLCALL_RESOLVE_MASTER_H

#include "resolve/result.h"

/* Fills in result->master for worker and launcher mode. The user's own values
 * are kept where they can work, unless result->stamp_is_outer. False, with a message, where nothing says on
 * which host RANK 0 is. */
bool rc_master_find(const struct rc_context *context, struct rc_result *result);

/* The port that all tasks of a launch compute alike: in a window outside of
 * first..last (the node's net.ipv4.ip_local_port_range, 0 if not known), in
 * steps of four because Megatron uses the next two as well, and different for
 * any two steps of one job. *outside tells whether such a window was found. */
uint16_t rc_master_port(const uint64_t seed[2], uint16_t first, uint16_t last, bool *outside);

#endif
