/* SPDX-License-Identifier: BSD-3-Clause */
/* netaddr.h - IPv4 and IPv6 addresses and networks: parsing, comparison, containment. */
#pragma once

#include "base/text.h"

enum { RC_IPV4_BYTES = 4, RC_IPV6_BYTES = 16 };

/* Sizes of an address's text and of an interface name, with NUL. */
enum { RC_NETADDR_TEXT = 46, RC_INTERFACE_SIZE = 16 };

struct rc_netaddr {
    uint8_t byte[RC_IPV6_BYTES]; /* network order */
    uint8_t size;                /* RC_IPV4_BYTES or RC_IPV6_BYTES */
};

struct rc_network {
    struct rc_netaddr address; /* bits after the prefix are 0 */
    uint8_t bits;
};

/* Parse "192.0.2.7", "2001:db8::7" or "::ffff:192.0.2.7", without brackets, zone or octal numbers. Return false, with
 * *address unchanged, for other text. */
bool rc_netaddr_read(struct rc_str text, struct rc_netaddr *address);

/* Parse a network, "10.1.0.0/16" or "fd00:1::/64". As with ip(8), the address may have host bits ("10.1.2.3/16"). */
bool rc_network_read(struct rc_str text, struct rc_network *network);

struct rc_network rc_network_around(const struct rc_netaddr *address, uint8_t bits);

/* Return true if the network contains the address; false if their families differ. */
bool rc_network_has(const struct rc_network *network, const struct rc_netaddr *address);

/* Return true for 127.0.0.0/8 and ::1. */
bool rc_netaddr_is_loopback(const struct rc_netaddr *address);

/* Return true for names and addresses that mean the node itself: "localhost", "127.0.1.1", and the wildcards, which a
 * client treats so: "0.0.0.0". */
bool rc_host_is_loopback(struct rc_str host);

/* Return "n1:29500", "[fd00::1]:29500", or only the host if port is 0, in the arena. */
const char *rc_host_with_port(struct rc_str host, uint32_t port, struct rc_arena *arena);

/* Return true for fe80::/10, which needs an interface name. */
bool rc_netaddr_is_link_local(const struct rc_netaddr *address);

/* Return a negative number, 0 or a positive one: IPv4 first, then by number, the same order on every node. */
int rc_netaddr_compare(const struct rc_netaddr *a, const struct rc_netaddr *b);

/* Return true if a list of addresses, "10.0.0.1,fd00::1", has this one. Skip invalid entries. */
bool rc_netaddr_is_listed(struct rc_str list, const struct rc_netaddr *address);
