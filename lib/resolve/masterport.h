/* SPDX-License-Identifier: BSD-3-Clause */
/* masterport.h - MASTER_PORT: told by rank 0, asked for, reserved, or computed by all alike. */
#ifndef ROLLCALL_RESOLVE_MASTERPORT_H
#define ROLLCALL_RESOLVE_MASTERPORT_H

#include "resolve/result.h"

/* Fills in the port of result->master, whose address is known, with a message where the user's own one cannot
 * work. */
void rc_masterport_find(const struct rc_context *context, struct rc_result *result);

/* The port that all tasks of a launch compute alike: in a window outside of
 * first..last (the node's net.ipv4.ip_local_port_range, 0 if not known), in
 * steps of four because Megatron uses the next two as well, and different for
 * any two steps of one job. *outside tells whether such a window was found. */
uint16_t rc_masterport_compute(const uint64_t seed[2], uint16_t first, uint16_t last, bool *outside);

#endif
