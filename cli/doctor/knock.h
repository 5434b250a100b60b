/* SPDX-License-Identifier: BSD-3-Clause */
/* knock.h - one connection to a port of another node, and the listener that it may find there. */
#ifndef ROLLCALL_CLI_DOCTOR_KNOCK_H
#define ROLLCALL_CLI_DOCTOR_KNOCK_H

#include <stdint.h>
#include <sys/types.h>

#include "base/netaddr.h"
#include "rendezvous/wire.h"

/* Connects, until `deadline` (rc_milliseconds), and is closed again. With a
 * token it must come from there: 0, or an errno, EBADMSG where somebody answers
 * without it. Without a token 0 is also who refuses: a port that is held and not listened on does. */
int doctor_knock(const struct rc_netaddr *address, uint16_t port, const char *token, int64_t deadline);

/* Listens at a port that this task may hold, as torch would, and says the token to
 * whoever comes: a child, which ends with this process, or after a minute. -1
 * where the port cannot be had. */
pid_t doctor_answer(uint16_t port, const char token[RC_WIRE_TOKEN + 1]);

/* Ends it. */
void doctor_answer_end(pid_t child);

#endif
