/* SPDX-License-Identifier: BSD-3-Clause */
/* endpoints.h - this host's addresses as an endpoint, and rollcall-pmix, which tells it to other nodes. */
#ifndef ROLLCALL_LIBEXEC_EXCHANGE_ENDPOINTS_H
#define ROLLCALL_LIBEXEC_EXCHANGE_ENDPOINTS_H

#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

/* "TOKEN PORT ADDRESS...\n": by which addresses others may reach this host, IPv4
 * first, as few nodes have IPv6 alone. */
void exchange_write_endpoint(const char *token, uint16_t port, char *text, size_t size);

/* What rollcall-pmix, which stands beside this program, says: a line, or NULL
 * with the reason in `line`. */
char *exchange_ask_pmix(const char *argument, struct rc_str input, uint32_t milliseconds, char *line, size_t size);

#endif
