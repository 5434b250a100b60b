/* SPDX-License-Identifier: BSD-3-Clause */
/* endpoints.h - this host's addresses as an endpoint, and rollcall-pmix, which tells it to other nodes. */
#ifndef ROLLCALL_LIBEXEC_EXCHANGE_ENDPOINTS_H
#define ROLLCALL_LIBEXEC_EXCHANGE_ENDPOINTS_H

#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

/* Writes "TOKEN PORT ADDRESS..." with the addresses by which others may reach this host.
 * IPv4 comes first, because few nodes have IPv6 alone. The text is in the arena. */
const char *exchange_write_endpoint(const char *token, uint16_t port, struct rc_arena *arena);

/* Runs rollcall-pmix, which lies beside this program, and returns the line that it
 * prints, or NULL with the reason in `line`. */
char *exchange_ask_pmix(const char *argument, struct rc_str input, uint32_t milliseconds, char *line, size_t size);

#endif
