/* SPDX-License-Identifier: BSD-3-Clause */
/* resolver.h - a name's addresses, by the C library's resolver. Not for the preload.
 *
 * May take as long as the site's DNS does.
 */
#ifndef ROLLCALL_SYSTEM_RESOLVER_H
#define ROLLCALL_SYSTEM_RESOLVER_H

#include "base/netaddr.h"

enum { RC_ADDRESSES_MAX = 32, RC_NETADDR_TEXT = 46 };

struct rc_addresses {
    struct rc_netaddr list[RC_ADDRESSES_MAX];
    unsigned count;
};

/* Adds an address; drops it where the list is full. */
void rc_addresses_add(struct rc_addresses *addresses, const struct rc_netaddr *address);

/* Adds the addresses of a name. 0, or getaddrinfo's error. */
int rc_resolver_ask(const char *name, struct rc_addresses *addresses);

/* Whether such an error is an answer: there is no such name, or it has no address.
 * Other errors (EAI_AGAIN) are no answer. */
bool rc_resolver_denies(int error);

/* Writes the address as text, "192.0.2.7", and returns it. */
const char *rc_netaddr_text(const struct rc_netaddr *address, char text[RC_NETADDR_TEXT]);

#endif
