/* SPDX-License-Identifier: BSD-3-Clause */
/* netaddr.h - IPv4 and IPv6 addresses and networks: text to bytes, and what lies in what. */
#pragma once

#include "base/text.h"

enum { RC_IPV4_BYTES = 4, RC_IPV6_BYTES = 16 };

/* Room for the text of an address, and for the name of an interface. */
enum { RC_NETADDR_TEXT = 46, RC_INTERFACE_SIZE = 16 };

struct rc_netaddr {
    uint8_t byte[RC_IPV6_BYTES]; /* in network order */
    uint8_t size;                /* RC_IPV4_BYTES or RC_IPV6_BYTES */
};

struct rc_network {
    struct rc_netaddr address; /* the bits after the prefix are 0 */
    uint8_t bits;
};

/* "192.0.2.7" or "2001:db8::7", "::ffff:192.0.2.7"; no brackets, no zone, no
 * octal, nothing before or after it. *address is written only on success. */
bool rc_netaddr_read(struct rc_str text, struct rc_netaddr *address);

/* Reads a network, "10.1.0.0/16" or "fd00:1::/64". Any address inside of it may be given for
 * the network ("10.1.2.3/16"), as on a command line of ip(8). */
bool rc_network_read(struct rc_str text, struct rc_network *network);

/* Returns the network of an address and that many leading bits. */
struct rc_network rc_network_around(const struct rc_netaddr *address, uint8_t bits);

/* An IPv4 address lies in no IPv6 network, nor the other way round. */
bool rc_network_has(const struct rc_network *network, const struct rc_netaddr *address);

/* 127.0.0.0/8 and ::1, by which each machine means itself. */
bool rc_netaddr_is_loopback(const struct rc_netaddr *address);

/* A name or address by which each node reaches itself and no other: "localhost", "127.0.1.1", and the wildcards, which
 * a client takes for its own node: "0.0.0.0". */
bool rc_host_is_loopback(struct rc_str host);

/* "n1:29500", "[fd00::1]:29500", or the host alone where there is no port (0); in the arena. */
const char *rc_host_with_port(struct rc_str host, uint32_t port, struct rc_arena *arena);

/* fe80::/10, which means nothing without the name of an interface. */
bool rc_netaddr_is_link_local(const struct rc_netaddr *address);

/* Negative, 0 or positive. IPv4 first, then by number: the same order on every
 * node, whatever order its resolver prefers. */
int rc_netaddr_compare(const struct rc_netaddr *a, const struct rc_netaddr *b);

/* Return whether a list of addresses, "10.0.0.1,fd00::1", has this one. Skip what is not an address. */
bool rc_netaddr_is_listed(struct rc_str list, const struct rc_netaddr *address);
