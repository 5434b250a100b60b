/* SPDX-License-Identifier: BSD-3-Clause */
/* listen.h - a socket that the other nodes can reach. */
#ifndef ROLLCALL_RENDEZVOUS_LISTEN_H
#define ROLLCALL_RENDEZVOUS_LISTEN_H

#include <stdint.h>

/* A listening socket at any address of this host, IPv6 and IPv4 where there is
 * IPv6, closed on exec, not blocking, at a port from first to last (0, 0: any).
 * Its port goes into *port. Returns it or -errno. */
int rc_listen(uint16_t first, uint16_t last, uint16_t *port);

#endif
