/* SPDX-License-Identifier: BSD-3-Clause */
/* net.h - interfaces, name lookup, ports of other nodes and their owners. Not for the preload. */
#pragma once

#include <sys/socket.h>

#include "base/netaddr.h"

enum { RC_INTERFACES_MAX = 1024 };

struct rc_interface {
    char name[RC_INTERFACE_SIZE];
    bool is_up; /* and has a carrier */
    struct rc_netaddr address;
    struct rc_network network;
};

/* Fill the list except link-local addresses. Return their number. */
unsigned rc_interfaces(struct rc_interface list[RC_INTERFACES_MAX]);

/* Like rc_interfaces(), with link-local addresses, and labels as names, as other libraries see them. */
unsigned rc_interfaces_all(struct rc_interface list[RC_INTERFACES_MAX]);

/* Write the interface of the address or of the route to it. Send nothing. Return false for loopback or without a
 * route. */
bool rc_interface_towards(const struct rc_netaddr *address, char name[RC_INTERFACE_SIZE]);

/* Get the source address for a destination. Send nothing. Return false without a route. */
bool rc_source_towards(const struct rc_netaddr *address, struct rc_netaddr *source);

enum { RC_ADDRESSES_MAX = 32 };

struct rc_addresses {
    struct rc_netaddr list[RC_ADDRESSES_MAX];
    unsigned count;
};

/* Add an address unless the list is full. */
void rc_addresses_add(struct rc_addresses *addresses, const struct rc_netaddr *address);

/* Add a name's addresses, which may take long. Return 0, or getaddrinfo()'s error. */
int rc_resolver_ask(const char *name, struct rc_addresses *addresses);

/* Return true for an answer: no such name or address. EAI_AGAIN is none. */
bool rc_resolver_denies(int error);

/* Reports of a name's addresses: "192.0.2.7,fd00::7", or one of these. */
#define RC_LEADS_UNKNOWN    "no such name"
#define RC_LEADS_UNANSWERED "nothing, as no name server answers"
enum { RC_LEADS_MAX = 255 };

/* Write and return the address as text. */
const char *rc_netaddr_text(const struct rc_netaddr *address, char text[RC_NETADDR_TEXT]);

/* Test whether any address can be reached at this port, even without a listener. Return 0, or the errno of the first
 * failure. A refusal by the port is 0, by a firewall's ICMP message ECONNREFUSED; a firewall's reset is not detected.
 * Listeners see no connection. Return 0 before Linux 4.12. Dropped packets take `milliseconds` plus up to 250 ms. */
int rc_port_reach(const struct rc_addresses *addresses, uint16_t port, uint32_t milliseconds);

const char *rc_port_reach_words(int error);

/* Write "pid 1234 (python) of user 1000" to `text` (size at least 1), or its visible part: the owner may be another
 * user's, in another pid namespace, or gone. */
void rc_port_owner(uint16_t port, char *text, size_t size);
