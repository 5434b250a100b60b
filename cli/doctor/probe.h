/* SPDX-License-Identifier: BSD-3-Clause */
/* probe.h - one connection to a port of another node, and the listener that it may find there. */
#ifndef ROLLCALL_CLI_DOCTOR_PROBE_H
#define ROLLCALL_CLI_DOCTOR_PROBE_H

#include <stdint.h>
#include <sys/types.h>

#include "base/netaddr.h"
#include "rendezvous/wire.h"

/* Opens one connection and closes it again, by `deadline` (rc_milliseconds). With a
 * token the peer must send it. Returns 0 or an errno: EBADMSG where another program
 * answers, which does not send the token. Without a token a refused connection is 0,
 * too: so does a port that is held and not listened on. */
int doctor_probe(const struct rc_netaddr *address, uint16_t port, const char *token, int64_t deadline);

/* Starts a child that listens at a port which this task may hold, as torch would,
 * and sends the token on each connection. It ends with this process, or after a
 * minute. -1 where it cannot listen there. */
pid_t doctor_listener_start(uint16_t port, const char token[RC_WIRE_TOKEN + 1]);

/* Ends it, and waits for that. */
void doctor_listener_stop(pid_t child);

#endif
